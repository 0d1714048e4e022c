"""The replay strip: the practice market's time, pause and speed, what is replayed, shocks and faults, and its keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.style import Style

from keydesk.calc.market.market_state import ControlledMarket, Replay, speed_text
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.strip_line import Item, StripLine
from keydesk_client.arithmetic.constants import SECOND

PAUSED = safe(" PAUSED ")
BLIND = safe("BLIND REPLAY")
MAX_NAME_LENGTH = 20  # columns
NARROW = 100  # columns, below which the date is short
HINTS = (  # key id, word; the first stay longest
    ("replay-pause", "play"),
    ("replay-present", "back"),  # from a replay
    ("replay-step", "candle"),
    ("replay-jump", "jump"),
    ("replay-faster", "faster"),
    ("replay-finish", "finish"),
)


class ReplayStrip(StripLine):
    """A line that the desk shows while its practice market is replayed, paused, fast, shocked or faulty."""

    def __init__(self, keymap: KeyMap = KEYMAP, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keymap
        self._second = -1

    def changed(self, frame: Frame) -> None:
        """Redraw when the market changed, and once a second of its time."""
        second = frame.time_ns // SECOND
        if second != self._second or frame.touched(Topic.MARKET):
            self._second = second
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield time, pace and faults, which stay longest, then what is replayed, shocks and keys."""
        market = frame.store.market
        if market is None:
            return
        state = market.state
        yield Item(((self._time_text(frame), self.palette["bright"]),))
        yield self._pace(market)
        if state.replay is not None:
            yield Item(((_replay_text(state.replay), self.palette["plain"]),), 2)
        if state.faults:
            yield Item(((safe(f"FAULTS {len(state.faults)} on"), self.palette["danger"]),))
            yield Item(((clean(", ".join(state.faults)), self.palette["danger"]),), 3)
        if state.shocks:
            count = "1 shock" if len(state.shocks) == 1 else f"{len(state.shocks)} shocks"
            yield Item(((safe(count), self.palette["warn"]),), 4)
        if market.working:
            yield Item(((safe(f"… {market.working}"), self.palette["warn"]),), 1)
        elif market.trouble:
            yield Item((("no answer to market commands", self.palette["danger"]),), 1)
        for rank, (name, word) in enumerate(HINTS, 5):
            if name == "replay-present" and state.replay is None:
                continue
            text = "pause" if name == "replay-pause" and state.running else word
            key = safe(self._keys.name(name).replace(" ", ""))
            yield Item(
                ((key, self.palette["plain"]), (safe(f" {text}"), self.palette["muted"])), rank
            )

    def _time_text(self, frame: Frame) -> Printable:
        moment = datetime.fromtimestamp(frame.time_ns // SECOND, frame.store.zone)
        if self.inside < NARROW:
            return safe(f"{moment:%Y-%m-%d %H:%M:%S}")
        return safe(f"{moment:%a} {moment.day} {moment:%b %Y %H:%M:%S %Z}")

    def _pace(self, market: ControlledMarket) -> Item:
        state = market.state
        if not state.running:
            return Item(((PAUSED, self.palette["warn"] + Style(bold=True, reverse=True)),))
        return Item(((safe(speed_text(state.speed)), self.palette["bright"]),))


def _replay_text(replay: Replay) -> Printable:
    """Return what is replayed; of a blind replay nothing until it is finished."""
    if replay.hides:
        return BLIND
    what = show.pair(replay.instrument) if replay.instrument else "replay"
    name = show.shorten(safe(replay.scenario), MAX_NAME_LENGTH)
    text = f"{name} {what}" if name else what
    return safe(f"{text}, finished" if replay.finished else f"{text}")
