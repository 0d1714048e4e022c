"""A paste that never ends: the keyboard comes back after 500 ms or 64 KB."""

from textual import events
from textual.message import Message

from keydesk.terminal.paste import END, MAX_LENGTH, START, OpenPaste, PasteClosingParser


class Terminal:
    """The parser with a clock that the test turns."""

    def __init__(self) -> None:
        self.now = 100.0
        self.parser = PasteClosingParser()
        self.parser.clock = lambda: self.now

    def types(self, data: str) -> list[Message]:
        return list(self.parser.feed(data))

    def waits(self, seconds: float) -> list[Message]:
        self.now += seconds
        return list(self.parser.tick())


def keys(messages: list[Message]) -> list[str]:
    return [message.key for message in messages if isinstance(message, events.Key)]


def pastes(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, events.Paste)]


def test_keys_work_again_half_a_second_after_a_paste_that_never_ends() -> None:
    terminal = Terminal()
    assert keys(terminal.types(START + "X")) == []
    assert pastes(terminal.waits(0.6)) == ["X"]
    assert keys(terminal.types("X")) == ["X"]


def test_a_paste_that_never_ends_is_closed_at_64_kilobytes() -> None:
    terminal = Terminal()
    messages = terminal.types(START + "a" * MAX_LENGTH)
    assert pastes(messages) == ["a" * MAX_LENGTH]
    assert keys(terminal.types("X")) == ["X"]


def test_a_whole_paste_is_one_event_and_stays_untouched() -> None:
    terminal = Terminal()
    assert pastes(terminal.types(START + "By\r" + END)) == ["By\r"]
    assert terminal.waits(1.0) == []
    assert keys(terminal.types("j")) == ["j"]


def test_an_end_that_comes_late_does_no_harm() -> None:
    terminal = Terminal()
    terminal.types(START + "a")
    terminal.waits(0.6)
    assert keys(terminal.types(END + "j")) == ["j"]


def test_markers_cut_in_two_by_the_reads_are_seen() -> None:
    paste = OpenPaste()
    paste.follow("x" + START[:3], 1.0)
    paste.follow(START[3:] + "abc", 1.1)
    assert not paste.overdue(1.5)
    assert paste.overdue(1.6)
    paste.follow(END[:2], 1.6)
    paste.follow(END[2:], 1.6)
    assert not paste.overdue(9.0)
