"""The verbs that read an account and its market."""

from argparse import Namespace

from keydesk.cli.arguments.options import (
    MAX_CANDLES,
    add_account,
    add_candles,
    add_json,
    whole_number_of,
)
from keydesk.cli.arguments.parser import CommandParser, Verb

COUNT = 120  # candles


def _add_status(parser: CommandParser) -> None:
    add_account(parser)
    add_json(parser, "everything, with exact numbers")


def _add_chart(parser: CommandParser) -> None:
    add_account(parser)
    add_candles(parser)
    _add_count(parser)


def _add_count(parser: CommandParser) -> None:
    parser.add_argument(
        "--count",
        type=whole_number_of(range(1, MAX_CANDLES + 1)),
        default=COUNT,
        metavar="N",
        help="candles (%(default)s)",
    )


def _add_watch(parser: CommandParser) -> None:
    add_account(parser)
    parser.add_argument(
        "--alerts", action="store_true", help="report alerts and events of the account as they come"
    )


def _check_watch(parser: CommandParser, options: Namespace) -> None:
    if not options.alerts:
        parser.error("name what to watch: keydesk watch --alerts")


VERBS = (
    Verb(
        "status",
        "status:status",
        "The account in one screenful.",
        _add_status,
        ("keydesk status", "keydesk status --json"),
    ),
    Verb(
        "chart",
        "chart:chart",
        "A candle chart, printed to the terminal.",
        _add_chart,
        ("keydesk chart EUR_USD --granularity H1 --count 60",),
    ),
    Verb(
        "watch",
        "watch:watch",
        "Watch the alerts of an account without the desk.",
        _add_watch,
        ("keydesk watch --alerts",),
        _check_watch,
    ),
)
