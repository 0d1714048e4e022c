"""The verbs that write files: export, history, templates."""

from pathlib import Path

from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.cli.arguments.options import (
    add_account,
    add_candles,
    add_csv,
    add_data,
    add_json,
    add_period,
    add_price,
)
from keydesk.cli.arguments.parser import CommandParser, Verb

EXPORTED = ("equity", "trades", "transactions")


def _add_export(parser: CommandParser) -> None:
    add_account(parser)
    parser.add_argument(
        "what",
        choices=EXPORTED,
        help="trades by their opening, transactions by their time, or equity: what each trading day "
        f"({DAY_END_TEXT}) booked and the balance at its end, open profit not included",
    )
    add_period(parser, required=False)
    add_csv(parser, or_json=True)


def _add_history(parser: CommandParser) -> None:
    add_account(parser)
    add_candles(parser)
    add_price(parser)
    add_period(parser, required=True, end=" (now)")
    add_csv(parser)
    add_json(parser, "report what was written as JSON")


def _add_list_templates(parser: CommandParser) -> None:
    add_data(parser)
    add_json(parser)


def _add_export_templates(parser: CommandParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these")
    add_data(parser)


def _add_import_templates(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a file of `templates export`")
    add_data(parser)


VERBS = (
    Verb(
        "export",
        "export:export",
        "Trades, transactions or daily balances of an account as a CSV file.",
        _add_export,
        (
            "keydesk export trades --from 2026-03-02 --csv trades.csv",
            "keydesk export equity --json",
        ),
    ),
    Verb(
        "history",
        "history:history",
        "The candles of any period as a CSV file, written as they come.",
        _add_history,
        (
            "keydesk history EUR_USD --from 2024-03-04T00:00Z --to 2024-03-05T00:00Z --csv hours.csv",
            "keydesk history EUR_USD --granularity D --from 2024 --csv days.csv --json",
        ),
    ),
    Verb(
        "templates list",
        "templates:list_templates",
        "Name the templates of new tickets, and the instruments that begin with each.",
        _add_list_templates,
        ("keydesk templates list", "keydesk templates list --json"),
    ),
    Verb(
        "templates export",
        "templates:export",
        "Print the templates of new tickets as TOML.",
        _add_export_templates,
        ("keydesk templates export",),
    ),
    Verb(
        "templates import",
        "templates:import_",
        "Import the templates of a file.",
        _add_import_templates,
        ("keydesk templates import templates.toml",),
    ),
)
