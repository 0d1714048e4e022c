"""The question before the practice market begins anew, and the page of what it does and offers."""

from collections.abc import Callable, Sequence
from datetime import UTC
from typing import ClassVar

from keydesk.calc.market.replay import ControlledMarket, Home, Replay, speed_text
from keydesk.forms.info_form import DetailsForm, InfoForm, Rows
from keydesk.forms.sheet import BLANK, TextLine, wrap_text
from keydesk.keys.bindings import bindings_of
from keydesk.keys.keymap import KEYMAP, REPLAY, KeyMap
from keydesk.parse.replay import VERBS, ReplayCommand
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, date_and_time, money, pair
from keydesk.text.sanitize import Printable, clean, safe

CATCHES_UP = (
    "its market catches up to the present, and orders and trades fare as they would have "
    "(of more than 30 days, in the last 30)"
)
KEPT = "It is kept: keydesk practice ledgers lists it and opens it again."


class BeginAnewForm(InfoForm[bool]):
    """Returns True when the trader lets the market begin anew, or go back to the account that was left."""

    KEY_CONTEXT: ClassVar[str] = REPLAY
    BINDINGS = bindings_of(REPLAY)
    WIDTH: ClassVar[int] = 64

    def __init__(self, store: Store, command: ReplayCommand, keymap: KeyMap = KEYMAP) -> None:
        self.store, self.command = store, command
        self._back_key = keymap.name("replay-present").replace(" ", "")
        super().__init__()

    def title_text(self) -> Printable:
        """Say what it is about."""
        return safe(
            "Back from the replay" if self.command.returns else "The practice market begins anew"
        )

    def foot_text(self) -> Printable:
        """Return the keys."""
        return safe(f"y {'goes back' if self.command.returns else 'begins'}  Esc stays")

    def lines(self) -> Sequence[TextLine]:
        """Say what begins, and what becomes of the present account and of the one that was left."""
        holds = bool(self.store.trades or self.store.orders)
        first, *more = self.consequences()
        return [
            *wrap_text(clean(f"The market {self.command.text}"), "bright", self.inside),
            BLANK,
            *wrap_text(clean(first), "warn" if holds else "muted", self.inside),
            *(
                line
                for each in more
                for line in (BLANK, *wrap_text(clean(each), "muted", self.inside))
            ),
        ]

    def consequences(self) -> Sequence[str]:
        """Return what becomes of the present account, then what becomes of the one that was left."""
        store = self.store
        market, held = store.market, _held(len(store.trades), len(store.orders))
        replay = None if market is None else market.state.replay
        if replay is None:
            back = f"{self._back_key} comes back to it: {CATCHES_UP}"
            if self.command.path != "/replay":
                back = KEPT
            return (f"Your account{held} stays as it is now. {back}",)
        kept = f"The account of this replay{held} stays as it is now. {KEPT}"
        home = replay.home
        if home is None:
            return (kept,)
        if self.command.returns:
            return f"The account that was left{self._was_left(home)}: {CATCHES_UP}", kept
        goes = f"{self._back_key} goes back to the account that was left"
        return kept, f"{goes}{self._was_left(home)}"

    def _was_left(self, home: Home) -> str:
        """Return when it was left, and what it held."""
        when = f" at {date_and_time(home.left_ns, self.store.zone)}" if home.left_ns else ""
        account = self.store.account
        kept = None if account is None else home.accounts.get(account.id)
        if kept is None:
            return when
        return f"{when} with {money(kept.balance)} {kept.currency}{_held(kept.trades, kept.orders, ',')}"

    def action_take(self) -> None:
        if self.is_active:
            self.dismiss(result=True)


def _held(trades: int, orders: int, joined: str = " with") -> str:
    if not (trades or orders):
        return ""
    return f"{joined} {_count(trades, 'open trade')} and {_count(orders, 'order')}"


def _count(number: int, name: str) -> str:
    return f"1 {name}" if number == 1 else f"{number} {name}s"


class MarketPage(DetailsForm):
    """What the practice market does and offers, as it is now."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.store, self._clock = store, clock
        super().__init__("The practice market", market_rows(store, clock()))

    def on_frame(self, _frame: Frame) -> None:
        self.rows = tuple(market_rows(self.store, self._clock()))
        self.redraw()


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
        *_offer(market),
        ("commands", f":replay, then {', '.join(VERBS)}"),
    ]
    return [*rows, ("trouble", market.trouble)] if market.trouble else rows


def _replay_rows(replay: Replay | None, store: Store) -> Rows:
    if replay is None:
        return [("replay", "none")]
    if replay.hides:
        return [("replay", "blind: instrument and date are hidden until it is finished")]
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
