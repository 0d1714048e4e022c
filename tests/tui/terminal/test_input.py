"""Every byte from the terminal is read or dropped, and the keyboard goes on after it."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from keydesk.terminal.driver import TerminalDriver
from keydesk.terminal.input import (
    AT_ONCE,
    FOCUS_EVERY,
    InputDropped,
    InputOverrun,
    TerminalAnswered,
    TerminalInput,
)
from keydesk.terminal.paste import END, START
from keydesk.widgets.terminal_app import TerminalApp


class Keyboard:
    """The input with a clock that the test turns."""

    def __init__(self) -> None:
        self.now = 100.0
        self.input = TerminalInput(clock=lambda: self.now)

    def sends(self, data: bytes) -> list[Message]:
        return list(self.input.feed(data))

    def waits(self, seconds: float) -> list[Message]:
        self.now += seconds
        return list(self.input.tick())

    def works(self) -> bool:
        """A key pressed after all that arrives, whatever was begun before it."""
        self.sends(END.encode())
        self.waits(11.0)
        self.sends(b"\x1b[A")
        self.waits(11.0)
        return keys(self.sends(b"j")) == ["j"]


def keys(messages: list[Message]) -> list[str]:
    return [message.key for message in messages if isinstance(message, events.Key)]


def dropped_bytes(messages: list[Message]) -> bytes:
    return b"".join(each.data for each in messages if isinstance(each, InputDropped))


def pastes(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, events.Paste)]


@pytest.mark.parametrize(
    "data", [b"\xa3", b"\xe9", b"\xff\xfe", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf9\xc0\x80"]
)
def test_bytes_that_are_no_utf8_are_dropped_and_named_and_the_next_key_arrives(data: bytes) -> None:
    keyboard = Keyboard()
    messages = keyboard.sends(data + b"j") + keyboard.waits(1.0)
    assert dropped_bytes(messages) == data
    assert keys(messages) == ["j"]


def test_half_a_character_is_dropped_after_half_a_second_without_another_byte() -> None:
    keyboard = Keyboard()
    assert keyboard.sends(b"\xe2\x82") == []
    assert keyboard.waits(0.4) == []
    assert dropped_bytes(keyboard.waits(0.2)) == b"\xe2\x82"
    assert keys(keyboard.sends("€".encode())) == ["euro_sign"]


def test_a_character_cut_in_two_by_the_reads_is_one_character() -> None:
    keyboard = Keyboard()
    messages = keyboard.sends(b"\xe2") + keyboard.sends(b"\x88") + keyboard.sends(b"\x92")
    assert keys(messages) == ["minus_sign"]
    assert dropped_bytes(messages) == b""


def test_eight_bit_alt_is_no_key_and_no_escape() -> None:
    for data in (b"\xf9", b"\x1b\xf9", b"\xd9\xd9"):
        keyboard = Keyboard()
        assert keys(keyboard.sends(data) + keyboard.waits(1.0)) == []


def test_a_key_sequence_that_garbage_interrupts_is_not_joined_to_what_follows() -> None:
    keyboard = Keyboard()
    assert keys(keyboard.sends(b"\x1b[\xa3A") + keyboard.waits(1.0)) == ["A"]
    keyboard = Keyboard()
    keyboard.sends(b"\x1b[1;")
    assert keys(keyboard.sends(b"\xa32A") + keyboard.waits(1.0)) == ["2", "A"]


def test_a_paste_goes_on_without_its_undecodable_bytes() -> None:
    keyboard = Keyboard()
    messages = keyboard.sends(START.encode() + b"1\xa0000" + END.encode())
    assert pastes(messages) == ["1000"]
    assert dropped_bytes(messages) == b"\xa0"


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b[1:2u",
        b"\x1b[9999999999u",
        b"\x1b[1114112u",
        b"\x1b[97;1;9999999999u",
        b"\x1b[97;1;55296u",
        b"\x1b[97;1:1u",
        b"\x1b[48;0;0;0;0t",
        b"\x1b[48;99999999;99999999;1;1t",
    ],
)
def test_a_sequence_that_the_parser_cannot_take_is_dropped(sequence: bytes) -> None:
    keyboard = Keyboard()
    messages = keyboard.sends(sequence)
    assert [type(each) for each in messages] == [InputDropped]
    assert keyboard.works()


# One of each kind that the parser tells apart: controls, digits, ends of sequences, introducers, halves of UTF-8.
FOLLOWING = b"\x00\x03\t\r\x18\x1a\x1b 0;:?<AORmtuc~P[]X^_\\\x7f\x80\x9b\x9c\xa3\xc2\xe2\xf0\xff"


def test_all_pairs_of_bytes_are_taken() -> None:
    keyboard = Keyboard()
    for first, second in product(range(256), FOLLOWING):
        keyboard.sends(bytes((first, second)))
        if second == 0:
            keyboard.waits(0.2)
    assert keyboard.works()


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_any_bytes_in_any_pieces_are_taken(pieces: list[bytes]) -> None:
    keyboard = Keyboard()
    for piece in pieces:
        keyboard.sends(piece)
        keyboard.waits(0.05)
    assert keyboard.works()


@pytest.mark.parametrize("pieces", [1_000, pytest.param(20_000, marks=pytest.mark.soak)])
def test_key_sequences_mixed_with_garbage_are_taken(pieces: int) -> None:
    rng = random.Random(21)
    keyboard = Keyboard()
    parts = [b"\x1b[", b"\x1b", b"\x1bO", b"\x1b[<", b"\x1b]", b"\x1bP", b";", b":", b"u", b"M"]
    parts += [b"R", b"t", b"48", b"1", b"9" * 9, b"\xa3", b"\xe2\x82", b"\x1b[200~", b"\x1b[201~"]
    for _ in range(pieces):
        keyboard.sends(b"".join(rng.choices(parts, k=rng.randint(1, 8))))
        keyboard.waits(rng.choice((0.0, 0.2)))
    assert keyboard.works()


LATE = b"\x1b[3;7R\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1bP1+r524742\x1b\\\x1b[>1;10;0c\x1b[?62;22c"


def test_replies_that_come_late_are_no_keys_in_whatever_pieces() -> None:
    for cut in range(len(LATE)):
        keyboard = Keyboard()
        messages = keyboard.sends(LATE[:cut]) + keyboard.waits(0.05) + keyboard.sends(LATE[cut:])
        messages += keyboard.waits(1.0)
        assert keys(messages) == []
        assert keys(keyboard.sends(b"j")) == ["j"]


def test_keys_between_late_replies_arrive() -> None:
    keyboard = Keyboard()
    assert keys(keyboard.sends(b"j\x1b[?1;2ck") + keyboard.sends(b"\x1b[A")) == ["j", "k", "up"]


def test_escape_and_alt_are_keys_when_nothing_follows() -> None:
    keyboard = Keyboard()
    assert keyboard.sends(b"\x1b") == []
    assert keys(keyboard.waits(0.2)) == ["escape"]
    assert keys(keyboard.sends(b"\x1b[A")) == ["up"]
    keyboard.sends(b"\x1bP")
    assert keys(keyboard.waits(0.2)) == ["alt+shift+p"]
    assert keys(keyboard.sends(b"\x1b[A")) == ["up"]


def test_a_reply_that_never_ends_holds_the_keyboard_for_half_a_second() -> None:
    keyboard = Keyboard()
    assert keyboard.sends(b"\x1b]11;rgb:1e") == []
    keyboard.waits(0.6)
    assert keys(keyboard.sends(b"j")) == ["j"]


REPLIES = (
    b"\x1b[?62;4;22c",
    b"\x1b[>1;10;0c",
    b"\x1b[12;40R",
    b"\x1b[?12;40R",
    b"\x1b[0n",
    b"\x1b[?997;1n",
    b"\x1b[4;600;800t",
    b"\x1b[?1u",
    b"\x1b[?2026;2$y",
    b"\x1b[4;2$y",
    b"\x1b]11;rgb:cccc/dddd/ffff\x1b\\",
    b"\x1b]52;c;Y2R5\x07",
    b"\x1bP>|tmux 3.4c\x1b\\",
    b"\x1bP1+r524742=38\x1b\\",
    b"\x1b_Gi=31;OK\x1b\\",
    b"\xc2\x9b?62;4;22c",
    b"\xc2\x9d11;rgb:cccc/dddd/ffff\xc2\x9c",
)


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_at_any_moment_is_no_key_also_when_its_rest_comes_late(reply: bytes) -> None:
    assert keys(Keyboard().sends(reply)) == []
    for cut in range(3, len(reply)):  # Esc alone, or with one character, is a key of a person
        for pause in (0.05, 0.15, 0.3, 0.7, 1.5):
            keyboard = Keyboard()
            keyboard.waits(60)
            messages = keyboard.sends(reply[:cut]) + keyboard.waits(pause)
            messages += keyboard.sends(reply[cut:]) + keyboard.waits(0.3)
            assert keys(messages) == [], (cut, pause)
            keyboard.waits(4.0)
            assert keys(keyboard.sends(b"j")) == ["j"]


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b[" + b"9" * 60 + b"c",
        b"\x1b[" + b"1;" * 40 + b"y",
        b"\x1b[1 q",
        b"\x1b[!p",
        b"\x1b[99y",
    ],
)
def test_an_unknown_sequence_is_dropped_whole(sequence: bytes) -> None:
    keyboard = Keyboard()
    for messages in (
        keyboard.sends(sequence),
        [each for byte in sequence for each in keyboard.sends(bytes((byte,)))],
    ):
        assert [type(each) for each in messages] == [InputDropped]
    assert keys(keyboard.sends(b"j")) == ["j"]


def test_a_string_without_an_end_keeps_the_keyboard_for_two_seconds_at_most() -> None:
    for introducer in (b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX"):
        keyboard = Keyboard()
        pressed: list[str] = []
        keyboard.sends(introducer + b"y" * 40_000)
        for _ in range(12):  # never a pause of half a second
            pressed += keys(keyboard.waits(0.25)) + keys(keyboard.sends(b"j"))
        assert 0 < len(pressed) <= 4
        assert set(pressed) == {"j"}


@pytest.mark.parametrize(
    "key", [b"\x1b[[A", b"\x1b[3$", b"\x1b[A", b"\x1bOA", b"\x1b[1;2A", b"\x1b[3~"]
)
def test_key_sequences_of_known_terminals_are_one_key(key: bytes) -> None:
    assert len(keys(Keyboard().sends(key))) == 1
    assert len(keys(Keyboard().sends(b"\x1b" + key))) == 2  # Esc and that key


def test_a_flood_of_keys_is_dropped_reported_and_over_at_once() -> None:
    keyboard = Keyboard()
    messages = [each for _ in range(3) for each in keyboard.sends(b"jk" * 2048)]
    assert len(keys(messages)) == AT_ONCE
    assert len([each for each in messages if isinstance(each, InputOverrun)]) == 1
    assert keyboard.waits(0.5) == []
    assert keys(keyboard.sends(b"j")) == ["j"]


def test_mouse_reports_take_no_keys_away_and_the_last_size_is_kept() -> None:
    keyboard = Keyboard()
    size = b"\x1b[48;24;80;240;800t"
    messages = keyboard.sends(b"\x1b[<35;10;10M" * 1000 + size + b"j")
    assert keys(messages) == ["j"]
    assert len(messages) < 2 * AT_ONCE
    assert [type(each) for each in keyboard.waits(0.5)] == [events.Resize]


LOST, GAINED = b"\x1b[O", b"\x1b[I"


def test_a_flood_of_focus_reports_is_a_few_messages_a_second_and_drops_nothing() -> None:
    keyboard = Keyboard()
    messages: list[Message] = []
    for _ in range(300):  # three seconds
        messages += keyboard.sends((GAINED + LOST) * 40) + keyboard.waits(0.01)
    assert 0 < len(messages) <= 2 * 3 / FOCUS_EVERY + 2
    assert {type(each) for each in messages} == {events.AppFocus, events.AppBlur}
    assert keys(keyboard.sends(b"j")) == ["j"]


@pytest.mark.parametrize(
    ("last", "kind"), [(GAINED, events.AppFocus), (LOST, events.AppBlur)], ids=["gained", "lost"]
)
def test_the_last_focus_report_of_a_flood_is_kept(last: bytes, kind: type[Message]) -> None:
    keyboard = Keyboard()
    messages = keyboard.sends((GAINED + LOST) * 5000 + last) + keyboard.waits(2 * FOCUS_EVERY)
    assert isinstance(messages[-1], kind)
    assert keyboard.waits(2 * FOCUS_EVERY) == []


def test_a_lost_focus_is_passed_on_at_once_and_before_the_next_key() -> None:
    keyboard = Keyboard()
    assert [type(each) for each in keyboard.sends(LOST)] == [events.AppBlur]
    messages = keyboard.sends(GAINED + LOST + GAINED + b"j")
    assert [type(each) for each in messages] == [events.AppBlur, events.AppFocus, events.Key]


def test_a_held_key_is_never_dropped() -> None:
    keyboard = Keyboard()
    messages: list[Message] = []
    for _ in range(600):  # 20 seconds at 30 Hz
        messages += keyboard.sends(b"\x1b[A") + keyboard.waits(0.033)
    assert keys(messages) == ["up"] * 600


def test_the_app_uses_the_driver_that_reads_this_way() -> None:
    assert TerminalApp.get_driver_class(TerminalApp()) is TerminalDriver


def test_what_was_dropped_is_said_in_words() -> None:
    assert "a byte that is not UTF-8 (A3)" in InputDropped(b"\xa3").text
    assert "6 bytes that are not UTF-8 (A3 A3 A3 A3 …)" in InputDropped(b"\xa3" * 6).text
    assert "key sequence" in InputDropped(b"").text


@pytest.mark.parametrize(
    ("reply", "status"),
    [(b"\x1b[?62;4;22c", False), (b"\x1b[0n", True), (b"\x1b[3n", True)],
)
def test_a_reply_says_which_request_it_answers_however_it_is_cut(
    reply: bytes, status: bool
) -> None:
    for cut in range(1, len(reply)):
        keyboard = Keyboard()
        messages = keyboard.sends(reply[:cut]) + keyboard.waits(0.05) + keyboard.sends(reply[cut:])
        answers = [each.status for each in messages if isinstance(each, TerminalAnswered)]
        assert answers == [status]
        assert not keys(messages)
