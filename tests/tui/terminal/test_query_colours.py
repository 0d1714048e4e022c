"""A terminal that is asked has the colours that it answers; one that stays silent has those of its name."""

from collections.abc import Mapping

import pytest

from keydesk.terminal.query import ASK_RGB, Replies, colour_depth, questions, theme_for

XTERM = {"TERM": "xterm-256color"}
PLAIN = {"TERM": "xterm"}
DEVICE = b"\x1b[?62;22c"


def background(words: bytes, end: bytes = b"\x1b\\") -> Replies:
    return Replies((b"\x1b]11;" + words + end, DEVICE))


@pytest.mark.parametrize("reply", [b"\x1bP1+r524742\x1b\\", b"\x1bP1+r524742=382F382F38\x1b\\"])
def test_a_terminal_that_answers_rgb_has_all_colours(reply: bytes) -> None:
    assert colour_depth(XTERM, Replies((reply, DEVICE))) == "truecolor"


@pytest.mark.parametrize(
    "sequences", [(), (DEVICE,), (b"\x1bP0+r524742\x1b\\", DEVICE), (b"\x1bP1+r436F=8\x1b\\",)]
)
def test_a_terminal_that_does_not_answer_rgb_has_the_colours_of_its_name(
    sequences: tuple[bytes, ...],
) -> None:
    assert colour_depth(XTERM, Replies(sequences)) == "256"
    assert colour_depth(PLAIN, Replies(sequences)) == "16"


def test_no_answer_overrides_that_no_colour_is_wanted() -> None:
    replies = Replies((b"\x1bP1+r524742\x1b\\",))
    assert colour_depth({**XTERM, "NO_COLOR": "1"}, replies) == "mono"


@pytest.mark.parametrize(
    "environment",
    [
        {**XTERM, "COLORTERM": "truecolor"},
        {"TERM": "xterm-kitty"},
        {"TERM": "linux"},
        {"TERM": "screen.xterm-256color"},
        {**XTERM, "STY": "1.pts"},
        {**XTERM, "NO_COLOR": "1"},
        {"TERM": "dumb"},
        {},
    ],
)
def test_nothing_is_asked_where_the_answer_changes_nothing_or_the_question_is_printed(
    environment: Mapping[str, str],
) -> None:
    assert questions(environment) == ()


def test_a_terminal_of_256_colours_is_asked_for_more() -> None:
    assert ASK_RGB in questions(XTERM)
    assert ASK_RGB in questions(PLAIN)


@pytest.mark.parametrize("words", [b"rgb:ffff/ffff/ffff", b"rgb:ff/fd/e0", b"rgba:f/f/f/f"])
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_sixteen_colours_on_a_light_background_are_the_light_theme_s(
    words: bytes, end: bytes
) -> None:
    assert theme_for("dark", "16", background(words, end)) == "light"
    assert theme_for("dark", "truecolor", background(words, end)) == "dark"
    assert theme_for("colour-blind", "16", background(words, end)) == "colour-blind"


@pytest.mark.parametrize("words", [b"rgb:0000/0000/0000", b"rgb:28/2c/34", b"?", b"rgb://", b""])
def test_sixteen_colours_on_a_dark_or_unknown_background_stay_dark(words: bytes) -> None:
    assert theme_for("dark", "16", background(words)) == "dark"
