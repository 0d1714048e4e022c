"""The question before the practice market is replaced, and the page of replays: what runs, the last ones, and a date to start one at."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path
from typing import ClassVar

from textual.events import Key
from textual.worker import Worker

from keydesk.calc.market.replay import ControlledMarket, Home, Replay, speed_text
from keydesk.forms.info_form import DetailsForm, InfoForm, Rows, StyledText
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.guard import KeyPlace
from keydesk.keys.keymap import KEYMAP, REPLAY, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.replay import (
    REPLAYED,
    VERBS,
    ReplayCommand,
    ReplaySyntaxError,
    parse_replay,
)
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, counted, date_and_time, money, pair
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.audit import AuditEntry, try_to_read

WHAT_IT_IS = (
    "A replay runs the practice market again from a past time, on a new account with practice money. "
    "Trade it as that day; pause it, step by candles, run it faster. Your own account waits meanwhile."
)
CATCHES_UP = (
    "Its market then runs on to the present, and its orders and stops may be filled on the way "
    "(of more than 30 days, in the last 30)."
)
KEPT = "It is kept: keydesk practice ledgers, typed in a shell, lists it and opens it again."
RECENT = 6  # replays
MAX_DATE_LENGTH = 40  # characters
EXAMPLE = "2015-01-15 09:30"
SMALL = 16  # rows with room for what a replay is
ON_DESK = ("pause", "step", "faster", "slower", "jump", "blind", "random", "finish", "present")


class StartReplayForm(InfoForm[bool]):
    """Returns True when the trader starts a replay, or goes back to the account that was left for one."""

    KEY_CONTEXT: ClassVar[str] = REPLAY
    BINDINGS = bindings_of(REPLAY)
    WIDTH: ClassVar[int] = 84
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, store: Store, command: ReplayCommand, keymap: KeyMap = KEYMAP) -> None:
        self.store, self.command = store, command
        self._back_key = keymap.name("replay-present").replace(" ", "")
        super().__init__()

    @property
    def _starts(self) -> bool:
        """Whether a replay starts; else the command goes back, or restores a checkpoint."""
        return self.command.path == "/replay" and not self.command.returns

    def title_text(self) -> Printable:
        """Say what it is about."""
        if self.command.returns:
            return "Back from the replay"
        return "Start a replay" if self._starts else "Restore a checkpoint"

    def foot_text(self) -> Printable:
        """Return the keys."""
        does = (
            "goes back" if self.command.returns else "starts it" if self._starts else "restores it"
        )
        return safe(f"y {does}  Esc stays")

    def lines(self) -> Sequence[TextLine]:
        """Say what follows, and what becomes of the present account and of the one that was left."""
        holds = bool(self.store.trades or self.store.orders)
        first, *more = self.consequences()
        what = wrap_text(safe(WHAT_IT_IS), "muted", self.inside) if self._starts else []
        return [
            *wrap_text(clean(f"The market {self.command.text}."), "bright", self.inside),
            *([BLANK, *what] if self.room > SMALL else []),
            BLANK,
            *wrap_text(clean(first), "warn" if holds else "plain", self.inside),
            *(
                line
                for each in more
                for line in (BLANK, *wrap_text(clean(each), "plain", self.inside))
            ),
        ]

    def consequences(self) -> Sequence[str]:
        """Return what becomes of the present account, then what becomes of the one that was left."""
        store = self.store
        market, held = store.market, _held(len(store.trades), len(store.orders))
        replay = None if market is None else market.state.replay
        if replay is None:
            back = f"{self._back_key} goes back to it. {CATCHES_UP}"
            if self.command.path != "/replay":
                back = KEPT
            return (f"Your account{held} stays as it is now. {back}",)
        kept = f"The account of this replay{held} stays as it is now. {KEPT}"
        home = replay.home
        if home is None:
            return (kept,)
        if self.command.returns:
            return f"Your own account{_was_left(home, store)}. {CATCHES_UP}", kept
        return kept, f"{self._back_key} goes back to your own account{_was_left(home, store)}."

    def action_take(self) -> None:
        if self.is_active:
            self.dismiss(result=True)


def _was_left(home: Home, store: Store) -> str:
    """Return when the account was left, and what it held."""
    when = f", left at {date_and_time(home.left_ns, store.zone)}" if home.left_ns else ""
    account = store.account
    kept = None if account is None else home.accounts.get(account.id)
    if kept is None:
        return when
    return (
        f"{when} with {money(kept.balance)} {kept.currency}{_held(kept.trades, kept.orders, ',')}"
    )


def _held(trades: int, orders: int, joined: str = " with") -> str:
    if not (trades or orders):
        return ""
    return f"{joined} {counted(trades, 'open trade')} and {counted(orders, 'order')}"


class ReplayPage(DetailsForm):
    """What the practice market does, the last replays, and a field for the date of another; it is shut with the command.

    Args:
        store: Has the market and the account.
        clock: Monotonic seconds.
        perform: Called with the command of a date or scenario that was typed.
        audit: The audit log, which has the last replays; None: none yet.
        keymap: The keys, as the page names them.
    """

    KEYS_GO_TO: ClassVar[KeyPlace] = "text"
    WIDTH: ClassVar[int] = 110
    IN_COLUMNS: ClassVar[bool] = False

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        perform: Callable[[ReplayCommand], None] = lambda _: None,
        audit: Path | None = None,
        keymap: KeyMap = KEYMAP,
    ) -> None:
        self.store, self._clock, self._perform = store, clock, perform
        self._audit, self._keymap = audit, keymap
        self.text = ""
        self._recent: Sequence[AuditEntry] = ()
        super().__init__("Replay", ())
        self.rows = tuple(self._all_rows())

    def on_mount(self) -> None:
        """Read the last replays in a thread."""
        super().on_mount()
        if self._audit is not None:
            _: Worker[None] = self.run_worker(self._read(self._audit), group="replays")

    async def _read(self, audit: Path) -> None:
        entries, _ = await asyncio.to_thread(try_to_read, audit)
        self._recent = [each for each in entries if each.what == REPLAYED][:RECENT]
        self._show_now()

    def on_frame(self, _frame: Frame) -> None:
        self._show_now()

    def _show_now(self) -> None:
        self.rows = tuple(self._all_rows())
        self.redraw()

    def foot_text(self) -> Printable:
        """Return the keys, those of the field first."""
        pages = super().foot_text().removeprefix("Esc closes").replace("Space", "PgDn").strip()
        return self.keys_that_fit("Enter starts what is typed", *([pages] if pages else []))

    def all_lines(self) -> Sequence[TextLine]:
        """Return what a replay is, then the rows."""
        return [*wrap_text(safe(WHAT_IT_IS), "plain", self.inside), BLANK, *super().all_lines()]

    def _all_rows(self) -> Rows:
        store, zone = self.store, self.store.zone
        if store.market is None:
            return market_rows(store, self._clock())
        recent: Rows = [
            (safe(f"{date_and_time(each.time_ns, zone)}"), each.text) for each in self._recent
        ]
        return [
            ("replay from", self._field()),
            ("", self._result()),
            *self._of_account(store.market),
            *market_rows(store, self._clock()),
            *([("last replays", ""), *recent] if recent else []),
            *_offer(store.market),
            ("keys", self._keys_text()),
            ("commands", f":replay, then {', '.join(VERBS)}"),
        ]

    def _field(self) -> StyledText:
        return StyledText(clean(f"[{self.text}_]"), "bright")

    def _result(self) -> StyledText:
        """Return what the typed text means."""
        command = self._command()
        if not self.text.strip():
            return StyledText(
                f"type a date and time of UTC such as {EXAMPLE}, or the name of a scenario", "muted"
            )
        if isinstance(command, str):
            return StyledText(clean(f"✗ {command}"), "warn")
        return StyledText(clean(f"→ {command.text}; Enter shows what follows, then asks"), "good")

    def _command(self) -> ReplayCommand | str:
        """Return the command of the typed text, or why it is none."""
        words = self.text.lower().split()
        market = self.store.market or ControlledMarket()
        is_scenario = " ".join(words) in {each.name.lower() for each in market.scenarios}
        try:
            return parse_replay(["scenario" if is_scenario else "start", *words], market)
        except ReplaySyntaxError:
            return f"neither a time of UTC such as {EXAMPLE} nor the name of a scenario"

    def _of_account(self, market: ControlledMarket) -> Rows:
        """Return what becomes of the trader's own account, and how to come back to it."""
        back, replay = self._key("replay-present"), market.state.replay
        if replay is None:
            text = f"stays as it is while a replay runs; {back} goes back to it. {CATCHES_UP}"
        elif replay.home is None:
            text = f"none was left for this replay; {back} starts a new one at the present"
        else:
            text = (
                f"waits{_was_left(replay.home, self.store)}; {back} goes back to it. {CATCHES_UP}"
            )
        return [("your own account", text)]

    def _key(self, name: str) -> str:
        return self._keymap.name(name).replace(" ", "")

    def _keys_text(self) -> str:
        return "on the desk: " + "  ".join(f"{self._key(f'replay-{id_}')} {id_}" for id_ in ON_DESK)

    def on_key(self, event: Key) -> None:
        """Write the date; Enter starts what it means."""
        if event.key == "enter":
            command = self._command()
            if self.text.strip() and isinstance(command, ReplayCommand) and self.is_active:
                self.dismiss(None)
                self._perform(command)
        elif event.key == "backspace":
            self.text = self.text[:-1]
        elif event.is_printable and event.character:
            self.text = (self.text + event.character)[:MAX_DATE_LENGTH]
        else:
            return
        event.stop()
        event.prevent_default()
        self._show_now()


def market_rows(store: Store, now: float) -> Rows:
    """Return what the practice market does now, and what it offers."""
    market = store.market
    if market is None:
        return [("market", "not controlled by this desk")]
    state = market.state
    pace = speed_text(state.speed) if state.running else f"paused, {speed_text(state.speed)}"
    rows: Rows = [
        ("time", date_and_time(store.time_ns(now, state.time_ns), store.zone)),
        ("pace", pace),
        *_replay_rows(state.replay, store),
        *[("fault", each) for each in state.faults or ("none",)],
        *[("shock", each) for each in state.shocks or ("none",)],
    ]
    return [*rows, ("trouble", market.trouble)] if market.trouble else rows


def _replay_rows(replay: Replay | None, store: Store) -> Rows:
    if replay is None:
        return [("replay", "none")]
    if replay.hides:
        return [("replay", "blind: instrument and date are hidden until it is ended")]
    return [
        ("replay", f"{replay.scenario or 'own time'}{', finished' if replay.finished else ''}"),
        ("instrument", pair(replay.instrument) if replay.instrument else EMPTY),
        ("began", date_and_time(replay.began_ns, store.zone)),
        ("real time", date_and_time(replay.real_ns, store.zone)),
    ]


def _offer(market: ControlledMarket) -> Rows:
    scenarios: Rows = [
        (
            safe(each.name),
            f"{pair(each.instrument)} {date_and_time(each.start_ns, UTC)} {each.facts}",
        )
        for each in market.scenarios
    ]
    return [*scenarios, ("checkpoints", ", ".join(market.checkpoints) or "none")]
