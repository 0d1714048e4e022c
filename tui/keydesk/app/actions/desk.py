"""The actions of the desk's keys: forms that they open and views that they change. No action sends an order."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from keydesk.app.actions.commands import CommandActions, ReplayActions
from keydesk.app.actions.pages import AlertActions, PageActions
from keydesk.app.actions.trades import TicketActions, TradeActions
from keydesk.app.desk_session import DeskLock
from keydesk.calc.orders.ticket_settings import Template
from keydesk.keys.guard import Cause, SizeChoice, armed_by_hand
from keydesk.panes.chart import Chart
from keydesk.panes.deal import preset_shown
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.store.risk import unprotected_trades
from keydesk.store.state import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keydesk.app.desk import TradingDesk
    from keydesk.chart.price_axis import PriceLine

TO_READ = 1.0  # seconds that a notice must be on the screen before Esc marks it as seen


class DeskActions:
    """The actions of the desk's keys: each opens a form or changes what is shown.

    Args:
        desk: Has what the keys act on, and carries out what the forms return.
        template: The sizes and the bracket of new trades.
        lock: Keeps the desk exit-only while another login has set it.
    """

    def __init__(self, desk: TradingDesk, template: Template, lock: DeskLock) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store
        self.template, self.lock = template, lock
        self._size = SizeChoice(3)
        tickets, trades, pages = TicketActions(desk), TradeActions(desk), PageActions(desk)
        commands = CommandActions(desk, tickets, pages, trades)
        self._groups = (
            *(self, tickets, trades, pages),
            *(AlertActions(desk), commands, ReplayActions(desk, commands)),
        )

    def perform(self, name: str, *arguments: object) -> None:
        """Perform the action of a key, by its name in the key map, on the row that the key before it chose."""
        if chosen := self._window.screen.pending_choice:
            self._store.set_focus(chosen)
        action = f"action_{name}"
        group = next((each for each in self._groups if hasattr(each, action)), self)
        getattr(group, action)(*arguments)

    # Arming.

    def action_arm(self) -> None:
        """Disarm at once, or ask for what arms."""
        from keydesk.forms.account.arming import ArmForm, UnlockForm  # noqa: PLC0415 - with the first form

        if self._store.arming.level == "ARMED":
            self._desk.guarded_keys.disarm(Cause.BY_HAND)
        elif self.lock.is_on:
            self._store.tell(
                "warn", "Locked from another login. Release it: keydesk lock --release"
            )
        elif self._store.loss_lock.is_on:
            form = UnlockForm(self._desk.form_context())
            self._window.app.push_screen(form, self._ask_unlock_if_confirmed)
        else:
            self._window.app.push_screen(ArmForm(self._desk.form_context()), self._arm_if_confirmed)

    def _arm_if_confirmed(self, yes: bool | None) -> None:
        if yes and not self.lock.is_on and not self._store.loss_lock.is_on:
            self._store.arming = armed_by_hand(self._store.arming)
            self._store.record("arm", self._store.arming.reason)
            self._store.mark(Topic.ARMING)

    def _ask_unlock_if_confirmed(self, yes: bool | None) -> None:
        if yes:
            self._desk.loss_lock.ask_unlock()

    def action_preset(self, number: int) -> None:
        """Make a size preset the active one, if its key stands alone."""
        if self._size.choose(number, self._desk.guarded_keys.guard):
            self.show_preset()
        else:
            self._say_size_kept()

    def take_preset_back(self) -> None:
        """Return to the preset of before if a key came right behind the one that chose another."""
        if self._size.take_back(self._desk.guarded_keys.guard):
            self.show_preset()
            self._say_size_kept()

    def _say_size_kept(self) -> None:
        text = f"Keys came faster than a person types: the size stays preset {self.preset}"
        self._store.tell("warn", text)

    @property
    def preset(self) -> int:
        """Return the active size preset."""
        return self._size.value

    def show_preset(self) -> None:
        """Show the active size preset where B and S are explained."""
        shown = preset_shown(self.template, self.preset)
        self._window.screen.deal.show_preset(shown)
        for chart in self._window.screen.query(Chart):
            chart.preset_units = shown.units
        self._window.screen.query_one(InstrumentLine).show_preset(shown.text)

    def show_plan(self, instrument: str, lines: Sequence[PriceLine]) -> None:
        """Draw the prices of an open form on the charts of its instrument."""
        for screen in self._window.app.screen_stack:
            for chart in screen.query(Chart):
                chart.plan(lines if instrument == chart.shown[0] else ())

    def action_find(self) -> None:
        """Find an instrument by some of its letters."""
        from keydesk.forms.command_line import FindForm  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(FindForm(self._store), self._window.turn_to)

    def action_timeframes(self) -> None:
        from keydesk.forms.market.timeframes import TimeframeForm  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(TimeframeForm(self._store.granularity), self._show_timeframe)

    def _show_timeframe(self, granularity: str | None) -> None:
        if granularity:
            self._store.set_granularity(granularity)

    def action_jump(self, letter: str) -> None:
        self._desk.workspaces.jump(letter)

    def action_bookmark(self, letter: str) -> None:
        self._desk.workspaces.bookmark(letter)

    def action_indicators(self) -> None:
        from keydesk.forms.market.indicators import IndicatorForm  # noqa: PLC0415 - with the first form

        if self._store.focus:
            form = IndicatorForm(self._store, self._window.keymap)
            self._window.app.push_screen(form, self._desk.settings.apply_indicators)

    def leave(self) -> None:
        """Leave the desk; open trades without a stop ask once."""
        if not self.ask_before_leaving():
            self._desk.leaving.leave()

    def ask_before_leaving(self) -> bool:
        """Ask whether trades without a stop are to be left; return whether there are any."""
        from keydesk.forms.account.leaving import LeaveForm  # noqa: PLC0415 - with the first form

        if not unprotected_trades(self._store):
            return False
        self._window.app.push_screen(LeaveForm(self._store), self._leave_if_sure)
        return True

    def _leave_if_sure(self, yes: bool | None) -> None:
        if yes:
            self._desk.leaving.leave()
        else:
            self._desk.leaving.stay()

    def action_step_back(self) -> None:
        """Go one step back: turn the crosshair off, else mark the notices as seen, else show all panes again."""
        chart = self._window.app.focused
        if isinstance(chart, Chart) and chart.crosshair_price is not None:
            chart.turn_crosshair_off()
        elif not self._store.see_notices(monotonic() - TO_READ):
            self._window.screen.show_all()


ACTION_GROUPS = (
    *(DeskActions, TicketActions, TradeActions, PageActions, CommandActions),
    *(AlertActions, ReplayActions),
)
"""The classes whose methods `action_...` the keys of the desk name."""
