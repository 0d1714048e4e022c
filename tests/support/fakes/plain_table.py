"""A bare Textual application with a DataTable of prices, which the desk is measured against."""

from typing import ClassVar

from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import DataTable, Static

from keydesk.terminal._textual_private import is_screen_update

COLUMNS = ("instrument", "bid", "ask", "spread", "day %", "time")


class PlainTable(App[None]):
    """A table of prices, its output counted instead of sent."""

    CSS: ClassVar[str] = "DataTable { height: 1fr; }"

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows
        self.sent = 0
        """Bytes of output."""

    def compose(self) -> ComposeResult:
        """Return a title and the table."""
        yield Static("Prices")
        yield DataTable[str]()

    def on_mount(self) -> None:
        """Fill the table."""
        table = self.query_one(DataTable)
        for column in COLUMNS:
            table.add_column(column, key=column, width=14)
        for number in range(self._rows):
            price = f"{1 + number / 100:.5f}"
            name = f"EUR_X{number:02}"
            table.add_row(name, price, price, "1.2", "+0.31", "10:00:00", key=str(number))

    def show_price(self, row: int, bid: float, at: str) -> None:
        """Show a price in its row."""
        table = self.query_one(DataTable)
        table.update_cell(str(row), "bid", f"{bid:.5f}")
        table.update_cell(str(row), "ask", f"{bid + 0.00012:.5f}")
        table.update_cell(str(row), "time", at)

    def _display(
        self,
        screen: Screen[object],  # noqa: ARG002 - Textual's own signature
        renderable: RenderableType | None,
    ) -> None:
        if is_screen_update(renderable) and not self._batch_count:
            self.sent += len(renderable.render_segments(self.console).encode())
