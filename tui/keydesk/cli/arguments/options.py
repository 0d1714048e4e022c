"""Options that several verbs have, and the readers of what is typed for them."""

import argparse
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from keydesk.calc.market.granularity import SECONDS
from keydesk.cli.arguments.parser import CommandParser
from keydesk.text.typed import quantity

YEARS = range(
    1970, 9999
)  # a broker counts its seconds from 1970; in 9999 an offset could pass the end
YEAR = re.compile(r"[0-9]{4}")
INSTRUMENT = re.compile(r"[A-Z0-9]+(_[A-Z0-9]+)?")
UNITS_OF = {"": 1, "k": 1_000, "m": 1_000_000}
MAX_CANDLES = 5000  # of one answer


def add_account(parser: CommandParser, *, every: str = "") -> None:
    """Add the options that select an account; the default is the last one used. With `every`, --all with these words."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="the profile (default: the last one)")
    where.add_argument("--practice", action="store_true", help="the practice market")
    if every:
        where.add_argument("--all", action="store_true", help=every)
    add_passphrase(parser)
    add_data(parser)


def add_passphrase(parser: CommandParser) -> None:
    """Add the two options by which a script gives the vault's passphrase."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--passphrase-fd",
        type=int,
        metavar="N",
        help="read the token vault's passphrase from this open file descriptor",
    )
    source.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="PATH",
        help="read the token vault's passphrase from this file (mode 0600)",
    )


def add_data(parser: CommandParser) -> None:
    """Add --data."""
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")


def add_json(parser: CommandParser, what: str = "as JSON, numbers digit for digit") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=what)


def add_candles(parser: CommandParser) -> None:
    """Add INSTRUMENT and --granularity."""
    parser.add_argument(
        "instrument", type=instrument, metavar="INSTRUMENT", help="as in EUR_USD or eurusd"
    )
    parser.add_argument(
        "--granularity",
        choices=tuple(SECONDS),
        default="H1",
        metavar="G",
        help=f"length of a candle (H1): {' '.join(SECONDS)}",
    )


def add_price(parser: CommandParser) -> None:
    """Add --price."""
    parser.add_argument(
        "--price",
        type=prices,
        default="M",
        metavar="MBA",
        help="mid, bid, ask, or several of them, such as BA (M)",
    )


def add_units(parser: CommandParser) -> None:
    """Add --units."""
    parser.add_argument(
        "--units",
        type=units,
        metavar="N",
        help="bid and ask that so many units trade at, through the depth: 5m",
    )


def units(text: str) -> Decimal:
    """Return a typed number of units: 10000, 10k or 2.5m."""
    typed = quantity(text.lower(), "km")
    number = None if typed is None else typed.number * UNITS_OF[typed.unit]
    if number is None or number <= 0:
        raise argparse.ArgumentTypeError(f"invalid size {text!r}: use 10k, 2.5m or 10000")
    return number


def instrument(text: str) -> str:
    """Return a typed instrument in capitals."""
    name = text.upper().replace("/", "_")
    if not INSTRUMENT.fullmatch(name):
        raise argparse.ArgumentTypeError(f"{text!r} is not an instrument such as EUR_USD")
    return name


def prices(text: str) -> str:
    """Return the letters of the prices of a candle."""
    letters = text.upper()
    if not letters or not set(letters) <= set("MBA") or len(set(letters)) != len(letters):
        raise argparse.ArgumentTypeError(f"{text!r} is not a choice of M, B and A, such as BA")
    return letters


def add_period(parser: CommandParser, *, required: bool, end: str = "") -> None:
    """Add --from and --to; `end` says in the help where the period ends without --to."""
    parser.add_argument(
        "--from",
        dest="from_",
        type=time_in,
        required=required,
        metavar="T",
        help="from this time on: 2015, 2026-03-02, or 2026-03-02T14:00 in the time zone of config.toml, "
        "or with an offset such as Z",
    )
    parser.add_argument("--to", type=time_in, metavar="T", help=f"before this time{end}")


def time_in(text: str) -> datetime:
    """Return a typed time; a year alone is its first day."""
    try:
        typed = datetime.fromisoformat(f"{text}-01-01" if YEAR.fullmatch(text) else text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time such as 2026-03-02 or 2026-03-02T14:00:00Z"
        ) from None
    if typed.year not in YEARS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not between {YEARS[0]} and {YEARS[-1]}: use a year in that range"
        )
    return typed


def add_csv(parser: CommandParser, *, or_json: bool = False) -> None:
    """Add --csv, which is STDOUT for standard output, and --force; `or_json`: --json in its place."""
    form = parser.add_mutually_exclusive_group(required=True) if or_json else parser
    form.add_argument(
        "--csv",
        type=Path,
        required=not or_json,
        metavar="FILE",
        help="where to write; - is standard output",
    )
    if or_json:
        form.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


STDOUT = Path("-")


def csv_file(text: str) -> Path | None:
    """Return the path; None is standard output."""
    return None if text == "-" else Path(text)


def whole_number_of(numbers: range) -> Callable[[str], int]:
    """Return the reader of a whole number among these."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) not in numbers:
            reason = f"{text!r} is not a whole number from {numbers[0]} to {numbers[-1]}"
            raise argparse.ArgumentTypeError(reason)
        return int(text)

    return read
