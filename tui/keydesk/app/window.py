"""The window of the desk: the application, its main screen, the selected rows and the crosshair."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec import Struct
from textual.app import App

from keydesk.app.availability import Selection
from keydesk.keys.keymap import KeyMap
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.tables.table_pane import TablePane
from keydesk.widgets.terminal_app import SMALLEST


class DeskWindow(Struct, frozen=True):
    """What the trader sees and points at.

    Args:
        app: Shows the forms and runs the workers.
        store: The state of account and market.
        keymap: The keys, as messages name them.
    """

    app: App[Any]
    store: Store
    keymap: KeyMap

    @property
    def screen(self) -> DeskScreen:
        """The main screen, even when a form is open on it."""
        return next(each for each in self.app.screen_stack if isinstance(each, DeskScreen))

    def selection(self) -> Selection:
        """Return the focused pane and the selected rows, on which a key acts."""
        focused = self.app.focused
        return Selection(
            focused.id or "" if focused is not None else "",
            *(self.row_of(name) for name in ("trades", "positions", "orders")),
        )

    def row_of(self, name: str) -> str | None:
        """Return the key of the selected row of a list."""
        if not self.screen.has_panes:
            return None
        pane = self.screen.pane(name)
        return pane.selected if isinstance(pane, TablePane) else None

    def pointed_at(self) -> tuple[str, Decimal] | None:
        """Return instrument and price of the crosshair of the chart that has the keys; None while it is off."""
        chart = self.app.focused
        price = chart.crosshair_price if isinstance(chart, Chart) else None
        if not isinstance(chart, Chart) or price is None:
            return None
        return chart.shown[0], price

    def say_too_small(self) -> None:
        """Say that the terminal is too small for a form that opens a trade."""
        close, flatten = self.keymap.name("close"), self.keymap.name("flatten")
        needed = f"{SMALLEST.width}×{SMALLEST.height}"
        text = f"No new trade below {needed} cells. {close} closes, {flatten} flattens"
        self.store.notify("info", text)

    def select(self, instrument: str | None) -> None:
        """Show an instrument in chart, ticket and books; nothing when none was chosen."""
        if instrument:
            self.store.set_focus(instrument)
