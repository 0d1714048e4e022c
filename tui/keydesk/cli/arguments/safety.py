"""The verbs of a second login: close, cancel, lock; and those about this machine."""

from argparse import Namespace
from pathlib import Path

from keydesk.cli.arguments.options import add_account, add_data, add_json
from keydesk.cli.arguments.parser import CommandParser, Verb


def _add_out_of_band(parser: CommandParser) -> None:
    add_account(parser)
    _add_yes(parser)


def _add_flatten(parser: CommandParser) -> None:
    add_account(
        parser, every="every account of every profile whose token can be read; names them first"
    )
    _add_yes(parser)


def _add_lock(parser: CommandParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="the profile (default: the last one)")
    where.add_argument("--practice", action="store_true", help="the practice market")
    parser.add_argument("--release", action="store_true", help="release the lock")
    add_data(parser)
    _add_yes(parser)


def _add_yes(parser: CommandParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask; needs the account's name")
    add_json(parser, "for a script, with --yes; the words go to standard error")


def _check_account_is_named(parser: CommandParser, options: Namespace) -> None:
    """Only with a prompt may the account's name be left out; a script is not asked."""
    if options.json and not options.yes:
        parser.error("the argument --yes is required with --json: nobody is asked")
    if options.yes and not (options.profile or options.practice or getattr(options, "all", False)):
        parser.error("one of the arguments --profile --practice is required with --yes")


def _add_doctor(parser: CommandParser) -> None:
    add_account(parser)
    add_json(parser, "for a script")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a new file for a question or a fault report; it has no token and no account number",
    )


def _add_nothing(_: CommandParser) -> None:
    """Add no options."""


VERBS = (
    Verb(
        "flatten",
        "flatten:flatten",
        "Close every position and cancel every entry order.",
        _add_flatten,
        ("keydesk flatten --practice --yes", "keydesk flatten --practice --yes --json"),
        _check_account_is_named,
        writes=True,
    ),
    Verb(
        "cancel-all",
        "flatten:cancel_all",
        "Cancel every entry order; stops and targets of trades stay.",
        _add_out_of_band,
        ("keydesk cancel-all --practice --yes",),
        _check_account_is_named,
        writes=True,
    ),
    Verb(
        "lock",
        "flatten:lock",
        "Make a desk on this machine exit-only.",
        _add_lock,
        ("keydesk lock --practice --yes", "keydesk lock --practice --release --yes"),
        _check_account_is_named,
    ),
    Verb(
        "doctor",
        "doctor:doctor",
        "Check everything that the desk depends on.",
        _add_doctor,
        ("keydesk doctor", "keydesk doctor --json", "keydesk doctor --report keydesk-report.txt"),
    ),
    Verb(
        "reset-terminal",
        "doctor:reset_terminal",
        "Repair this terminal after a program was killed in it.",
        _add_nothing,
        ("keydesk reset-terminal",),
        more="Line editing, echo, cursor, normal screen, mouse, focus reports, bracketed paste, keyboard protocol, title. "
        "Nothing is sent to a broker.",
    ),
)
