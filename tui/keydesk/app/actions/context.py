"""What the actions work on: the desk, its main screen, the selected rows and the crosshair."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.app import App
from textual.screen import ModalScreen

from keydesk.app.availability import Selection
from keydesk.app.replay import MarketReplay
from keydesk.keys.guard import Cause, Guard
from keydesk.keys.keymap import KeyMap
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.store.state import NoticeLevel
from keydesk.store.store import Store
from keydesk.widgets.table import TablePane
from keydesk.widgets.terminal_app import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from keydesk.app.account_pages import TakeBookings, TakeCloses
    from keydesk.calc.alerts.alert import AlertLine
    from keydesk.calc.alerts.of_facts import TradeResult
    from keydesk.calc.alerts.of_prices import PriceCross
    from keydesk.calc.market.indicator_specs import IndicatorChoice
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.config.limits import LimitChange
    from keydesk.forms.info_form import Rows
    from keydesk.forms.sheet import FormContext
    from keydesk.parse.commands import LayoutVerb
    from keydesk.store.state import LogLine

Decided = TypeVar("Decided", bound="Instruction")


class Desk(Protocol):
    """The desk that the actions work on."""

    @property
    def guard(self) -> Guard: ...
    def form_context(self) -> FormContext: ...
    def execute(self, instruction: Instruction | None) -> None: ...
    def disarm(self, cause: Cause) -> None: ...
    def tell(self, level: NoticeLevel, text: str) -> None: ...
    def leave(self, code: int = 0) -> None: ...
    def stay(self) -> None: ...
    def key_context(self) -> str: ...
    def record(self, what: str, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class DeskServices:
    """What the actions use of account, alerts, journal and settings."""

    show_audit: Callable[[], None]
    show_outcomes: Callable[[], None]
    show_transaction: Callable[[LogLine], None]
    show_journal: Callable[[], None]
    write_note: Callable[[str], None]  # on a trade
    show_statistics: Callable[[int], None]  # at a view
    show_day: Callable[[], None]
    show_week: Callable[[], None]
    new_alert: Callable[[PriceCross | TradeResult], None]
    make_alert: Callable[[AlertLine], None]
    alert_trouble: Callable[[AlertLine], str]  # why an alert cannot be made now
    show_alerts: Callable[[], None]
    toggle_mute: Callable[[], None]
    read_summary: Callable[[Callable[[Rows], None]], None]
    read_bookings: Callable[[TakeBookings], None]
    read_closes: Callable[[Sequence[str], TakeCloses], None]
    apply_limits: Callable[[Sequence[LimitChange] | None], None]
    apply_indicators: Callable[[IndicatorChoice | None], None]
    use_layout: Callable[[LayoutVerb, str], None]
    jump: Callable[[str], None]  # to what a letter bookmarks
    bookmark: Callable[[str], None]  # the instrument under a letter
    ask_unlock: Callable[[], None]  # of the daily loss lock
    replay: MarketReplay


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What every action is given.

    Args:
        app: Shows the forms.
        desk: Carries out what the forms return.
        services: Show, read and change what is not in the store.
        store: The state of account and market.
        keymap: The keys, as messages name them.
    """

    app: App[Any]
    desk: Desk
    services: DeskServices
    store: Store
    keymap: KeyMap

    def ask(self, form: ModalScreen[Decided | None]) -> None:
        """Open a form and carry out the instruction that it returns."""
        self.app.push_screen(form, self.desk.execute)

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
        self.desk.tell("info", text)

    def turn_to(self, instrument: str | None) -> None:
        """Show an instrument in chart, ticket and books; nothing when none was chosen."""
        if instrument:
            self.store.set_focus(instrument)
