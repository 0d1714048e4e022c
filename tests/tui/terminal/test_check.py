"""What kind of terminal this is: by TERM, by what a printed character moves the cursor, by what tmux says."""

import subprocess
import sys

import pytest

from keydesk.terminal.check import (
    ERASES_IN_COLOUR,
    WIDTH_REQUESTS,
    Multiplexer,
    MultiplexerQuery,
    measured_ascii,
    parse_multiplexer,
    remedy,
    unusable,
)


@pytest.mark.parametrize("term", ["dumb", "unknown", "Dumb"])
def test_a_terminal_that_cannot_place_text_is_refused_with_the_remedy(term: str) -> None:
    assert f"TERM={term}" in unusable({"TERM": term})
    assert "TERM=xterm-256color" in unusable({"TERM": term})


@pytest.mark.parametrize(
    "term", ["xterm-256color", "", "xterm-that-terminfo-does-not-know", "tmux"]
)
def test_other_terminals_are_not(term: str) -> None:
    assert unusable({"TERM": term}) == ""


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("term", "erases"),
    [
        ("xterm-256color", True),
        ("linux", True),
        ("tmux-256color", False),
        ("vt100", False),
        ("", False),
        ("xterm-that-terminfo-does-not-know", False),
    ],
)
def test_only_a_terminal_that_says_so_erases_in_colour(term: str, *, erases: bool) -> None:
    """In a process of its own: Python reads one entry of terminfo only."""
    code = f"from keydesk.terminal.check import erases_in_colour; print(erases_in_colour({{'TERM': {term!r}}}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(erases)


@pytest.mark.e2e
@pytest.mark.parametrize("term", ERASES_IN_COLOUR)
def test_what_is_known_of_a_terminal_is_what_terminfo_says(term: str) -> None:
    code = (
        "from keydesk.terminal import check; check.ERASES_IN_COLOUR.clear();"
        f"print(check.erases_in_colour({{'TERM': {term!r}}}), check.unusable({{'TERM': {term!r}}}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(ERASES_IN_COLOUR[term])


def test_one_column_for_each_character_means_utf8() -> None:
    assert measured_ascii(((7, 1), (7, 2), (7, 3))) == ""


@pytest.mark.parametrize(
    "positions",
    [
        ((7, 1), (7, 2), (7, 4)),  # screen without UTF-8: C1 controls are not printed
        ((7, 1), (7, 4), (7, 6)),  # every byte a cell
        ((7, 1), (7, 3), (7, 4)),  # an East Asian font
        ((7, 79), (8, 1), (8, 3)),
    ],
)
def test_other_widths_mean_ascii(positions: tuple[tuple[int, int], ...]) -> None:
    assert "one column" in measured_ascii(positions)


@pytest.mark.parametrize("positions", [(), ((1, 1),), ((1, 80), (1, 80), (1, 80))])
def test_a_terminal_that_does_not_say_is_left_as_it_is(
    positions: tuple[tuple[int, int], ...],
) -> None:
    assert measured_ascii(positions) == ""


def test_what_was_printed_is_erased() -> None:
    assert WIDTH_REQUESTS[0] == b"\x1b7"
    assert WIDTH_REQUESTS[-1] == b"\x1b8\x1b[K"


@pytest.mark.parametrize(
    ("out", "found"),
    [
        ("0|1\n1|0\n", Multiplexer()),
        ("0|1\n0|0\n", Multiplexer(utf8=False)),
        ("0|1\n1|0\n0|0\n", Multiplexer(clients=2, utf8=False)),
        ("0|1\n1|0\n1|1\n", Multiplexer()),  # a client that only looks
        ("1|2\n1|0\n", Multiplexer(synchronized=True)),
        ("1|1\n1|0\n", Multiplexer()),  # no other pane to be typed in
        ("", Multiplexer()),
        ("no server running", Multiplexer()),
    ],
)
def test_the_answer_of_tmux_is_read(out: str, found: Multiplexer) -> None:
    assert parse_multiplexer(out) == found


def test_a_warning_says_how_to_end_it() -> None:
    both = Multiplexer(clients=2, synchronized=True).warnings
    assert "setw synchronize-panes off" in both[0]
    assert "2 tmux clients" in both[1]
    assert Multiplexer().warnings == ()


def test_outside_tmux_nobody_is_asked() -> None:
    assert MultiplexerQuery.start({}) is None
    assert MultiplexerQuery.start({"TMUX": "x", "TMUX_PANE": "-t evil"}) is None


def test_a_tmux_that_does_not_answer_or_is_not_there_changes_nothing() -> None:
    environment = {"TMUX": "/nonexistent,1,0", "TMUX_PANE": "%0"}
    query = MultiplexerQuery.start(environment)
    assert query is None or query.answer() == Multiplexer()
    assert MultiplexerQuery.start({**environment, "PATH": "/nonexistent"}) is None


def test_the_remedy_names_the_multiplexer() -> None:
    assert "tmux -u" in remedy({"TMUX": "x"})
    assert "screen -U" in remedy({"STY": "x"})
    assert "UTF-8" in remedy({})
