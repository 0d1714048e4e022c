"""The tour: five steps on the notice line that are the first trade itself, each done by what happened on the desk and at the broker.

A step is worked out from facts with every frame: a key that had no effect leaves it as it is, and a trader who goes on
without it is followed. Esc ends the tour for good, `:tour` begins it again.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from keydesk.config.tour_file import BEGUN, ENDED, TourFile
from keydesk.keys.keymap import TICKET, KeyMap
from keydesk.store.state import Topic
from keydesk.text.format import pair
from keydesk.text.sanitize import SafeText, safe

if TYPE_CHECKING:
    from keydesk.app.settings_changes import SizePresets
    from keydesk.app.window import DeskWindow

SHOWN_FOR = 120.0  # seconds for which the end of the tour is shown, unless Esc ends it before
NOT_HERE = "The tour is a trade on the practice market: keydesk --practice opens that"


class Step(IntEnum):
    """The steps, and the end."""

    CHOOSE = 1
    SIZE = 2
    OPEN = 3
    SEND = 4
    CLOSE = 5
    DONE = 6


class Facts(Struct, frozen=True):
    """What happened since the tour began."""

    has_chosen: bool  # an instrument
    sizes_by_risk: bool
    has_ticket: bool  # on the screen
    holds_trade: bool
    has_closed: bool  # a trade that was opened in the tour

    @property
    def step(self) -> Step:
        """The step that comes next; one that was passed over counts as done."""
        done = (
            (self.has_closed, Step.DONE),
            (self.holds_trade, Step.CLOSE),
            (self.has_ticket, Step.SEND),
            (self.has_chosen and self.sizes_by_risk, Step.OPEN),
            (self.has_chosen, Step.SIZE),
        )
        return next((step for is_so, step in done if is_so), Step.CHOOSE)


class Tour:
    """Follows the first trade, and shows what comes next in `store.tour`.

    Args:
        window: Has the forms, the keys and the store.
        presets: The size preset in force.
        file: Keeps whether the tour was ended.
    """

    def __init__(self, window: DeskWindow, presets: SizePresets, file: TourFile) -> None:
        self._window, self._store = window, window.store
        self._presets, self._file = presets, file
        self._is_on = file.begins
        self._market: int | None = None  # when the account was created in which the tour began
        self._instrument = ""  # at its begin
        self._has_chosen = False
        self._before: frozenset[str] = frozenset()  # trades that were open at its begin
        self._own: set[str] = set()  # trades opened since
        self._done_at: float | None = None

    def begin(self) -> None:
        """Begin again with the first step."""
        if self._store.health.environment != "PRACTICE" or self._store.arming.level == "READ-ONLY":
            self._store.notify("info", NOT_HERE)
            return
        self._is_on, self._market, self._done_at = True, None, None
        self._file.write(BEGUN)

    def end(self) -> bool:
        """End the tour for good; return False where there is none."""
        if not self._is_on:
            return False
        is_done = self._done_at is not None
        self._leave()
        if not is_done:
            line = self._window.keymap.name("command")
            self._store.notify("info", f"The tour is over; {line}tour brings it back")
        return True

    def check(self, now: float) -> None:
        """Show the step that comes next."""
        if not self._is_on:
            return
        store = self._store
        if store.account is None or not store.focus or self._window.screen.is_too_small:
            self._show(safe(""))
            return
        if self._market != store.account.created_time_ns:  # the first one, or another market
            if self._done_at is not None:  # done once, it does not begin again in a replay
                self._leave()
                return
            self._start(store.account.created_time_ns)
        step = self._facts().step
        if step is Step.DONE and self._done_at is None:
            self._done_at = now
            self._remember_end()
        if self._done_at is not None and now - self._done_at > SHOWN_FOR:
            self._leave()
            return
        self._show(self._text(step))

    def _start(self, market: int) -> None:
        self._market, self._instrument = market, self._store.focus
        self._has_chosen, self._before = False, frozenset(self._store.trades)
        self._own, self._done_at = set(), None
        self._file.write(BEGUN)

    def _facts(self) -> Facts:
        store, screens = self._store, self._window.app.screen_stack
        self._has_chosen = self._has_chosen or store.focus != self._instrument
        self._own |= store.trades.keys() - self._before
        return Facts(
            self._has_chosen,
            self._presets.number == 0,
            any(getattr(screen, "KEY_CONTEXT", "") == TICKET for screen in screens),
            any(trade in store.trades for trade in self._own),
            self._done_at is not None or any(each.trade_id in self._own for each in store.closed),
        )

    def _text(self, step: Step) -> SafeText:
        keymap, store = self._window.keymap, self._store
        if step in {Step.OPEN, Step.SEND} and store.arming.level != "ARMED":
            return safe(f"Tour: {keymap.name('arm')} arms the desk; now it sends exits only")
        if step is Step.DONE:
            return end_text(keymap)
        percent = f"{self._presets.template.risk_percent:f}%"
        return step_text(step, keymap, pair(store.focus), percent)

    def _show(self, text: SafeText) -> None:
        if text != self._store.tour:
            self._store.tour = text
            self._store.mark(Topic.NOTICES)

    def _leave(self) -> None:
        if self._done_at is None:
            self._remember_end()
        self._is_on, self._done_at = False, None
        self._show(safe(""))

    def _remember_end(self) -> None:
        if trouble := self._file.write(ENDED):
            self._store.notify("info", f"The tour comes back at the next start: {trouble}")


def step_text(step: Step, keymap: KeyMap, instrument: str, percent: str) -> SafeText:
    """Return what the notice line says of a step, within 78 columns."""

    def key(id_: str) -> str:
        return keymap.name(id_).replace(" ", "")

    words = {
        Step.CHOOSE: f"{key('row-down')} {key('row-up')} choose an instrument, {key('find')} finds one",
        Step.SIZE: f"{key('preset-risk')} sizes by risk: the stop costs {percent} of the account",
        Step.OPEN: f"{key('buy')} opens the buy ticket of {instrument}; read it, then {key('send')}",
        Step.SEND: f"read units, stop, target and costs, then {key('send')} buys",
        Step.CLOSE: f"{key('go-trades')} goes to your trade, {key('close')} then {key('send')} closes it",
    }
    tail = "" if step is Step.SEND else f"   {key('back')} ends it"
    return safe(f"Tour {step.value}/5: {words[step]}{tail}")


def end_text(keymap: KeyMap) -> SafeText:
    """Return what is said behind the last step."""
    line, journal = keymap.name("command"), keymap.name("journal").replace(" ", "")
    return safe(f"Tour done: {journal} has the trade. Your own account: {line}login")
