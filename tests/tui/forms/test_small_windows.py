"""Forms in windows down to 40x12 and below: what is sent is readable whole, and exits work wherever it is."""

from pathlib import Path

import pytest
from textual.screen import ModalScreen

from keydesk.calc.orders.instructions import CloseTrades, MoveEntry
from keydesk.forms.modal_form import TextLine, fold_line
from keydesk.text.sanitize import safe
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk
from support.resizing import resize
from support.walks import crossed, sampled

SIZES = ((40, 12), (40, 23), (47, 12), (60, 14), (79, 24), (80, 23), (250, 12))
EXITS = {
    "close": (("g", "t", "C"), ("CLOSE LONG 10,000 EUR/USD #6411 at market", "realizes +5.10 USD")),
    "position": (("g", "p", "C"), ("CLOSE position EUR/USD LONG 10,000 at market", "+5.10")),
    "even": (
        ("g", "t", "E"),
        ("STOP TO BREAK-EVEN LONG 10,000 EUR/USD #6411", "stop 1.08385 from"),
    ),
    "cancel": (("g", "o", "D"), ("CANCEL BUY 20,000 EUR/USD limit 1.08200 #6415",)),
}
WITH_FIELDS = {
    "trail": (("g", "t", "T"), ("TRAIL LONG", "s stop", "t target", "r trail", "→ 20.0 pips")),
    "flatten": (("X",), ("FLATTEN EVERYTHING: close positions, cancel entries",)),
}


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


def words_of(app: WorkingDesk) -> str:
    lines = [strip.text for strip in app.screen._compositor.render_strips()]
    return " ".join(" ".join(lines).translate(str.maketrans("┃┏┓┗┛━", " " * 6)).split())


@pytest.mark.parametrize(("form", "size"), crossed(EXITS, SIZES))
async def test_an_exit_is_read_whole_and_sent(
    form: str, size: tuple[int, int], tmp_path: Path
) -> None:
    keys, words = EXITS[form]
    app = desk(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        app.draw()
        await pilot.pause()
        shown = words_of(app)
        for each in (*words, "y sends"):
            assert each in shown
        await pilot.press("y")
    assert len(app.decided) == 1


@pytest.mark.parametrize("size", sampled(SIZES, 1))
@pytest.mark.parametrize("form", WITH_FIELDS)
async def test_fields_and_scope_of_an_exit_are_shown_first(
    form: str, size: tuple[int, int], tmp_path: Path
) -> None:
    keys, words = WITH_FIELDS[form]
    app = desk(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        shown = words_of(app)
    for each in words:
        assert each in shown
    assert "y sends" in shown or "to send" in shown


async def test_an_exit_is_sent_from_a_window_too_small_to_show_it_whole(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", "C")
        await resize(pilot, 20, 6)
        await pilot.pause()
        assert "y sends" in words_of(app)
        await pilot.press("y")
    [sent] = app.decided
    assert isinstance(sent, CloseTrades)


async def test_a_window_that_cannot_show_a_move_asks_for_size_and_sends_once_it_can(
    tmp_path: Path,
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("g", "o", "M", "up")
        await resize(pilot, 20, 6)
        await pilot.pause()
        assert "Enlarge this window" in words_of(app)
        await pilot.press("y")
        assert app.decided == []
        assert isinstance(app.screen, ModalScreen)
        await resize(pilot, 80, 24)
        await pilot.pause()
        assert "y sends" in words_of(app)
        await pilot.press("y")
    [sent] = app.decided
    assert isinstance(sent, MoveEntry)


@pytest.mark.parametrize("key", ["B", "S"])
async def test_no_ticket_opens_on_the_mini_desk_and_it_says_why(key: str, tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        await pilot.press(key)
        app.draw()
        await pilot.pause()
        assert not isinstance(app.screen, ModalScreen)
        assert "No new trade below 80×24 cells. C closes, X flattens" in words_of(app)


async def test_no_command_opens_a_ticket_on_the_mini_desk(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        await pilot.press(*":b", "space", *"10k", "enter")
        app.draw()
        await pilot.pause()
        assert not isinstance(app.screen, ModalScreen)
        assert "No new trade below 80×24" in words_of(app)


def test_a_long_line_is_broken_at_spaces_and_keeps_every_letter_and_role() -> None:
    line: TextLine = ((safe("CLOSE "), "bright"), (safe("LONG 10,000 漢字漢字"), "plain"))
    for width in range(4, 30):
        lines = fold_line(line, width)
        letters = [(letter, role) for part in lines for text, role in part for letter in text]
        kept = [each for each in letters if each[0] != " "]
        assert kept == [(c, role) for text, role in line for c in text if c != " "]
    assert [len(fold_line(line, width)) for width in (30, 12, 11)] == [1, 3, 3]
