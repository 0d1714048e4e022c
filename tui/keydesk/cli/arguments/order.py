"""The verbs of orders, for scripts: a dry run unless --yes is given."""

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Literal

from keydesk.cli.arguments.options import add_account, add_json, instrument, units
from keydesk.cli.arguments.parser import CommandParser, Verb

if TYPE_CHECKING:
    from decimal import Decimal

DRY_RUN = (
    "Without --yes it prints what it would do, and sends nothing. Exit code: 0 done, 1 refused here, 2 cannot be meant, "
    "4 and 5 not sent, 6 rejected by the broker, 7 unknown outcome: look at `keydesk trades` and `keydesk orders` before you send it again."
)
LINE = (
    "The line after the instrument is that of the desk: size (50k, 1% of NAV at risk), @price, sl 20p, tp 2r, tr 30p, bound, "
    "gtc, gtd 4h; what is left out comes from templates.toml."
)


def _add_sending(parser: CommandParser) -> None:
    add_account(parser)
    add_json(parser)
    parser.add_argument("--yes", action="store_true", help="send it")
    parser.add_argument("--live", action="store_true", help="needed with --yes on live money")
    parser.add_argument(
        "--despite-warnings",
        action="store_true",
        help="needed with --yes where the dry run warns, as of an order without a stop",
    )


def _add_entry(parser: CommandParser) -> None:
    _add_sending(parser)
    parser.add_argument("instrument", type=instrument, metavar="INSTRUMENT", help="as in EUR_USD")
    parser.add_argument("words", nargs="+", metavar="WORD", help="such as 10k sl 20p tp 2r")


def _add_close(parser: CommandParser) -> None:
    _add_sending(parser)
    parser.add_argument("what", metavar="TRADE|INSTRUMENT", help="the id of a trade, or EUR_USD")
    parser.add_argument(
        "units",
        nargs="?",
        type=units,
        metavar="UNITS",
        help="a part of the trade, such as 1000 or 10k (all)",
    )


def _add_protect(parser: CommandParser) -> None:
    _add_sending(parser)
    parser.add_argument("trade", type=_id, metavar="TRADE", help="the id of the trade")
    parser.add_argument("--stop", type=_level, metavar="PRICE", help="or none")
    parser.add_argument("--target", type=_level, metavar="PRICE", help="or none")
    parser.add_argument("--trail", type=_level, metavar="DISTANCE", help="in price units, or none")


def _check_protect(parser: CommandParser, options: Namespace) -> None:
    if options.stop is None and options.target is None and options.trail is None:
        parser.error("name what to change: --stop, --target or --trail")


def _add_cancel(parser: CommandParser) -> None:
    _add_sending(parser)
    parser.add_argument("order", type=_id, metavar="ORDER", help="the id of the order")


def _id(text: str) -> str:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"{text!r} is not an id such as 6411")
    return text


def _level(text: str) -> "Decimal | Literal['none']":
    return "none" if text == "none" else _amount(text)


def _amount(text: str) -> "Decimal":
    from keydesk_client.models import decimal_of  # noqa: PLC0415 - loads the models

    try:
        value = decimal_of(text)
    except ValueError:
        value = None
    if value is None or value <= 0:
        raise ArgumentTypeError(f"{text!r} is not a number above 0 such as 1000 or 1.0830")
    return value


VERBS = (
    Verb(
        "order buy",
        "order.entries:buy",
        "Buy at market or by a pending order, with the ticket's checks and limits.",
        _add_entry,
        (
            "keydesk order buy EUR_USD 10k sl 20p tp 2r",
            "keydesk order buy EUR_USD 1% sl 20p --json",
        ),
        more=f"{LINE} {DRY_RUN}",
        writes=True,
    ),
    Verb(
        "order sell",
        "order.entries:sell",
        "Sell at market or by a pending order, with the ticket's checks and limits.",
        _add_entry,
        ("keydesk order sell EUR_USD 1% sl 20p",),
        more=f"{LINE} {DRY_RUN}",
        writes=True,
    ),
    Verb(
        "order close",
        "order.exits:close",
        "Close a trade, a part of it, or the position in an instrument.",
        _add_close,
        ("keydesk order close 6411", "keydesk order close EUR_USD --practice --yes"),
        more=DRY_RUN,
        writes=True,
    ),
    Verb(
        "order protect",
        "order.exits:protect",
        "Set, move or take away the stop, target and trailing stop of a trade.",
        _add_protect,
        ("keydesk order protect 6411 --stop 1.0810 --target none",),
        _check_protect,
        more=DRY_RUN,
        writes=True,
    ),
    Verb(
        "order cancel",
        "order.exits:cancel",
        "Cancel an order.",
        _add_cancel,
        ("keydesk order cancel 6415",),
        more=DRY_RUN,
        writes=True,
    ),
)
