"""`keydesk history`: write the candles of any period to a CSV file, prices digit for digit.

The columns are those of the client's `candles.columns`, and so of its data frames; a file of mid prices is one that
`keydesk practice serve --candles` replays. Like an export, it is written whole or not at all, mode 0600.
"""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Mapping
from decimal import Decimal

from keydesk.cli.account_access import open_account
from keydesk.cli.arguments.options import STDOUT
from keydesk.cli.csv_output import refuse_existing, say_written, write_csv
from keydesk.cli.options import instrument_of, read_period
from keydesk.cli.script_output import Refusal, UsageError
from keydesk.text.sanitize import clean
from keydesk_client import Columns, DateTime
from keydesk_client.errors import Refused
from keydesk_client.models import decimal_text


def history(options: Namespace) -> int:
    """Write the file; return the exit code."""
    read_period(options)
    if options.from_ > DateTime.now():
        raise UsageError("--from lies in the future")
    path = None if options.csv == STDOUT else options.csv
    if path is not None:
        refuse_existing(path, overwrite=options.force)
    columns = complete_candles(asyncio.run(_columns(options)))
    count = len(columns["time"])
    if not count:
        raise Refusal(f"{options.instrument} has no complete {options.granularity} candles there")
    write_csv(path, list(columns), rows_of(columns), ())
    say_written(count, "candle", path)
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


async def _columns(options: Namespace) -> Columns:
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
