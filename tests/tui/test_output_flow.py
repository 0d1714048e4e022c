"""What is under way to the terminal is bounded by what the terminal answers."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from keydesk.widgets.output_flow import (
    LARGEST_WINDOW,
    NO_ANSWER,
    REQUEST,
    REQUEST_EVERY,
    OutputFlow,
)


@dataclass
class Line:
    """A line of so many bytes a second, with the flow at its near end."""

    rate: float
    now: float = 0.0
    waiting: list[int] = field(default_factory=list)  # sizes; a request is a 0
    spare: float = 0.0

    def __post_init__(self) -> None:
        self.flow = OutputFlow(lambda: self.now)

    def send(self, size: int) -> bool:
        if not self.flow.is_open:
            return False
        self.waiting.append(size)
        if self.flow.sending(size):
            self.waiting.append(0)
        return True

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.spare += seconds * self.rate
        while self.waiting and self.waiting[0] <= self.spare:
            size = self.waiting.pop(0)
            self.spare -= size
            if not size and self.flow.answered():
                self.waiting.append(0)
        if not self.waiting:
            self.spare = 0.0

    @property
    def seconds_waiting(self) -> float:
        return sum(self.waiting) / self.rate


@given(st.sampled_from([6_000.0, 20_000.0, 100_000.0]), st.integers(100, 2_500))
def test_a_line_that_is_always_full_waits_about_half_a_second_at_most_after_a_while(
    rate: float, size: int
) -> None:
    line = Line(rate)
    for _ in range(10):  # a moment in which little is to be seen
        line.send(50)
        line.pass_time(0.3)
    longest = 0.0
    for beat in range(3_000):
        line.send(size)
        line.pass_time(0.01)
        if beat > 2_000:
            longest = max(longest, line.seconds_waiting)
    assert longest <= max(0.55, 8_000 / rate)


def test_a_quick_line_is_never_closed() -> None:
    line = Line(10_000_000)
    for _ in range(500):
        assert line.send(3_000)
        line.pass_time(0.02)


def test_a_terminal_that_never_answers_is_not_waited_for_and_asked_once() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)
    asked = 0
    for _ in range(200):
        assert flow.is_open
        asked += flow.sending(REQUEST_EVERY) == REQUEST
        now += NO_ANSWER / 10
    assert asked == 1


def test_a_terminal_that_stops_answering_is_not_waited_for_either() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)
    flow.sending(REQUEST_EVERY)
    now = 0.01
    flow.answered()
    flow.sending(LARGEST_WINDOW)
    assert not flow.is_open
    now += NO_ANSWER + 1
    assert flow.is_open


def test_an_answer_to_nothing_is_harmless() -> None:
    flow = OutputFlow(lambda: 1.0)
    assert flow.answered() == ""
    assert flow.is_open
