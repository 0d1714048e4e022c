"""The actions of the desk's keys: forms that they open and views that they change. No action sends an order."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from keydesk.app.actions.commands import CommandActions, ReplayActions
from keydesk.app.actions.pages import AlertActions, PageActions
from keydesk.app.actions.trades import TicketActions, TradeActions
from keydesk.keys.guard import Cause, armed_by_hand
from keydesk.panes.chart import Chart
from keydesk.store.state import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keydesk.app.accounts.sign_in import SignIn
    from keydesk.app.actions.shutdown_flow import ShutdownFlow
    from keydesk.app.clipboard import Part
    from keydesk.app.desk import TradingDesk
    from keydesk.app.settings.settings_page import SettingsPage
    from keydesk.chart.price_axis import PriceLine

TO_READ = 1.0  # seconds that a notice must be on the screen before Esc marks it as seen


class DeskActions:
    """The actions of the desk's keys: each opens a form or changes what is shown.

    Args:
        desk: Has what the keys act on, and carries out what the forms return.
        shutdown: Ends the desk.
        sign_in: Signs in and opens other accounts.
        settings: The page of settings.
    """

    def __init__(
        self, desk: TradingDesk, shutdown: ShutdownFlow, sign_in: SignIn, settings: SettingsPage
    ) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store
        tickets, trades = TicketActions(desk), TradeActions(desk)
        pages = PageActions(desk, sign_in, settings)
        commands = CommandActions(
            *(desk, shutdown, tickets, pages), perform=self.perform, sign_in=sign_in
        )
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
        elif self._desk.lock.is_on:
            self._store.notify(
                "warn", "Locked from another login. Release it: keydesk lock --release"
            )
        elif self._store.loss_lock.is_on:
            form = UnlockForm(self._desk.form_context())
            self._window.app.push_screen(form, self._ask_unlock_if_confirmed)
        else:
            self._window.app.push_screen(ArmForm(self._desk.form_context()), self._arm_if_confirmed)

    def _arm_if_confirmed(self, yes: bool | None) -> None:
        if yes and not self._desk.lock.is_on and not self._store.loss_lock.is_on:
            self._store.arming = armed_by_hand(self._store.arming)
            self._store.audit.record("arm", self._store.arming.reason)
            self._store.mark(Topic.ARMING)

    def _ask_unlock_if_confirmed(self, yes: bool | None) -> None:
        if yes:
            self._desk.loss_lock.ask_unlock()

    def action_preset(self, number: int) -> None:
        """Make a size preset the active one, if its key stands alone."""
        self._desk.presets.choose(number, self._desk.guarded_keys.guard)

    def show_plan(self, instrument: str, lines: Sequence[PriceLine]) -> None:
        """Draw the prices of an open form on the charts of its instrument."""
        for screen in self._window.app.screen_stack:
            for chart in screen.query(Chart):
                chart.plan(lines if instrument == chart.shown[0] else ())

    def action_find(self) -> None:
        """Find an instrument by some of its letters."""
        from keydesk.forms.command_line import FindForm  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(FindForm(self._store), self._window.select)

    def action_timeframes(self) -> None:
        from keydesk.forms.market.timeframes import TimeframeForm  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(TimeframeForm(self._store.granularity), self._show_timeframe)

    def _show_timeframe(self, granularity: str | None) -> None:
        if granularity:
            self._store.set_granularity(granularity)

    def action_copy(self, part: Part) -> None:
        """Copy a part of the focused pane."""
        self._desk.clipboard.copy_part(part)

    def action_jump(self, letter: str) -> None:
        self._desk.workspaces.jump(letter)

    def action_bookmark(self, letter: str) -> None:
        self._desk.workspaces.bookmark(letter)

    def action_indicators(self) -> None:
        from keydesk.forms.market.indicators import IndicatorForm  # noqa: PLC0415 - with the first form

        if self._store.focus:
            form = IndicatorForm(self._store, self._window.keymap)
            self._window.app.push_screen(form, self._desk.settings.apply_indicators)

    def action_step_back(self) -> None:
        """Go one step back: turn the crosshair off, else mark the notices as seen, end the tour, show all panes again."""
        chart = self._window.app.focused
        if isinstance(chart, Chart) and chart.crosshair_price is not None:
            chart.turn_crosshair_off()
        elif not self._store.see_notices(monotonic() - TO_READ) and not self._desk.tour.end():
            self._window.screen.show_all()


ACTION_GROUPS = (
    *(DeskActions, TicketActions, TradeActions, PageActions, CommandActions),
    *(AlertActions, ReplayActions),
)
"""The classes whose methods `action_...` the keys of the desk name."""
