"""One sanitizer makes the text that screens, commands and files take; nothing else makes it, and nothing prints past it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style

import keydesk
from keydesk.cli.csv_output import write_csv
from keydesk.tables.watchlist import Watchlist
from keydesk.terminal.output import print_json, print_picture
from keydesk.text.format import lines_of, pair, shorten
from keydesk.text.sanitize import NAME_LIMIT, clean, clean_name, lines_without_controls, safe
from keydesk.widgets.terminal_diff import TerminalContents
from support.data.desk_store import example_store
from support.data.hostile_text import FRAGMENTS, hostile_texts
from support.fakes.pane_app import shown, text_of
from support.terminal_bytes import foreign_pieces

SOURCES = sorted(Path(keydesk.__file__).parent.rglob("*.py"))
PLAIN = Style()


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    """Every call of a function of one of these names."""
    text = path.read_text()
    if not re.search(rf"\b({'|'.join(names)})\(", text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            if name in names:
                yield node


def names_in(folder: str) -> list[Path]:
    return [path for path in SOURCES if folder in path.parts]


def test_only_the_sanitizer_makes_safe_text() -> None:
    makers = [path.name for path in SOURCES if any(calls(path, "SafeText"))]
    assert makers == ["sanitize.py"]
    casts = [call for path in SOURCES for call in calls(path, "cast")]
    assert [call for call in casts if "SafeText" in ast.dump(call)] == []


def test_only_one_module_prints() -> None:
    printing = {path.name for path in SOURCES if any(calls(path, "print"))}
    assert printing == {"output.py"}


def test_only_the_primitives_of_drawing_make_segments_and_texts() -> None:
    drawing = {path.name for path in SOURCES if any(calls(path, "Segment", "Text", "Content"))}
    assert drawing == {
        *("terminal_app.py", "overlay.py", "lines.py", "ruled_grid.py", "chart_view.py"),
        "panel.py",
    }


def test_no_type_is_ignored_where_text_is_drawn() -> None:
    drawing = [*names_in("panes"), *names_in("widgets"), *names_in("forms"), *names_in("cli")]
    assert [path.name for path in drawing if "pyright: ignore" in path.read_text()] == []


def test_no_fragment_of_hostile_text_leaves_a_sequence() -> None:
    for text in FRAGMENTS:
        for made in (clean(text), clean_name(text), safe(text), lines_without_controls(text)):
            assert list(foreign_pieces(made.encode(), (200, 60))) == []


@given(st.text(alphabet=st.characters(), max_size=200))
def test_a_name_is_short_ascii_whatever_comes(text: str) -> None:
    shown = clean_name(text)
    assert len(shown) <= NAME_LIMIT + 1
    assert all(c in "�…" or " " <= c <= "~" for c in shown)
    assert cell_len(shown) == len(shown)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\u0301\u0301alone", "alone"),  # a mark would stand on what is before the text
        ("a\ufe0fb\U000e0100", "ab"),
        ("a\u3164b\u2800", "a�b�"),
        ("\U0001f1e9\U0001f1ea", "��"),
        ("\U000e0041x", "�x"),
        ("漢字", "漢字"),
        ("Zoë Ünal, שלום", "Zoë Ünal, שלום"),
    ],
)
def test_marks_fillers_and_halves_of_flags_do_not_change_the_width(
    hostile: str, shown: str
) -> None:
    assert clean(hostile) == shown


def test_a_letter_that_only_looks_like_one_shows_in_an_instrument() -> None:
    assert pair("\u0415UR_USD") == "�UR/USD"
    assert pair("EUR_USD") == "EUR/USD"


@given(st.text(max_size=100), st.integers(2, 40))
def test_lines_and_cuts_keep_to_their_width(text: str, width: int) -> None:
    assert all(cell_len(line) <= width for line in lines_of(safe(text), width))
    assert cell_len(shorten(safe(text), width)) <= width


async def test_a_long_name_does_not_shift_or_hide_the_numbers_after_it() -> None:
    odd = "X" * 20 + "_USD"
    store = example_store()
    store.instruments[odd] = store.instruments["EUR_USD"]
    store.quotes[odd] = replace(store.quotes["EUR_USD"], instrument=odd)
    store.watchlist = ["EUR_USD", odd]
    pane = Watchlist()
    async with shown(pane, store, size=(80, 12)):
        rows = [line for line in text_of(pane) if "1.08" in line]
    assert len(rows) == 2
    assert rows[0].index("1.08") == rows[1].index("1.08")


def test_what_was_drawn_without_the_sanitizer_is_disarmed_before_the_terminal() -> None:
    front = TerminalContents()
    for number, text in enumerate(hostile_texts(1, 300)):
        sent = front.update([(number % 50, 0, [Segment(text, PLAIN)])], ColorSystem.TRUECOLOR)
        assert list(foreign_pieces(sent.encode(), (10_400, 60))) == []


def test_pictures_keep_their_colours_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    print_picture("\x1b[32m│\x1b[0m\n\x1b]52;c;eA==\x07")
    assert capsys.readouterr().out == "\x1b[32m│\x1b[0m\n␛]52;c;eA==␇\n"


def test_json_for_scripts_is_ascii_without_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json({"all": "".join(FRAGMENTS)})
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert all(" " <= character <= "~" or character == "\n" for character in shown)


def test_cells_of_a_table_run_nowhere_and_numbers_stay_exact(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    hostile = ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\uff1d1", " =1", "\u0301=1"]
    rows = [{"id": text, "units": "-1.50", "comment": "-5"} for text in hostile]
    write_csv(path, ["id", "units", "comment"], rows, {"comment"})
    for line in path.read_text().splitlines()[1:]:
        assert line.startswith("'"), line
        assert line.endswith(",-1.50,'-5")


def test_a_table_holds_no_control_character_in_any_column(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [{"id": text, "comment": text} for text in hostile_texts(3, 500)]
    write_csv(path, ["id", "comment"], rows, {"comment"})
    assert list(foreign_pieces(path.read_bytes())) == []
