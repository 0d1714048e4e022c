"""What the trader changes while the desk runs: limits and indicators, which are written to the settings, and the size preset.

A change is in force at once, a raised daily loss limit the next day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.calc.daily_loss import LossLock, kept_today
from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.calc.orders.ticket_settings import Limits, Template
from keydesk.config.limits import try_to_save_limit, with_limit
from keydesk.config.templates import try_to_save_indicators
from keydesk.keys.guard import Guard, SizeChoice
from keydesk.panes.chart import Chart
from keydesk.panes.deal import preset_shown
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.store.store import Store

if TYPE_CHECKING:
    from keydesk.app.window import DeskWindow
    from keydesk.calc.market.indicator_specs import IndicatorChoice
    from keydesk.config.limits import LimitChange


FIRST_PRESET = 3


class SettingsChanges:
    """The limits in force, and what the trader changes while the desk runs.

    Args:
        app: Runs the workers that write.
        store: Has the indicators that are shown.
        limits: As the settings had them at the start.
        folder: Of the settings.
    """

    def __init__(
        self,
        app: App[int],
        store: Store,
        limits: Limits,
        folder: Path,
    ) -> None:
        self._app, self._store, self._folder = app, store, folder
        self.limits = limits
        self.writing = 0  # changes that are in force and not in the files yet

    def apply_limits(self, changes: Sequence[LimitChange] | None) -> None:
        """Put changed limits in force at once, and write them to the settings in a thread."""
        if changes:
            limits = self.limits
            for change in changes:
                limits = with_limit(limits, change)
            self.take_limits(limits, changes)
            self.writing += 1
            self._app.run_worker(self._save_limits(tuple(changes)), "limits", group="settings")

    def take_limits(self, limits: Limits, changes: Sequence[LimitChange]) -> None:
        """Put limits in force at once, also in the forms that are open, and say how they differ."""
        self.limits = limits
        for change in changes:
            self._store.audit.record("settings", change.text)
        for text in limit_texts(changes, self._store.loss_lock, self._store.home_currency):
            self._store.notify("good", text)
        for screen in self._app.screen_stack:
            if take := getattr(screen, "take_limits", None):
                take(limits)

    async def _save_limits(self, changes: Sequence[LimitChange]) -> None:
        try:
            for change in changes:
                trouble = await asyncio.to_thread(try_to_save_limit, self._folder, change)
                if trouble:
                    self._store.notify("warn", f"In force until you leave, not saved: {trouble}")
                    return
        finally:
            self.writing -= 1

    def apply_indicators(self, choice: IndicatorChoice | None) -> None:
        """Show the chosen indicators at once, and write them to the settings in a thread."""
        if choice is not None:
            self._store.set_indicators(
                choice.instrument, choice.specs, everywhere=choice.everywhere
            )
            self._app.run_worker(self._save_indicators(choice), "indicators", group="settings")

    async def _save_indicators(self, choice: IndicatorChoice) -> None:
        if trouble := await asyncio.to_thread(try_to_save_indicators, self._folder, choice):
            self._store.notify("warn", f"Shown until you leave, not saved: {trouble}")


def limit_texts(changes: Sequence[LimitChange], lock: LossLock, currency: str) -> list[str]:
    """Return what is said of changed limits: those in force now, then those that count from the next day."""
    at_once: list[str] = []
    later: list[str] = []
    for each in changes:
        kept = kept_today(lock, each.name, each.value)
        if kept is None:
            at_once.append(each.words(currency))
        else:
            today = each.amount(kept, currency)
            later.append(
                f"From the next day, {DAY_END_TEXT}: {each.words(currency)}; today {today} stays in force"
            )
    return [*([f"Limits in force: {'; '.join(at_once)}"] if at_once else []), *later]


class SizePresets:
    """The active size preset of a template.

    Args:
        window: Has the panes that show it, and the store that takes messages.
        template: The sizes and the bracket of new trades.
    """

    def __init__(self, window: DeskWindow, template: Template) -> None:
        self._window, self.template = window, template
        self._size = SizeChoice(FIRST_PRESET)

    @property
    def number(self) -> int:
        """The active preset."""
        return self._size.value

    def choose(self, number: int, guard: Guard) -> None:
        """Make a preset the active one, if its key stands alone."""
        if self._size.choose(number, guard):
            self.show()
            if self._window.screen.is_too_small:  # for the panes that say which one is active
                size = preset_shown(self.template, self.number).text
                self._window.store.notify("info", f"Size preset {size or self.number}")
        else:
            self._say_kept()

    def take_back(self, guard: Guard) -> None:
        """Return to the preset of before if a key came right behind the one that chose another."""
        if self._size.take_back(guard):
            self.show()
            self._say_kept()

    def take(self, template: Template) -> None:
        """Have the sizes and the bracket of another template."""
        self.template = template
        self.show()

    def show(self) -> None:
        """Show the active preset where B and S are explained."""
        shown, screen = preset_shown(self.template, self.number), self._window.screen
        screen.deal.show_preset(shown)
        for chart in screen.query(Chart):
            chart.preset_units = shown.units
        screen.query_one(InstrumentLine).show_preset(shown.text)

    def _say_kept(self) -> None:
        text = f"Keys came faster than a person types: the size stays preset {self.number}"
        self._window.store.notify("warn", text)
