"""Options that several commands have: an instrument with its granularity, a period of time, the CSV file to write."""

import argparse
import re
from datetime import datetime, tzinfo
from pathlib import Path

from keydesk.calc.market.granularity import SECONDS
from keydesk.cli.account_access import OpenAccount, trader_zone
from keydesk.cli.runner import Refusal
from keydesk_client.models import DateTime

YEARS = range(
    1970, 9999
)  # a broker counts its seconds from 1970; in 9999 an offset could pass the end
INSTRUMENT = re.compile(r"[A-Z0-9]+(_[A-Z0-9]+)?")


def add_candles(parser: argparse.ArgumentParser) -> None:
    """Add INSTRUMENT and --granularity."""
    parser.add_argument(
        "instrument", type=_instrument, metavar="INSTRUMENT", help="as in EUR_USD or eurusd"
    )
    parser.add_argument(
        "--granularity",
        choices=tuple(SECONDS),
        default="H1",
        metavar="G",
        help=f"length of a candle (H1): {' '.join(SECONDS)}",
    )


def _instrument(text: str) -> str:
    name = text.upper().replace("/", "_")
    if not INSTRUMENT.fullmatch(name):
        raise argparse.ArgumentTypeError(f"{text!r} is not an instrument such as EUR_USD")
    return name


async def instrument_of(account: OpenAccount, typed: str) -> str:
    """Return the instrument of a typed name; one without its underscore is looked for as on the desk's command line.

    Raises:
        Refusal: the account has no instrument of that name.
    """
    if "_" in typed:
        return typed  # the broker refuses what it does not have
    from keydesk.parse.instruments import find_instrument  # noqa: PLC0415 - needed for such names only

    answer = await account.client.accounts.instruments()
    name = find_instrument(typed, (each.name for each in answer.instruments))
    if name is None:
        raise Refusal(
            f"{typed} is not an instrument of this account; write it as EUR_USD or eurusd"
        )
    return name


def add_period(parser: argparse.ArgumentParser, *, required: bool, end: str) -> None:
    """Add --from and --to; `end` says in the help where the period ends without --to."""
    parser.add_argument(
        "--from",
        dest="from_",
        type=time_in,
        required=required,
        metavar="T",
        help="from this time on: 2026-03-02, or 2026-03-02T14:00 in the time zone of config.toml, "
        "or with an offset such as Z",
    )
    parser.add_argument("--to", type=time_in, metavar="T", help=f"before this time{end}")


def time_in(text: str) -> datetime:
    """Return a typed time, for the command line."""
    try:
        typed = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time such as 2026-03-02 or 2026-03-02T14:00:00Z"
        ) from None
    if typed.year not in YEARS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not between {YEARS[0]} and {YEARS[-1]}: use a year in that range"
        )
    return typed


def instant(typed: datetime, zone: tzinfo) -> DateTime:
    """Return the instant of a typed time; without an offset it is in the trader's zone."""
    return DateTime.of(typed if typed.tzinfo else typed.replace(tzinfo=zone))


def read_period(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Make instants of what --from and --to say; refuse a period that does not end after its beginning."""
    zone = trader_zone(options)
    begin = options.from_ = None if options.from_ is None else instant(options.from_, zone)
    end = options.to = None if options.to is None else instant(options.to, zone)
    if begin is not None and end is not None and end <= begin:
        parser.error("--to must be later than --from")


def add_csv(parser: argparse.ArgumentParser) -> None:
    """Add --csv, which is None for standard output, and --force."""
    parser.add_argument(
        "--csv",
        type=csv_file,
        required=True,
        metavar="FILE",
        help="where to write; - is standard output",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def csv_file(text: str) -> Path | None:
    """Return the path; None is standard output."""
    return None if text == "-" else Path(text)
