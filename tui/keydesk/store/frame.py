"""The frame clock: once a frame it takes what changed in the store and passes it to the screens.

Frames are drawn at 10 a second, 4 on slow links, independent of keys. A frame is skipped while the terminal has not
taken the last one; its changes stay marked, so a slow link shows fewer frames, never old prices.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from keydesk.store.state import Topic
from keydesk.store.store import Store

FAST_FPS = 10.0
SLOW_FPS = 4.0
MAX_WAITING_WRITES = 1
SLOW_AFTER_SKIPS = 5  # frames in a row that the terminal could not take
FAST_AFTER_FRAMES = 80  # frames in a row that it could: 20 s at the slow pace

NO_KEYS: frozenset[object] = frozenset()


class Frame(Struct, frozen=True):
    """The store, the marks since the last frame, the steady clock and the market's time."""

    store: Store
    dirty: Mapping[Topic, frozenset[object]]
    now: float  # monotonic seconds
    time_ns: int  # nanoseconds since 1970 UTC, as everything on the screen shows it

    def keys(self, topic: Topic) -> frozenset[object]:
        """Return the changed keys of a topic; None among them means all of it, an empty set nothing."""
        return self.dirty.get(topic, NO_KEYS)

    def whole(self, topic: Topic) -> bool:
        """Return whether the topic changed as a whole, so that all its rows are drawn."""
        return None in self.dirty.get(topic, NO_KEYS)

    def touched(self, *topics: Topic) -> bool:
        """Return whether any of these topics changed."""
        return any(topic in self.dirty for topic in topics)


class FrameClock:
    """Says when a frame is due, and takes what it shows; a timer asks every `period` seconds.

    Args:
        store: What is drawn.
        fps: A fixed pace; without it 10, and 4 while the terminal cannot keep up.
    """

    def __init__(self, store: Store, fps: float | None = None) -> None:
        self.store = store
        self.frames = 0
        self.skipped = 0
        self.slow = False  # the link cannot take ten frames a second
        self._fixed_fps = fps
        self._last = float("-inf")
        self._skips_in_row = 0
        self._frames_in_row = 0

    def fix_fps(self, fps: float | None) -> None:
        """Draw at a fixed pace; None: at the one that the line takes."""
        self._fixed_fps = fps

    @property
    def fps(self) -> float:
        """The present rate in frames a second."""
        if self._fixed_fps is not None:
            return self._fixed_fps
        return SLOW_FPS if self.slow else FAST_FPS

    @property
    def period(self) -> float:
        """The timer's interval in seconds: one frame at the fastest rate of this clock."""
        return 1 / (self._fixed_fps or FAST_FPS)

    def is_due(self, now: float, waiting_writes: int) -> bool:
        """Return whether a frame is due and the terminal, for which so many writes wait, can take it."""
        if now - self._last < 0.9 / self.fps:  # a timer may call a little early
            return False
        if waiting_writes > MAX_WAITING_WRITES:
            self._skip()
            return False
        self._keep_up()
        return True

    def next_frame(self, now: float, wall_ns: int) -> Frame:
        """Return the next frame, also one that is not due yet, such as the first prices."""
        self._last = now
        self.store.date_notices(now)
        self.frames += 1
        return Frame(self.store, self.store.pop_dirty(), now, self.store.time_ns(now, wall_ns))

    def _skip(self) -> None:
        self.skipped += 1
        self._frames_in_row = 0
        self._skips_in_row += 1
        if self._skips_in_row >= SLOW_AFTER_SKIPS:
            self.slow = True

    def _keep_up(self) -> None:
        self._skips_in_row = 0
        self._frames_in_row += 1
        if self._frames_in_row >= FAST_AFTER_FRAMES:
            self.slow = False
