"""Server text reaches the terminal only as text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.text.sanitize import HARMFUL, clean


def test_plain_words_stay_as_they_are() -> None:
    assert clean("London breakout, EUR/USD 1.0843") == "London breakout, EUR/USD 1.0843"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("bell\x07", "bell␇"),
        ("two\nlines\ttab", "two lines tab"),
        ("\x9b31mred", "�31mred"),  # the eight-bit control sequence introducer
        ("safe\u202egnp.exe", "safe�gnp.exe"),  # right-to-left override
        ("join\u200ded", "join�ed"),
        ("lone \ud800", "lone �"),
        ("\x7f", "␡"),
        ("line\u2028next", "line next"),
    ],
)
def test_what_would_move_the_cursor_or_the_reader_is_shown_as_a_sign(
    hostile: str, shown: str
) -> None:
    assert clean(hostile) == shown


def test_marks_piled_on_a_letter_stop_at_two() -> None:
    assert clean("e" + "\u0301" * 40 + "x") == "e\u0301\u0301x"


def test_long_text_ends_in_an_ellipsis() -> None:
    assert clean("x" * 300, limit=10) == "x" * 10 + "…"


@given(st.text(alphabet=st.characters(), max_size=400))
def test_nothing_harmful_survives_and_cleaning_twice_changes_nothing(text: str) -> None:
    shown = clean(text)
    assert len(shown) <= 257
    assert not {unicodedata.category(character) for character in shown} & (HARMFUL - {"So"})
    assert clean(shown, limit=300) == shown


@pytest.mark.soak
def test_every_character_there_is_comes_out_printable() -> None:
    for code in range(0x110000):
        shown = clean("a" + chr(code) + "b")
        assert all(unicodedata.category(c) not in HARMFUL for c in shown), hex(code)
