"""The frame clock, without a screen."""

from dataclasses import dataclass, field

from keydesk.store.frame import FAST_AFTER_FRAMES, SLOW_AFTER_SKIPS, Frame, FrameClock
from keydesk.store.state import Topic
from keydesk.store.store import Store


@dataclass
class Stage:
    """A clock to set, and a terminal to clog."""

    fps: float | None = None
    now: float = 100.0
    waiting: int = 0
    store: Store = field(default_factory=Store)

    def __post_init__(self) -> None:
        self.clock = FrameClock(self.store, self.fps)

    def beat(self) -> Frame | None:
        is_due = self.clock.is_due(self.now, self.waiting)
        return self.clock.next_frame(self.now, 7) if is_due else None


def test_a_beat_hands_over_what_changed() -> None:
    stage = Stage()
    stage.store.mark(Topic.PRICES, "EUR_USD")
    frame = stage.beat()
    assert frame is not None
    assert frame.keys(Topic.PRICES) == {"EUR_USD"}
    assert not frame.whole(Topic.PRICES)
    assert frame.touched(Topic.TRADES, Topic.PRICES)
    assert (frame.now, frame.time_ns) == (100.0, 7)


def test_ten_frames_a_second_and_no_more() -> None:
    stage = Stage()
    for _ in range(100):
        stage.beat()
        stage.now += 0.02
    assert stage.clock.frames == 20


def test_the_first_prices_are_drawn_before_a_frame_is_due() -> None:
    stage = Stage()
    stage.beat()
    stage.now += 0.01
    stage.store.mark(Topic.PRICES)
    assert stage.beat() is None
    assert stage.clock.next_frame(stage.now, 7).whole(Topic.PRICES)
    stage.now += 0.085
    assert stage.beat() is None  # the pace counts from the frame that was not due
    stage.now += 0.02
    assert stage.beat() is not None


def test_a_fixed_pace_is_kept() -> None:
    stage = Stage(fps=4)
    for _ in range(100):
        stage.beat()
        stage.now += 0.05
    assert stage.clock.frames == 20
    assert stage.clock.period == 0.25


def test_a_frame_is_skipped_while_the_terminal_is_behind_and_nothing_is_lost() -> None:
    stage = Stage(waiting=2)
    stage.store.mark(Topic.PRICES, "EUR_USD")
    assert stage.beat() is None
    stage.waiting = 1
    frame = stage.beat()
    assert frame is not None
    assert frame.keys(Topic.PRICES) == {"EUR_USD"}
    assert stage.clock.skipped == 1


def test_a_slow_link_gets_four_frames_a_second_until_it_keeps_up() -> None:
    stage = Stage(waiting=9)
    for _ in range(SLOW_AFTER_SKIPS):
        stage.beat()
    assert stage.clock.fps == 4
    stage.waiting = 0
    for _ in range(FAST_AFTER_FRAMES):
        stage.now += 0.25
        stage.beat()
    assert stage.clock.fps == 10
