"""What is under way to the terminal is bounded by what the terminal answers; no key is lost where the driver starts again."""

import asyncio
import os
import pty
import select
import signal
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App

from keydesk.terminal.driver import (
    ATTRIBUTES,
    BUDGET,
    FULL_AFTER,
    MAX_WINDOW,
    NO_ANSWER,
    PSEUDO_TERMINAL,
    REQUEST_EVERY,
    STATUS,
    OutputFlow,
    TerminalDriver,
)
from support.unread_keys import unread_in


@dataclass
class SimulatedLink:
    """A line of so many bytes a second, with the flow at its near end; the terminal at its far end answers `replies_to`."""

    rate: float
    remote: bool = False
    replies_to: frozenset[str] = frozenset({ATTRIBUTES, STATUS})
    now: float = 0.0
    waiting: list[int | str] = field(default_factory=list)  # sizes and requests
    asked: list[str] = field(default_factory=list)
    spare: float = 0.0

    def __post_init__(self) -> None:
        self.flow = OutputFlow(lambda: self.now, self.remote)

    def send(self, size: int) -> bool:
        if not self.flow.is_open:
            return False
        self.waiting.append(size)
        self._ask(self.flow.sending(size))
        return True

    def _ask(self, requests: str) -> None:
        self.asked += [requests] if requests else []
        self.waiting += [each for each in (ATTRIBUTES, STATUS) if each in requests]

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.spare += seconds * self.rate
        while self.waiting and self._size(self.waiting[0]) <= self.spare:
            first = self.waiting.pop(0)
            self.spare -= self._size(first)
            if isinstance(first, str) and first in self.replies_to:
                self._ask(self.flow.answered(status=first == STATUS))
        if not self.waiting:
            self.spare = 0.0

    def _size(self, waiting: int | str) -> int:
        return 0 if isinstance(waiting, str) else waiting

    @property
    def seconds_waiting(self) -> float:
        return sum(map(self._size, self.waiting)) / self.rate


@settings(deadline=None)  # a busy machine takes longer
@given(
    st.sampled_from([6_000.0, 20_000.0, 100_000.0]),
    st.integers(100, 2_500),
    st.sampled_from([{ATTRIBUTES, STATUS}, {ATTRIBUTES}, {STATUS}]),
)
def test_a_line_that_is_always_full_waits_half_a_second_at_most_after_a_while(
    rate: float, size: int, replies_to: set[str]
) -> None:
    line = SimulatedLink(rate, replies_to=frozenset(replies_to))
    for _ in range(10):  # a moment in which little is to be seen
        line.send(50)
        line.pass_time(0.3)
    longest = 0.0
    for beat in range(3_000):
        line.send(size)
        line.pass_time(0.01)
        if beat > 2_000:
            longest = max(longest, line.seconds_waiting)
    assert longest <= max(0.5, 8_000 / rate)


def test_a_quick_line_is_never_closed() -> None:
    line = SimulatedLink(10_000_000)
    for _ in range(500):
        assert line.send(3_000)
        line.pass_time(0.02)


def test_a_terminal_that_never_answers_is_not_waited_for_and_asked_once() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)
    asked = 0
    for _ in range(200):
        assert flow.is_open
        asked += flow.sending(REQUEST_EVERY) == ATTRIBUTES + STATUS
        now += NO_ANSWER / 10
    assert asked == 1


def test_a_terminal_that_stops_answering_is_not_waited_for_either() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)
    flow.sending(REQUEST_EVERY)
    now = 0.01
    flow.answered()
    flow.sending(MAX_WINDOW)
    assert not flow.is_open
    now += NO_ANSWER + 1
    assert flow.is_open


def test_an_answer_to_nothing_is_harmless() -> None:
    flow = OutputFlow(lambda: 1.0)
    assert flow.answered() == ""
    assert flow.is_open


@settings(deadline=None)  # a busy machine takes longer
@given(st.integers(100, 2_500))
def test_a_silent_terminal_over_ssh_is_half_a_second_behind_at_most(size: int) -> None:
    line = SimulatedLink(20_000, remote=True, replies_to=frozenset())
    longest, sent = 0.0, 0
    for _ in range(3_000):
        sent += line.send(size)
        line.pass_time(0.01)
        longest = max(longest, line.seconds_waiting)
    assert longest <= 0.5
    assert sent * size > 30 * BUDGET * 0.9  # and gets what was promised


def test_a_silent_terminal_on_this_machine_is_limited_once_writes_wait() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)

    def is_open() -> bool:
        return flow.is_open

    for _ in range(300):
        flow.queued(1)  # the thread that writes was a little late
        flow.sending(3_000)
        now += 0.1
        flow.queued(0)
        assert is_open()
    flow.queued(1)
    now += FULL_AFTER * 1.5
    flow.queued(3)
    flow.queued(0)
    now += PSEUDO_TERMINAL / BUDGET - 0.1
    assert not is_open()
    now += 0.2
    assert is_open()
    flow.sending(BUDGET)
    assert not is_open()


def test_a_terminal_that_answers_one_request_is_asked_only_that() -> None:
    for known in (ATTRIBUTES, STATUS):
        line = SimulatedLink(1_000_000, remote=True, replies_to=frozenset({known}))
        for _ in range(100):
            line.send(REQUEST_EVERY)
            line.pass_time(0.1)
        assert line.asked[0] == ATTRIBUTES + STATUS
        assert set(line.asked[1:]) == {known}
        assert line.flow.answers


def test_the_second_reply_of_a_terminal_that_answers_both_requests_counts_for_nothing() -> None:
    flow = OutputFlow(lambda: 1.0)
    flow.sending(100)
    flow.answered()
    assert flow.sending(REQUEST_EVERY) == ATTRIBUTES
    flow.sending(MAX_WINDOW)
    assert flow.answered(status=True) == ""
    assert not flow.is_open
    flow.answered()
    assert flow.is_known


def test_another_terminal_that_takes_the_place_of_one_is_asked_both_again() -> None:
    now = 0.0
    flow = OutputFlow(lambda: now)
    flow.sending(100)
    flow.answered()
    flow.sending(REQUEST_EVERY)
    now += NO_ANSWER + 1
    assert flow.is_open
    assert flow.sending(REQUEST_EVERY) == ATTRIBUTES + STATUS
    assert not flow.is_known
    flow.answered(status=True)
    assert flow.sending(REQUEST_EVERY) == STATUS


@contextmanager
def kept_signals() -> Iterator[None]:
    """The handlers of signals that a driver replaces, put back."""
    numbers = signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.parametrize(("starts_again", "kept"), [(True, 1), (False, 0)])
async def test_a_key_that_waits_is_kept_where_the_driver_starts_again_and_dropped_where_it_ends(
    starts_again: bool, kept: int
) -> None:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    with kept_signals():
        driver = TerminalDriver(App[None](), mouse=False)
        driver.fileno = theirs
        driver._starts_again = starts_again
        os.write(ours, b"y")
        select.select([theirs], [], [])  # the kernel hands it over when it comes to it
        driver.disable_input()
    assert unread_in(os.ttyname(theirs)) == kept
    os.close(ours)
    os.close(theirs)


async def test_the_newest_size_is_reported_last_where_one_resize_interrupts_another() -> None:
    width, reported = 200, list[int]()

    def report_size(_: int, __: FrameType | None) -> None:  # as Textual does
        nonlocal width
        found = width
        if found > 120:
            width -= 40
            signal.raise_signal(signal.SIGWINCH)
        reported.append(found)

    with kept_signals():
        driver = TerminalDriver(App[None](), mouse=False)
        signal.signal(signal.SIGWINCH, report_size)
        driver.defer_resizes()
        for _ in range(10):
            await asyncio.sleep(0)
    assert reported == [200, 160, 120]
