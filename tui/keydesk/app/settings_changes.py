"""Changes of limits and indicators: in force at once (a raised daily loss limit: the next day), then written to the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.calc.daily_loss import LossLock, kept_today
from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.indicator_settings import try_to_save
from keydesk.config.limits import try_to_save_limit, with_limit
from keydesk.store.store import Store

if TYPE_CHECKING:
    from keydesk.calc.market.indicator_specs import IndicatorChoice
    from keydesk.config.limits import LimitChange


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

    def apply_limits(self, changes: Sequence[LimitChange] | None) -> None:
        """Put changed limits in force at once, and write them to the settings in a thread."""
        for change in changes or ():
            self.limits = with_limit(self.limits, change)
            self._store.record("settings", change.text)
        if changes:
            for text in limit_texts(changes, self._store.loss_lock, self._store.home_currency):
                self._store.tell("good", text)
            self._app.run_worker(self._save_limits(tuple(changes)), "limits", group="settings")

    async def _save_limits(self, changes: Sequence[LimitChange]) -> None:
        for change in changes:
            trouble = await asyncio.to_thread(try_to_save_limit, self._folder, change)
            if trouble:
                self._store.tell("warn", f"In force until you leave, not saved: {trouble}")
                return

    def apply_indicators(self, choice: IndicatorChoice | None) -> None:
        """Show the chosen indicators at once, and write them to the settings in a thread."""
        if choice is not None:
            self._store.set_indicators(
                choice.instrument, choice.specs, everywhere=choice.everywhere
            )
            self._app.run_worker(self._save_indicators(choice), "indicators", group="settings")

    async def _save_indicators(self, choice: IndicatorChoice) -> None:
        if trouble := await asyncio.to_thread(try_to_save, self._folder, choice):
            self._store.tell("warn", f"Shown until you leave, not saved: {trouble}")


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
