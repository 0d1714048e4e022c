"""The question before the practice market begins anew, and the page of what it does and offers."""

from collections.abc import Callable, Sequence
from datetime import UTC
from typing import ClassVar

from keydesk.calc.market.replay import ControlledMarket, Replay, speed_text
from keydesk.calc.replay_commands import VERBS, ReplayCommand
from keydesk.forms.info_form import DetailsForm, InfoForm, Rows
from keydesk.forms.sheet import BLANK, TextLine, wrap_text
from keydesk.keys.bindings import bindings_of
from keydesk.keys.keymap import REPLAY
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, date_and_time, pair
from keydesk.text.sanitize import Printable, clean, safe


class BeginAnewForm(InfoForm[bool]):
    """Returns True when the trader lets the market begin anew."""

    KEY_CONTEXT: ClassVar[str] = REPLAY
    BINDINGS = bindings_of(REPLAY)
    WIDTH: ClassVar[int] = 64

    def __init__(self, store: Store, command: ReplayCommand) -> None:
        self.store, self.command = store, command
        super().__init__()

    def title_text(self) -> Printable:
        """Say what it is about."""
        return "The practice market begins anew"

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "y begins  Esc stays"

    def lines(self) -> Sequence[TextLine]:
        """Say what begins, and what becomes of the present accounts."""
        trades, orders = len(self.store.trades), len(self.store.orders)
        held = f"{_count(trades, 'open trade')} and {_count(orders, 'order')} stay"
        kept = "in the present ledger, which is kept beside the new one"
        after = f"{held if trades or orders else 'The accounts stay'} {kept}"
        return [
            *wrap_text(clean(f"The market {self.command.text}"), "bright", self.inside),
            BLANK,
            *wrap_text(safe(after), "warn" if trades or orders else "muted", self.inside),
        ]

    def action_take(self) -> None:
        """Let it begin."""
        if self.is_active:
            self.dismiss(result=True)


def _count(number: int, name: str) -> str:
    return f"1 {name}" if number == 1 else f"{number} {name}s"


class MarketPage(DetailsForm):
    """What the practice market does and offers, as it is now."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.store, self._clock = store, clock
        super().__init__("The practice market", market_rows(store, clock()))

    def on_frame(self, _frame: Frame) -> None:
        """Follow the market."""
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
        ("time", date_and_time(state.now_ns(now), store.zone)),
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
