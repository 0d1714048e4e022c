"""The frame clock, without a screen."""

from dataclasses import dataclass, field

from keydesk.store.frame import FAST_AFTER_FRAMES, SLOW_AFTER_SKIPS, Frame, FrameClock
from keydesk.store.state import Topic
from keydesk.store.store import Store


@dataclass
class Stage:
    """A clock to set, a terminal to clog, and the frames that were drawn."""

    store: Store = field(default_factory=Store)
    now: float = 100.0
    waiting: int = 0
    drawn: list[Frame] = field(default_factory=list)

    def clock(self, fps: float | None = None) -> FrameClock:
        return FrameClock(
            self.store,
            self.drawn.append,
            now=lambda: self.now,
            wall_ns=lambda: 7,
            backlog=lambda: self.waiting,
            fps=fps,
        )


def test_a_beat_hands_over_what_changed() -> None:
    stage = Stage()
    clock = stage.clock()
    stage.store.mark(Topic.PRICES, "EUR_USD")
    frame = clock.beat()
    assert frame is not None
    assert frame.keys(Topic.PRICES) == {"EUR_USD"}
    assert not frame.whole(Topic.PRICES)
    assert frame.touched(Topic.TRADES, Topic.PRICES)
    assert (frame.now, frame.time_ns) == (100.0, 7)
    assert stage.drawn == [frame]


def test_ten_frames_a_second_and_no_more() -> None:
    stage = Stage()
    clock = stage.clock()
    for _ in range(100):
        clock.beat()
        stage.now += 0.02
    assert clock.frames == 20


def test_the_first_prices_are_drawn_before_a_frame_is_due() -> None:
    stage = Stage()
    clock = stage.clock()
    clock.beat()
    stage.now += 0.01
    stage.store.mark(Topic.PRICES)
    assert clock.beat() is None
    assert clock.draw_now().whole(Topic.PRICES)
    stage.now += 0.085
    assert clock.beat() is None  # the pace counts from the frame that was not due
    stage.now += 0.02
    assert clock.beat() is not None


def test_a_fixed_pace_is_kept() -> None:
    stage = Stage()
    clock = stage.clock(fps=4)
    for _ in range(100):
        clock.beat()
        stage.now += 0.05
    assert clock.frames == 20
    assert clock.period == 0.25


def test_a_frame_is_skipped_while_the_terminal_is_behind_and_nothing_is_lost() -> None:
    stage = Stage(waiting=2)
    clock = stage.clock()
    stage.store.mark(Topic.PRICES, "EUR_USD")
    assert clock.beat() is None
    stage.waiting = 1
    frame = clock.beat()
    assert frame is not None
    assert frame.keys(Topic.PRICES) == {"EUR_USD"}
    assert clock.skipped == 1


def test_a_slow_link_gets_four_frames_a_second_until_it_keeps_up() -> None:
    stage = Stage(waiting=9)
    clock = stage.clock()
    for _ in range(SLOW_AFTER_SKIPS):
        clock.beat()
    assert clock.fps == 4
    stage.waiting = 0
    for _ in range(FAST_AFTER_FRAMES):
        stage.now += 0.25
        clock.beat()
    assert clock.fps == 10


def test_arithmetic_runs_before_the_frame_and_its_marks_are_in_it() -> None:
    store = Store()
    drawn: list[Frame] = []

    def total(touched: Store, now: float) -> None:
        touched.mark(Topic.ACCOUNT, now)

    clock = FrameClock(store, drawn.append, now=lambda: 5.0, wall_ns=lambda: 0, before=(total,))
    clock.beat()
    assert drawn[0].keys(Topic.ACCOUNT) == {5.0}
