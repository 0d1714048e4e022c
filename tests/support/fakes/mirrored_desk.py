"""A desk whose bytes go to a terminal emulator: what that shows is compared with a rendering of all that is open."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pyte
from pyte.screens import Char
from rich.color import ColorSystem
from rich.console import RenderableType
from textual.events import Key, Resize
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.message_pump import MessagePump

from keydesk.terminal._textual_private import drops_updates
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.lines import LinePane
from keydesk.widgets.terminal_app import MANY_WRITES
from keydesk.widgets.terminal_diff import RenderedUpdate, TerminalContents
from support.data.desk_data import NOW, frame_of
from support.fakes.working_desk import WorkingDesk

CALM = 3  # looks in a row at which nothing is left to be done
CHECK_INTERVAL = 0.003  # seconds


class MirroredDesk(WorkingDesk):
    """A desk that takes itself to be at a terminal, on a line that a test fills and empties."""

    def __init__(self, folder: Path) -> None:
        super().__init__(DeskLock.of(folder, "practice"))
        self.line_is_full = False
        self._seconds = 0.0  # of the made-up clock
        self.emulator = pyte.Screen(1, 1)
        self._stream = pyte.Stream(self.emulator)

    @asynccontextmanager
    async def at_terminal(self, columns: int, rows: int) -> AsyncIterator[Self]:
        """Run at a terminal of this size, with everything drawn."""
        self.emulator.resize(rows, columns)
        async with self.run_test(size=(columns, rows)) as pilot:
            await pilot.pause()
            self.draw()
            await self.settled()
            yield self
            await self.settled()

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        """Send the bytes to the emulator."""
        written = super().screen_update(update)
        if isinstance(written, RenderedUpdate):
            self._stream.feed(written.sequence)
        return None

    def _writes_at_once(self) -> bool:
        return self.is_running and not drops_updates(self)

    def writes_waiting(self) -> int:
        """Return many while the line is full."""
        return MANY_WRITES if self.line_is_full else 0

    def change_size(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the desk hears of it with its next messages."""
        self.emulator.resize(rows, columns)
        size = Size(columns, rows)
        assert self._driver is not None
        self._driver._size = size
        self.post_message(Resize(size, size))

    def draw_changes(self, seconds: float = 0.1) -> None:
        """Draw a frame of what changed in the store since the last one, so many seconds later."""
        self._seconds += seconds
        frame = frame_of(self.store, now=NOW + self._seconds)
        for screen in self.screen_stack:
            on_frame = getattr(screen, "on_frame", None)
            if on_frame is not None:
                on_frame(frame)

    def post_key(self, key: str) -> None:
        """Type a key without waiting until it is handled."""
        letter = key if len(key) == 1 else " " if key == "space" else None
        name = _character_to_key(key) if len(key) == 1 else key
        event = Key(name, letter)
        event.set_sender(self)
        self.post_message(event)

    async def settled(self) -> None:
        """Wait until everything is handled and drawn that was asked for; the line takes it."""
        self.line_is_full, calm = False, 0
        while calm < CALM:
            await asyncio.sleep(CHECK_INTERVAL)
            self.catch_up()
            calm = 0 if self._is_at_work else calm + 1

    @property
    def _is_at_work(self) -> bool:
        if self._resize_event is not None or not self.is_painted:
            return True
        if any(each.message_queue_size or each._next_callbacks for each in self._pumps()):
            return True
        return any(
            any(widget._repaint_regions for widget in each._dirty_widgets)
            or each._layout_required
            or each._scroll_required
            or each._repaint_required
            for each in self.screen_stack
        )

    def _pumps(self) -> Iterator[MessagePump]:
        yield self
        for screen in self.screen_stack:
            yield from screen.walk_children(with_self=True)

    def wrong_rows(self) -> list[tuple[str, str]]:
        """Return the rows that the terminal shows otherwise than a fresh one would: as wanted, and as shown."""
        width, height = self.size
        strips = self.screen._compositor.render_strips()
        fresh = pyte.Screen(width, height)
        pieces = [(y, 0, strip) for y, strip in enumerate(strips)]
        pyte.Stream(fresh).feed(TerminalContents().update(pieces, ColorSystem.TRUECOLOR))
        wanted, shown = fresh.buffer, self.emulator.buffer
        return [
            (_text(fresh, y), _text(self.emulator, y))
            for y in range(height)
            if any(_look(wanted[y][x]) != _look(shown[y][x]) for x in range(width))
        ]

    def old_lines(self) -> list[tuple[str, str]]:
        """Return the lines that a pane in sight would draw otherwise now: as drawn now, and as kept."""
        visible = self.window.screen._compositor.visible_widgets
        return [
            (pane._draw(y).text, kept.text)
            for pane in self.window.screen.query(LinePane)
            if pane in visible and pane.outer_size.area
            for y, kept in list(pane._lines.items())
            if y < pane.outer_size.height and kept.cell_length == pane.outer_size.width
            if pane._draw(y).text != kept.text
        ]


def _look(cell: Char) -> tuple[Any, ...]:
    """Return what is seen of a cell: a blank has no colour or weight of its letters."""
    if cell.data == " " and not cell.underscore and not cell.reverse:
        return cell.data, cell.bg
    return cell.data, cell.fg, cell.bg, cell.bold, cell.underscore, cell.reverse


def _text(screen: pyte.Screen, y: int) -> str:
    return "".join(screen.buffer[y][x].data for x in range(screen.columns)).rstrip()
