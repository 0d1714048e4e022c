"""Whatever changes at once, in whatever order timers are due: the terminal shows what the screens draw.

pytest -m soak -n0 -s tests/tui/widgets/test_repaints.py        # 60 sessions
"""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen

from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.forms.info_form import HelpForm
from keydesk.forms.journal.trades import JournalForm
from keydesk.forms.panel import Panel
from keydesk.keys.keymap import KEYMAP
from keydesk.store.state import NoticeLevel, Topic
from keydesk.text.sanitize import safe
from keydesk.trade_journal.notes_file import Notes
from support.data.journal_service import read_journal
from support.data.journal_trades import closed_trade
from support.fakes.journal_host import JournalHost
from support.fakes.mirrored_desk import MirroredDesk


async def opened(desk: MirroredDesk) -> tuple[Screen[Any], Panel]:
    """Open a form; return it with its panel, all of it drawn."""
    await desk.push_screen(form := HelpForm(KEYMAP))
    await desk.settled()
    assert form.panel is not None
    return form, form.panel


async def until_told(*screens: Screen[Any]) -> None:
    """Wait until each of the screens knows of a widget that changed; their timers, which draw it, are due later."""
    while not all(each._dirty_widgets for each in screens):  # noqa: ASYNC110 - no call-backs
        await asyncio.sleep(0)


async def test_a_form_that_changes_in_the_moment_in_which_the_desk_beneath_is_drawn_is_drawn_too(
    tmp_path: Path,
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        form, panel = await opened(desk)
        count = len(panel.text.split("\n"))
        desk.window.screen.watchlist.redraw_line(1)
        panel.show([((safe("after the change"), "plain"),)] * count)
        await until_told(desk.window.screen, form)
        desk.window.screen._on_timer_update()  # passes its region on to the form
        form._on_timer_update()
        await desk.settled()
        assert desk.wrong_rows() == []


async def test_a_note_that_was_kept_is_in_the_row_of_its_trade_as_soon_as_it_is_below(
    tmp_path: Path,
) -> None:
    journal = read_journal([closed_trade("120")], tmp_path)
    async with MirroredDesk(tmp_path).at_terminal(160, 45) as desk:
        await desk.push_screen(page := JournalForm(desk.store, journal, JournalHost()))
        await desk.settled()
        journal.notes = Notes({"1": TradeNote(note="Second push; small.", rating=4)})
        journal.version += 1
        desk.tell("good", "Note on #1 kept")  # drawn on the desk, in the same frame
        desk.draw_changes(1)
        await until_told(desk.window.screen, page)
        desk.window.screen._on_timer_update()
        page._on_timer_update()
        await desk.settled()
        assert desk.wrong_rows() == []
        shown = "\n".join(desk.emulator.display)
        assert "Second push; small." in shown
        assert "4/5" in shown


async def until_shown(form: HelpForm) -> None:
    """Wait until a form that was opened has drawn its first picture."""
    while not form._is_shown:  # noqa: ASYNC110 - no call-backs
        await asyncio.sleep(0)


async def test_a_page_that_changes_beneath_a_form_before_that_is_shown_is_drawn(
    tmp_path: Path,
) -> None:
    journal = read_journal([closed_trade("120")], tmp_path)
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        await desk.push_screen(page := JournalForm(desk.store, journal, JournalHost()))
        await desk.settled()
        desk.push_screen(form := HelpForm(KEYMAP))
        page._on_timer_update()  # Textual refreshes a screen that another one covers
        journal.notes = Notes({"1": TradeNote(note="Second push; small.")})
        page.sort_rows()
        await until_told(page)
        assert not form._is_shown
        page._on_timer_update()
        await until_shown(form)
        await desk.settled()
        assert desk.wrong_rows() == []


async def test_a_form_that_opens_before_the_one_just_closed_was_painted_over_leaves_nothing_of_it(
    tmp_path: Path,
) -> None:
    journal = read_journal([closed_trade("120")], tmp_path)
    async with MirroredDesk(tmp_path).at_terminal(170, 44) as desk:
        await desk.push_screen(page := JournalForm(desk.store, journal, JournalHost()))
        await desk.settled()
        page.dismiss(None)
        while not desk.window.screen.is_active:  # noqa: ASYNC110 - no call-backs
            await asyncio.sleep(0)
        while not desk.window.screen._repaint_required:  # noqa: ASYNC110 - same
            await asyncio.sleep(0)
        desk.push_screen(form := HelpForm(KEYMAP))
        desk.window.screen._on_timer_update()
        await until_shown(form)
        await desk.settled()
        assert desk.wrong_rows() == []


async def test_a_form_that_opens_while_the_terminal_gets_another_size_stands_on_a_desk_drawn_for_it(
    tmp_path: Path,
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        desk.change_size(100, 30)  # the terminal has moved what it showed
        while desk.size != (100, 30):  # noqa: ASYNC110 - no call-backs
            await asyncio.sleep(0)
        assert desk.window.screen.outer_size != desk.size  # it is laid out by a timer
        desk.push_screen(form := HelpForm(KEYMAP))
        desk.window.screen._screen_resized(desk.size)
        await until_shown(form)
        assert form.outer_size == desk.size
        await desk.settled()
        assert desk.wrong_rows() == []


async def test_a_size_that_gave_way_to_an_older_one_in_the_queue_of_a_form_is_laid_out(
    tmp_path: Path,
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        form, _ = await opened(desk)
        desk.change_size(100, 30)
        while desk.size != (100, 30):  # noqa: ASYNC110 - no call-backs
            await asyncio.sleep(0)
        desk._resize_event = None  # passed on here, with one before it, to a form that is busy
        form.post_message(Resize(Size(110, 32), Size(110, 32)))
        form.call_later(lambda: None)
        form.post_message(Resize(Size(100, 30), Size(100, 30)))
        await desk.settled()
        assert {each._compositor.size for each in desk.screen_stack} == {desk.size}
        assert desk.wrong_rows() == []


SIZES = ((120, 35), (80, 24), (200, 50), (40, 12), (160, 45), (120, 26), (100, 30))
KEYS: tuple[str, ...] = (
    *"BSCOEPMTDXRZAYhjklgtopcwzmus.,-0123456789y:/?qu+",
    *("enter", "tab", "shift+tab", "space", "backspace", "up", "down", "left", "right"),
    *("pagedown", "home", "end", "escape", "escape", "escape", "escape"),
)
CHORDS = (*(("g", second) for second in "tpowclehjsadx"), ("c", "c"), ("c", "h"))
LEVELS: tuple[NoticeLevel, ...] = ("info", "good", "warn", "bad")


class Session:
    """Keys, prices, messages, sizes and a line that is full at times; screens are drawn in odd order between them."""

    def __init__(self, desk: MirroredDesk, seed: int) -> None:
        self.desk, self.dice = desk, random.Random(seed)
        self.done: list[object] = []  # for the report of a failure
        kinds = {self._key: 35, self._chord: 10, self._data: 35, self._size: 6}
        kinds |= {self._line: 6, self._redraw: 4, self._again: 4}
        self._kinds, self._weights = list(kinds), list(kinds.values())

    async def run(self, steps: int) -> None:
        """Do so much, and compare what the terminal shows with what is drawn now and then."""
        for step in range(1, steps + 1):
            [kind] = self.dice.choices(self._kinds, self._weights)
            self.done.append(kind())
            await self._let_some_work()
            if step % 4 == 0:
                await self._compare()

    async def _compare(self) -> None:
        await self.desk.settled()
        assert self.desk.wrong_rows() == [], self.done
        assert {each._compositor.size for each in self.desk.screen_stack} == {self.desk.size}
        self.desk.draw_changes(1)
        await self.desk.settled()
        assert self.desk.old_lines() == [], self.done

    async def _let_some_work(self) -> None:
        for _ in range(self.dice.randint(0, 6)):
            screen = self.dice.choice(self.desk.screen_stack)
            if self.dice.random() < 0.4 and screen.is_running:
                screen._on_timer_update()
            else:
                await asyncio.sleep(self.dice.choice((0, 0, 0, 0.004, 0.02)))

    def _key(self) -> str:
        self.desk.post_key(key := self.dice.choice(KEYS))
        return key

    def _chord(self) -> tuple[str, str]:
        for key in (chord := self.dice.choice(CHORDS)):
            self.desk.post_key(key)
        return chord

    def _data(self) -> str:
        store, dice = self.desk.store, self.dice
        match dice.randrange(8):
            case 0 | 1:
                self.desk.tell(dice.choice(LEVELS), f"message {dice.random()}")
            case 2:
                store.mark(dice.choice(list(Topic)))
            case 3:
                store.set_focus(dice.choice(sorted(store.instruments)))
            case _:
                for name in dice.sample(sorted(store.quotes), 3):
                    store.quotes[name].bid += dice.choice((1, -1)) * store.quotes[name].bid / 1000
                    store.mark(Topic.PRICES, name)
        self.desk.draw_changes(dice.choice((0.1, 0.1, 1)))
        return "data"

    def _size(self) -> tuple[int, int]:
        any_size = self.dice.randint(40, 220), self.dice.randint(12, 60)
        size = self.dice.choice((*SIZES, any_size, any_size))
        self.desk.change_size(*size)
        return size

    def _line(self) -> str:
        self.desk.line_is_full = not self.desk.line_is_full
        return "line full" if self.desk.line_is_full else "line free"

    def _redraw(self) -> str:
        self.desk.redraw()
        return "redraw"

    def _again(self) -> str:
        self.desk.free_closed_forms()
        self.desk.window.screen.watchlist.redraw_line(self.dice.randrange(10))
        return "free forms"


async def hold_a_session(folder: Path, seed: int, steps: int) -> None:
    size = SIZES[seed % len(SIZES)]
    async with MirroredDesk(folder).at_terminal(*size) as desk:
        await Session(desk, seed).run(steps)


async def test_after_each_of_many_random_steps_the_terminal_shows_what_is_drawn(
    tmp_path: Path,
) -> None:
    await hold_a_session(tmp_path, seed=1, steps=6)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 70))
async def test_after_hundreds_of_random_steps_the_terminal_shows_what_is_drawn(
    seed: int, tmp_path: Path
) -> None:
    await hold_a_session(tmp_path, seed, steps=300)
