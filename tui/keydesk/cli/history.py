"""`keydesk history`: write the candles of any period to a CSV file, prices digit for digit.

The columns are those of the client's `candles.columns`, and so of its data frames; a file of mid prices is one that
`keydesk practice serve --candles` replays. Like an export, it is written whole or not at all, mode 0600.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from keydesk.cli.account_access import account_parser, open_account
from keydesk.cli.csv_output import refuse_existing, say_written, write_csv
from keydesk.cli.options import add_candles, add_csv, add_period, instrument_of, read_period
from keydesk.cli.runner import Refusal
from keydesk.text.sanitize import clean
from keydesk_client import Columns, DateTime
from keydesk_client.errors import Refused
from keydesk_client.models import decimal_text


def history(arguments: Sequence[str]) -> int:
    """Write the file; return the exit code."""
    options = _options(arguments)
    if options.csv is not None:
        refuse_existing(options.csv, overwrite=options.force)
    columns = complete_candles(asyncio.run(_columns(options)))
    count = len(columns["time"])
    if not count:
        raise Refusal(f"{options.instrument} has no complete {options.granularity} candles there")
    write_csv(options.csv, list(columns), rows_of(columns), ())
    say_written(count, "candle", options.csv)
    return 0


def complete_candles(columns: Columns) -> Columns:
    """Return the columns without the candles that are still forming, and without the column that tells."""
    complete = columns["complete"]
    places = [place for place, value in enumerate(complete) if value is True]
    return Columns(
        (name, [column[place] for place in places])
        for name, column in columns.items()
        if name != "complete"
    )


def rows_of(columns: Columns) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table as text."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, map(_text_of, values), strict=True))


def _text_of(value: object) -> str:
    match value:
        case None:
            return ""
        case Decimal():
            return decimal_text(value)
        case _:
            return str(value)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = account_parser("history", "The candles of any period as a CSV file.")
    add_candles(parser)
    parser.add_argument(
        "--price",
        type=_prices,
        default="M",
        metavar="MBA",
        help="mid, bid, ask, or several of them, such as BA (M)",
    )
    add_period(parser, required=True, end=" (now)")
    add_csv(parser)
    options = parser.parse_args(arguments)
    read_period(parser, options)
    if options.from_ > DateTime.now():
        parser.error("--from lies in the future")
    return options


def _prices(text: str) -> str:
    letters = text.upper()
    if not letters or not set(letters) <= set("MBA") or len(set(letters)) != len(letters):
        raise argparse.ArgumentTypeError(f"{text!r} is not a choice of M, B and A, such as BA")
    return letters


async def _columns(options: argparse.Namespace) -> Columns:
    async with open_account(options) as reach:
        options.instrument = await instrument_of(reach, options.instrument)
        try:
            return await reach.client.candles.columns(
                options.instrument,
                granularity=options.granularity,
                price=options.price,
                from_=options.from_,
                to=options.to,
            )
        except Refused as error:
            raise Refusal(
                f"no candles of {options.instrument}: {clean(error.error_message)}"
            ) from error
