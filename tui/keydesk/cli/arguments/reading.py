"""The verbs that read an account and its market."""

from argparse import ArgumentTypeError, Namespace

from keydesk.cli.arguments.options import (
    MAX_CANDLES,
    add_account,
    add_candles,
    add_json,
    add_period,
    add_price,
    add_units,
    instrument,
    whole_number_of,
)
from keydesk.cli.arguments.parser import CommandParser, Verb

COUNT = 120  # candles
NEWEST = 50  # transactions
MAX_LISTED = 100_000  # records: a script that wants more asks for periods


def _add_status(parser: CommandParser) -> None:
    add_account(parser, every="every account of every profile whose token can be read")
    add_json(parser, "everything, with exact numbers")


def _add_chart(parser: CommandParser) -> None:
    add_account(parser)
    add_candles(parser)
    _add_count(parser)


def _add_count(parser: CommandParser, default: int | None = COUNT) -> None:
    parser.add_argument(
        "--count",
        type=whole_number_of(range(1, MAX_CANDLES + 1)),
        default=default,
        metavar="N",
        help=f"candles ({COUNT})",
    )


def _add_accounts(parser: CommandParser) -> None:
    add_account(parser)
    add_json(parser)


def _add_orders(parser: CommandParser) -> None:
    _add_list(parser, "orders", ("PENDING", "FILLED", "TRIGGERED", "CANCELLED", "ALL"))


def _add_trades(parser: CommandParser) -> None:
    _add_list(parser, "trades", ("OPEN", "CLOSED", "CLOSE_WHEN_TRADEABLE", "ALL"))


def _add_list(parser: CommandParser, thing: str, states: tuple[str, ...]) -> None:
    _add_accounts(parser)
    _add_instrument(parser)
    parser.add_argument(
        "--state", choices=states, default=states[0], help=f"which {thing} (%(default)s)"
    )
    parser.add_argument(
        "--count",
        type=whole_number_of(range(1, MAX_LISTED + 1)),
        default=MAX_LISTED,
        metavar="N",
        help="at most so many, the newest (%(default)s)",
    )


def _add_instrument(parser: CommandParser) -> None:
    parser.add_argument(
        "instrument",
        nargs="?",
        type=instrument,
        metavar="INSTRUMENT",
        help="only of this one, such as EUR_USD",
    )


def _add_positions(parser: CommandParser) -> None:
    _add_accounts(parser)
    _add_instrument(parser)
    parser.add_argument("--all", action="store_true", help="closed positions, too")


def _add_transactions(parser: CommandParser) -> None:
    _add_accounts(parser)
    add_period(parser, required=False, end=" (now)")
    parser.add_argument(
        "--since", type=_transaction_id, metavar="ID", help="every one after this id"
    )
    parser.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        help="only of this type, such as ORDER_FILL; may be repeated",
    )
    parser.add_argument(
        "--count",
        type=whole_number_of(range(1, MAX_LISTED + 1)),
        default=NEWEST,
        metavar="N",
        help="without a period: those of the newest N ids (%(default)s)",
    )


def _check_transactions(parser: CommandParser, options: Namespace) -> None:
    if options.since is not None and (options.from_ or options.to):
        parser.error("--since goes without --from and --to")


def _transaction_id(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"{text!r} is not a transaction id, a whole number such as 6410")
    return int(text)


def _add_prices(parser: CommandParser) -> None:
    _add_accounts(parser)
    parser.add_argument(
        "instruments", nargs="+", type=instrument, metavar="INSTRUMENT", help="as in EUR_USD"
    )


def _add_candle_list(parser: CommandParser) -> None:
    _add_accounts(parser)
    add_candles(parser)
    add_price(parser)
    add_units(parser)
    add_period(parser, required=False, end=" (now)")
    _add_count(parser, None)


def _add_watch(parser: CommandParser) -> None:
    add_account(parser)
    parser.add_argument(
        "--alerts", action="store_true", help="report alerts and events of the account as they come"
    )
    add_json(parser, "a line of JSON for each event; it goes on when the line is cut")


def _check_watch(parser: CommandParser, options: Namespace) -> None:
    if not options.alerts:
        parser.error("name what to watch: keydesk watch --alerts")


VERBS = (
    Verb(
        "status",
        "reading.status:status",
        "The account in one screenful.",
        _add_status,
        ("keydesk status", "keydesk status --json"),
    ),
    Verb(
        "accounts",
        "reading.lists:accounts",
        "The accounts of the token.",
        _add_accounts,
        ("keydesk accounts", "keydesk accounts --json"),
    ),
    Verb(
        "orders",
        "reading.lists:orders",
        "The orders of the account, newest first.",
        _add_orders,
        ("keydesk orders", "keydesk orders EUR_USD --state ALL --count 20 --json"),
    ),
    Verb(
        "positions",
        "reading.lists:positions",
        "The open positions of the account.",
        _add_positions,
        ("keydesk positions", "keydesk positions --json"),
    ),
    Verb(
        "trades",
        "reading.lists:trades",
        "The open trades of the account, newest first.",
        _add_trades,
        ("keydesk trades", "keydesk trades --state CLOSED --count 20 --json"),
    ),
    Verb(
        "transactions",
        "reading.lists:transactions",
        "What happened on the account, oldest first.",
        _add_transactions,
        ("keydesk transactions", "keydesk transactions --type ORDER_FILL --count 500 --json"),
        _check_transactions,
    ),
    Verb(
        "prices",
        "reading.market:prices",
        "The prices of instruments now.",
        _add_prices,
        ("keydesk prices EUR_USD USD_JPY", "keydesk prices EUR_USD --json"),
    ),
    Verb(
        "candles",
        "reading.market:candles",
        "Candles, at most 5,000; `history` writes any period to a file.",
        _add_candle_list,
        (
            "keydesk candles EUR_USD --granularity M5 --count 12",
            "keydesk candles EUR_USD --units 20m --price A",
            "keydesk candles EUR_USD --from 2024-03-04 --to 2024-03-05 --price BA --json",
        ),
    ),
    Verb(
        "chart",
        "reading.chart:chart",
        "A candle chart, printed to the terminal.",
        _add_chart,
        ("keydesk chart EUR_USD --granularity H1 --count 60",),
    ),
    Verb(
        "watch",
        "watch:watch",
        "Watch the alerts of an account without the desk.",
        _add_watch,
        ("keydesk watch --alerts", "keydesk watch --alerts --json"),
        _check_watch,
    ),
)
