"""The verb `keydesk journal`."""

import argparse
from datetime import date
from typing import TYPE_CHECKING

from keydesk.cli.arguments.options import add_account, csv_file, time_in
from keydesk.cli.arguments.parser import CommandParser, Verb

if TYPE_CHECKING:
    from decimal import Decimal


def _add(parser: CommandParser) -> None:
    add_account(parser)
    parser.add_argument(
        "what",
        nargs="?",
        choices=("list", "stats", "report", "what-if", "note"),
        default="list",
        help="list (without a word), stats, the report of a day or week, what another stop or target would have made, "
        "or a note on a trade",
    )
    parser.add_argument("trade", nargs="?", metavar="TRADE", help="with note: the trade's id")
    _add_filters(parser)
    _add_output(parser)
    _add_rule(parser)
    _add_note(parser)


def _check(parser: CommandParser, options: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    if (options.what == "note") != (options.trade is not None):
        parser.error("TRADE goes with note, as in: keydesk journal note 6411 --tags news")
    _refuse_other_uses_of_a_note(parser, options)
    if options.by is not None and options.what != "stats":
        parser.error("--by goes with stats, as in: keydesk journal stats --by setup")
    if options.excursions and (options.what != "list" or options.positions):
        parser.error("--excursions goes with the list of trades")
    if options.what != "report" and (options.day or options.week or options.date):
        parser.error("--day, --week and --date go with report")
    has_rule = any(each is not None for each in (options.stop, options.target, options.break_even))
    if (options.what == "what-if") != has_rule:
        parser.error("what-if goes with --stop, --target or --break-even, as in: --stop 0.5R")
    if options.what == "what-if" and (options.positions or options.open):
        parser.error("what-if is about closed trades, without --positions and --open")


def _add_filters(parser: CommandParser) -> None:
    chosen_by = parser.add_argument_group("which trades")
    chosen_by.add_argument("--from", dest="from_", type=time_in, metavar="T", help="closed from T")
    chosen_by.add_argument("--to", type=time_in, metavar="T", help="closed before T")
    chosen_by.add_argument("--instrument", default="", metavar="NAME", help="such as EUR_USD")
    chosen_by.add_argument("--side", choices=("long", "short"), default="")
    chosen_by.add_argument("--outcome", choices=("win", "loss"), default="")
    chosen_by.add_argument("--tag", default="")
    chosen_by.add_argument("--with-text", default="", metavar="TEXT", help="TEXT in what is noted")
    chosen_by.add_argument("--open", action="store_true", help="open trades, too")
    chosen_by.add_argument(
        "--positions", action="store_true", help="one line from flat to flat instead of each trade"
    )


def _add_output(parser: CommandParser) -> None:
    from keydesk.calc.trade_journal.groups import GROUPINGS  # noqa: PLC0415 - for this verb only

    output = parser.add_argument_group("what is written")
    output.add_argument(
        "--by", choices=sorted(GROUPINGS), help="with stats: the same figures of each group"
    )
    output.add_argument(
        "--excursions",
        action="store_true",
        help="with list: how far each trade went against you and for you (MAE, MFE), from candles",
    )
    period = output.add_mutually_exclusive_group()
    period.add_argument("--day", action="store_true", help="with report: the day, as without it")
    period.add_argument("--week", action="store_true", help="with report: the week, not the day")
    output.add_argument(
        "--date", type=_date, metavar="DATE", help="with report: the day, or one of the week"
    )
    form = output.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true")
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    output.add_argument(
        "--out", type=csv_file, metavar="FILE", help="write to this file; - is standard output"
    )
    output.add_argument("--force", action="store_true", help="write over a file that is there")


def _add_rule(parser: CommandParser) -> None:
    rule = parser.add_argument_group("what-if, in R of the first stop")
    rule.add_argument("--stop", type=_distance, metavar="R", help="such as 0.5R")
    rule.add_argument("--target", type=_distance, metavar="R", help="such as 3R")
    rule.add_argument(
        "--break-even",
        type=_distance,
        metavar="R",
        help="the gain that moves the stop to the entry",
    )


def _distance(text: str) -> "Decimal":
    from keydesk.trade_journal.what_if_text import BadDistance, distance_in_r  # noqa: PLC0415 - as above

    try:
        return distance_in_r(text)
    except BadDistance as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_note(parser: CommandParser) -> None:
    noted = parser.add_argument_group("a note (an empty text removes that part)")
    noted.add_argument("--tags", metavar="WORDS", help="separated by spaces or commas")
    noted.add_argument("--setup")
    noted.add_argument("--rating", metavar="1-5")
    noted.add_argument("--mistake")
    noted.add_argument("--note", metavar="TEXT")


def _refuse_other_uses_of_a_note(parser: CommandParser, options: argparse.Namespace) -> None:
    """Refuse a note without a text, and texts of a note where trades are chosen; --setup and --rating do both."""
    texts = (options.tags, options.mistake, options.note)
    if options.what != "note":
        if any(each is not None for each in texts):
            parser.error(
                "--tags, --mistake and --note write a note; --tag and --with-text choose trades"
            )
    elif options.tag or options.with_text:
        parser.error("--tag and --with-text choose trades; --tags and --note write a note")
    elif all(each is None for each in (*texts, options.setup, options.rating)):
        parser.error(
            "note goes with --tags, --setup, --rating, --mistake or --note, as in: --tags news"
        )


def _date(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if not 1971 <= day.year <= 2200:  # noqa: PLR2004 - no account is older
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-03-02")
    return day


VERBS = (
    Verb(
        "journal",
        "journal.command:journal",
        "The closed trades of an account: a list, statistics, a page of a day or week.",
        _add,
        (
            "keydesk journal",
            "keydesk journal stats --json",
            "keydesk journal report --week",
            "keydesk journal what-if --stop 0.5R",
        ),
        _check,
    ),
)
