"""Text that must not reach a screen or a file. Nothing here runs: an ignore that became needless tells that a type became lax."""

from rich.style import Style

from keydesk.cli.csv_output import encode_csv
from keydesk.forms.modal_form import TextLine, wrap_text
from keydesk.store.state import Notice
from keydesk.tables.column import Column
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.format import pair
from keydesk.text.sanitize import SafeText, safe
from keydesk.values import TradeRow
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.words.log_line import LogLine

PLAIN = Style()


def right_uses(trade: TradeRow) -> list[Run]:
    Notice("bad", "NOT SENT", 0)
    return [("BUY", PLAIN), (pair(trade.instrument), PLAIN), (safe(f"#{trade.id}"), PLAIN)]


def server_text_in_a_cell(trade: TradeRow) -> list[Run]:
    return [(trade.id, PLAIN)]  # pyright: ignore[reportReturnType]


def server_text_within_words_in_a_cell(trade: TradeRow) -> list[Run]:
    return [(f"#{trade.id}", PLAIN)]  # pyright: ignore[reportReturnType]


def server_text_in_a_heading(trade: TradeRow) -> None:
    Heading((Tab(trade.instrument),))  # pyright: ignore[reportArgumentType]
    Heading((Tab("Trades"),), f"{trade.id} back")  # pyright: ignore[reportArgumentType]
    Column("id", trade.id, 7)  # pyright: ignore[reportArgumentType]


def server_text_on_a_form(trade: TradeRow) -> TextLine:
    wrap_text(f"Trade {trade.id}", "plain", 40)  # pyright: ignore[reportArgumentType]
    return (("CLOSE ", "bright"), (trade.id, "bright"))  # pyright: ignore[reportReturnType]


def server_text_in_a_message(error: Exception) -> None:
    Notice("bad", f"NOT SENT: {error}", 0)  # pyright: ignore[reportArgumentType]
    LogLine("", 0, "LINK", "", str(error))  # pyright: ignore[reportArgumentType]


def server_text_from_a_command(trade: TradeRow) -> None:
    print_lines(trade.id)  # pyright: ignore[reportArgumentType]
    print_error(f"no such trade: {trade.id}")  # pyright: ignore[reportArgumentType]
    encode_csv([["id"], [trade.id]])  # pyright: ignore[reportArgumentType]


def a_string_is_no_safe_text(trade: TradeRow) -> SafeText:
    return trade.id  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
