"""A Textual app with themes by role and colour depth, whose output is reduced to what differs."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Generic

from rich.cells import cached_cell_len
from rich.color import ColorSystem
from rich.console import RenderableType
from rich.segment import Segment
from textual import events
from textual.app import ReturnType
from textual.color import Color
from textual.css.scalar import Scalar
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter, Monochrome
from textual.geometry import Offset, Region, Size

from keydesk.settings.theme_data import ThemeData
from keydesk.terminal._textual_private import (
    TextualHooks,
    check_textual,
    clear_style_caches,
    driver_of,
    drops_updates,
    is_screen_update,
    leave_out_tooltips_and_toasts,
    queued_writes,
    region_of_whole,
)
from keydesk.terminal.driver import OutputFlow, TerminalDriver
from keydesk.terminal.input import TerminalAnswered
from keydesk.terminal.output import in_ascii
from keydesk.terminal.query import is_remote
from keydesk.text.sanitize import lines_without_controls
from keydesk.widgets import theme
from keydesk.widgets.terminal_diff import CACHES, Difference, RenderedUpdate, TerminalContents
from keydesk.widgets.theme import Depth

SMALLEST = Size(80, 24)  # a smaller terminal has no room for a ticket and what it opens on
SMALLEST_EXITS = Size(40, 12)  # a smaller one shows no account and no trade
DRAWN_AFTER = 0.05  # seconds; Textual draws another size 8 ms after it came
MANY_WRITES = 99
MAX_WAITING_WRITES = 2  # then updates are left out, also those that answer a key
SLOW_LINE = (
    "The line to this terminal is slow: fewer frames from here on. Over SSH, ssh -C compresses"
)
NO_STATUS = (
    "This terminal does not say what it has drawn (DA1, DSR): fewer frames, so that a slow line keeps up. "
    "Over SSH, ssh -C compresses"
)
# Not Rich's own idea of it, which knows neither every terminal's name nor what the terminal answered.
COLOUR_SYSTEMS: Mapping[Depth, ColorSystem] = {
    "truecolor": ColorSystem.TRUECOLOR,
    "256": ColorSystem.EIGHT_BIT,
    "16": ColorSystem.STANDARD,
    "mono": ColorSystem.STANDARD,
}


class AsciiOnly(LineFilter):
    """Replaces glyph by glyph, so that every line keeps its width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments with ASCII only."""
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


ASCII_ONLY = AsciiOnly()


class TerminalApp(TextualHooks[ReturnType], Generic[ReturnType]):
    """An app whose output is compared with what the terminal shows."""

    # Ctrl-C leaves, so selected text could not be copied; a terminal selects by itself with Shift.
    ALLOW_SELECT = False
    window_title = ""  # empty: the window keeps its own

    def __init__(self) -> None:
        check_textual()
        super().__init__()
        leave_out_tooltips_and_toasts(self)
        self._ascii_only = False
        self._terminal = TerminalContents()
        self._flow = OutputFlow(monotonic, remote=is_remote(os.environ))
        # The terminal lacks an update: the whole screen is compared once the line takes more.
        self._behind = False
        self._terminal_region: Region | None = None
        self._cursor_sent: Offset | None = None
        self.apply_theme()

    def on_mount(self) -> None:
        """Forget the contents after a suspension."""
        self.app_resume_signal.subscribe(self, lambda _: self._forget())

    def on_resize(self, event: events.Resize) -> None:
        """Send the whole screen again where the size is the painted one: the terminal had another one in between.

        It has cut or moved what it showed, and Textual takes a size that it knows for no change. At another size the
        screen is drawn whole by its layout, unless a form that is opening had that size already.
        """
        painted = self._terminal_region
        if painted is not None and painted.size == event.size:
            self._forget()
        self.set_timer(DRAWN_AFTER, self.catch_up)

    def apply_theme(
        self,
        theme_name: str = "dark",
        depth: Depth = "truecolor",
        *,
        ascii_only: bool = False,
        erases_in_colour: bool = False,
        own_themes: Mapping[str, ThemeData] | None = None,
    ) -> None:
        """Set the theme and the terminal's colour depth (see `theme.colour_depth`), and what else it can do."""
        self._depth: Depth = depth
        self._ascii_only = ascii_only
        self._terminal.erases_in_colour = erases_in_colour
        self._colour_system = COLOUR_SYSTEMS[depth]
        self.has_colours = depth != "mono"
        self.set_class(ascii_only, "-ascii")
        self.ansi_color = True if depth in ("16", "mono") else None
        self.take_themes(own_themes or {})
        self.theme = theme.MONO if depth == "mono" else theme_name

    def take_themes(self, own: Mapping[str, ThemeData]) -> None:
        """Have these themes of the user beside those of the program; the one in use is drawn as it is now."""
        self.own_themes = own
        for name in theme.names(own):
            self.register_theme(theme.load(name, self._depth, own).textual())
        if self.theme in own and self.is_running:  # the same name again would change nothing
            shown, self.theme = self.theme, theme.MONO
            self.theme = shown

    def show_ascii(self, only: bool) -> None:
        """Draw with ASCII alone from now on, or with every sign again."""
        self._ascii_only = only
        self.set_class(only, "-ascii")
        self.redraw()

    def take_mouse(self, *, on: bool) -> None:
        """Take clicks and the wheel from now on, or no longer."""
        driver = driver_of(self)
        if isinstance(driver, TerminalDriver):
            driver.take_mouse(on=on)

    def get_driver_class(self) -> type[Driver]:
        """Return the driver that survives any input byte; another one (of the environment, of tests) stays."""
        usual = super().get_driver_class()
        return TerminalDriver if usual is LinuxDriver else usual

    def show_window_title(self, text: str) -> None:
        """Set the title of the terminal's window until the desk is left."""
        self.window_title = text
        driver = driver_of(self)
        if isinstance(driver, TerminalDriver):
            driver.show_title(in_ascii(text) if self._ascii_only else text)

    def continued_at(self) -> float:
        """Return when the process went on after it was stopped, in monotonic seconds."""
        return getattr(driver_of(self), "continued_at", float("-inf"))

    def send_to_terminal(self, text: str) -> None:
        """Send a bell or a notification; what it says is cleaned already."""
        driver = driver_of(self)
        if isinstance(driver, TerminalDriver):
            driver.write(in_ascii(text) if self._ascii_only else text)

    def copy_to_clipboard(self, text: str) -> None:
        """Do nothing: Ctrl-X in an empty field would clear the terminal's clipboard (OSC 52)."""

    def bell(self) -> None:
        """Do nothing: a field shows a message about a key it cannot take."""

    def writes_waiting(self) -> int:
        """Return how many writes wait, or many while flow control is closed: a slow link gets fewer frames, not older ones."""
        waiting = queued_writes(driver_of(self))
        self._flow.queued(waiting)
        return waiting if self._flow.is_open else MANY_WRITES

    @property
    def is_painted(self) -> bool:
        """Whether the terminal was sent all that was drawn, and no write of it waits."""
        return not self._lacks_whole and not self.writes_waiting()

    @property
    def slow_line_text(self) -> str:
        """Return the notice about a slow line; empty until it is known whether the terminal answers."""
        if not self._flow.is_known:
            return ""
        return SLOW_LINE if self._flow.answers else NO_STATUS

    def free_closed_forms(self) -> None:
        """Free closed forms: they are reference cycles, and caches hold what they drew and where they stood."""
        clear_style_caches()
        for cached in (*vars(Region).values(), Scalar.resolve, cached_cell_len, *CACHES):
            if clear := getattr(cached, "cache_clear", None):
                clear()  # up to 4,096 results each: 10 MB after many sizes of the terminal, texts and styles
        gc.collect()

    def redraw(self) -> None:
        """Send the whole screen again."""
        self._forget()
        self.screen.refresh(layout=True)

    def _forget(self) -> None:
        """Forget what the terminal shows, so that the whole screen is sent again, also when a form opens meanwhile."""
        self._terminal.forget()
        self._behind = True

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters applied to every line."""
        # NO_COLOR has a theme of its own here; Textual's greys would be colours again.
        filters = [each for each in super().get_line_filters() if not isinstance(each, Monochrome)]
        return [*filters, ASCII_ONLY] if self._ascii_only else filters

    def reduced(self, update: RenderableType | None) -> RenderableType | None:
        """Return the update without what the terminal shows already."""
        region = region_of_whole(update)
        if region is not None and region != self._terminal_region:
            self._terminal.forget()  # another size: the terminal may have moved everything
            self._terminal_region = region
        if is_screen_update(update):
            return Difference(update, self._terminal, self._colour_system)
        return update

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        """Return the bytes that differ; None when there are none, or when the line takes no more now."""
        reduced = self.reduced(update)
        if not isinstance(reduced, Difference) or not self._writes_at_once():
            return reduced
        if self.writes_waiting() > MAX_WAITING_WRITES:
            self._behind = True
            return None
        if region_of_whole(update) is not None:
            self._behind = False
        elif self._lacks_whole:
            self.screen.refresh()
        sequence = reduced.render_segments(self.console)
        if not sequence and self.cursor_position == self._cursor_sent:
            return None
        self._cursor_sent = self.cursor_position
        return RenderedUpdate(sequence + self._request_after(sequence))

    def fault_report(self) -> RenderableType | None:
        """Return a traceback without local variables, which may hold a token, and without control characters.

        The message of an exception may hold text of the server.
        """
        from rich.segment import Segments  # noqa: PLC0415 - only on a fault
        from rich.traceback import Traceback  # noqa: PLC0415

        trace = Traceback(show_locals=False, width=None)
        return Segments(
            [
                each if each.control else each._replace(text=lines_without_controls(each.text))
                for each in self.console.render(trace, self.console.options)
            ]
        )

    def _request_after(self, sequence: str) -> str:
        """Return the request whose reply shows that the output was drawn; empty without a reader of replies."""
        reader = getattr(driver_of(self), "terminal_input", None)
        if reader is None:
            return ""
        return self._flow.sending(len(sequence.encode()))

    def on_terminal_answered(self, answer: TerminalAnswered) -> None:
        """Take the reply, send the next request, and draw what was skipped."""
        request = self._flow.answered(status=answer.status)
        driver = driver_of(self)
        if request and driver is not None:
            driver.write(request)
        self.catch_up()

    def catch_up(self) -> None:
        """Draw what was skipped, once the line takes more; nothing before the first screen and after the last.

        A screen that stayed at an older size is laid out first: in the queue of a busy one, the size that its last layout
        reported replaces a newer one of the terminal.
        """
        for screen in self.screen_stack:
            if screen.outer_size not in (Size(0, 0), self.size):  # one that opens has none yet
                screen.post_message(events.Resize(self.size, self.size))
        if self._lacks_whole and self.screen_stack and self.writes_waiting() <= MAX_WAITING_WRITES:
            self.screen.refresh()

    @property
    def _lacks_whole(self) -> bool:
        """Whether the whole screen is to be sent: an update was left out, or none was whole since the size changed."""
        painted = self._terminal_region
        if self._behind or painted is None or not self.screen_stack:
            return self._behind
        return painted.size != self.screen.outer_size

    def _writes_at_once(self) -> bool:
        """Return whether Textual would write an update now rather than drop it."""
        return self.is_running and not self.is_headless and not drops_updates(self)
