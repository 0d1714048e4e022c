"""Every private name of Textual that the desk uses, each behind a function or a hook with a public name.

Nothing else under `keydesk` imports a private module of Textual or touches a private attribute of it, or of Rich. Where
a name is gone in another release, the fall-back loses speed or looks; where it would lose safety, `check_textual`
refuses to start. tests/tui/terminal/test_textual_private.py tries both.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeGuard

from rich.console import RenderableType
from rich.segment import Segment
from textual.app import App, ReturnType
from textual.driver import Driver
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.timer import Timer, TimerCallback

if TYPE_CHECKING:
    from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
else:
    try:
        from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
    except ImportError:

        class ChopsUpdate:
            """No update is of this class: all pass unchanged, and more bytes are sent."""

        CompositorUpdate = LayoutUpdate = ChopsUpdate

__all__ = [
    "CompositorUpdate",
    "KeyParser",
    "LateTimers",
    "Piece",
    "ScreenHooks",
    "TextualHooks",
    "UnsupportedTextual",
    "awaits_input",
    "check_textual",
    "clear_style_caches",
    "driver_of",
    "drops_updates",
    "end_of_wait",
    "end_with",
    "is_screen_update",
    "is_started",
    "lay_out",
    "leave_out_tooltips_and_toasts",
    "lines_of_screen",
    "new_key_parser",
    "pieces_of",
    "queued_writes",
    "raise_in_app",
    "region_of_whole",
]

Piece: TypeAlias = tuple[int, int, Iterable[Segment]]  # line, column, what is drawn from there on

_REQUIRED = ("_fatal_error",)  # methods of App whose replacement safety depends on


class UnsupportedTextual(Exception):
    """This release of Textual lacks something that the safety of the desk depends on."""


def check_textual() -> None:
    """Raise `UnsupportedTextual` unless faults can be reported without local variables and keys be parsed."""
    lacking = [f"App.{name}" for name in _REQUIRED if not hasattr(App, name)]
    try:
        parser = new_key_parser()
        awaits_input(parser)
    except (ImportError, AttributeError):
        lacking.append("XTermParser")
    if lacking:
        names = ", ".join(lacking)
        raise UnsupportedTextual(
            f"this release of Textual lacks {names}: install another one, pip install 'textual>=8.2,<9'"
        )


class LateTimers(MessagePump):
    """An app or a screen whose timers come late rather than not at all.

    Textual leaves out ticks that are due already; a timer that comes once, as the one that lays out another size of the
    terminal, then never comes. Fall-back: it is lost where the process stands still at that moment.
    """

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Call back once after so many seconds, also where the process stood still as the timer began."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False  # noqa: SLF001
        return timer


class TextualHooks(LateTimers, App[ReturnType], Generic[ReturnType]):
    """An app that sees each update of the screen before it is written, and words the report of its own faults."""

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        """Return what to write in place of an update of the screen; None writes nothing."""
        return update

    @abstractmethod
    def fault_report(self) -> RenderableType | None:
        """Return what is printed when the app ends on an exception; None: nothing more than before."""

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, self.screen_update(renderable))

    def _fatal_error(self) -> None:
        end_with(self, self.fault_report())


class ScreenHooks(LateTimers, Screen[ScreenResultType], Generic[ScreenResultType]):
    """A screen that chooses what an update draws. Fall-back: everything that changed."""

    drawn: set[Region] | None = None  # regions of the update that is being drawn

    def on_resize(self, event: Resize) -> None:
        """Leave out a size that the terminal no longer has.

        A screen that is laid out reports its size to itself as well. Where such a report, or one of the app, waits behind
        another message while the next size arrives, Textual would lay the screen out for the former size, and keep it.
        """
        if event.size != self.app.size:
            event.prevent_default()

    def regions_to_draw(self, changed: set[Region]) -> set[Region]:
        """Return the regions to draw of those that changed."""
        return changed

    def _compositor_refresh(self) -> None:
        beneath = not self.is_active
        try:
            compositor = self._compositor
            # Textual drops the widgets that changed where the screen itself is refreshed, also where that was in parts,
            # as a screen beneath passes on what it changed. Their regions are not dropped.
            compositor.update_widgets(set(compositor.visible_widgets))
            self.drawn = self.regions_to_draw(compositor._dirty_regions)  # noqa: SLF001
            compositor._dirty_regions = self.drawn.copy()  # noqa: SLF001
        except AttributeError:
            self.drawn = None
            beneath = False
        super()._compositor_refresh()
        self.drawn = None
        if (
            beneath
        ):  # passed on to the screen on top; Textual would draw these regions alone from now on
            self._exchange_repaint_regions()
            self._repaint_required = False


def lay_out(screen: Screen[Any], size: Size) -> None:
    """Lay the screen out and draw it, now and once. Fall-back: with its next update."""
    try:
        screen._refresh_layout(size)  # noqa: SLF001
        screen._exchange_repaint_regions()  # noqa: SLF001
        screen._repaint_required = False  # noqa: SLF001
    except AttributeError:
        screen.refresh(layout=True)


def end_with(app: App[Any], report: RenderableType | None) -> None:
    """End the app at once and print the report after the terminal is restored.

    Fall-back: the public `App.exit`, which waits for the message loop.
    """
    try:
        if report is not None:
            app._exit_renderables.append(report)  # noqa: SLF001
        app._close_messages_no_wait()  # noqa: SLF001
    except AttributeError:
        app.exit(return_code=1, message=report)


def raise_in_app(app: App[Any], error: Exception) -> None:
    """End the app as if its message loop had raised the error. Fall-back: leave with exit code 1, without a report."""
    try:
        app._handle_exception(error)  # noqa: SLF001
    except AttributeError:
        app.exit(return_code=1)


def drops_updates(app: App[Any]) -> bool:
    """Return whether the app drops updates of the screen now, within `App.batch_update`. Fall-back: no."""
    return bool(getattr(app, "_batch_count", 0))


def driver_of(app: App[Any]) -> Driver | None:
    """Return the terminal's driver, None before the app runs. Fall-back: None, so that no title or request is sent."""
    driver: Driver | None = getattr(app, "_driver", None)
    return driver


def is_started(driver: Driver) -> bool:
    """Return whether the driver has taken the terminal. Fall-back: yes."""
    return getattr(driver, "_writer_thread", driver) is not None


def queued_writes(driver: Driver | None) -> int:
    """Return how many writes wait for the terminal. Fall-back: none, so that a slow line gets every frame."""
    queue = getattr(getattr(driver, "_writer_thread", None), "_queue", None)
    return int(queue.qsize()) if queue is not None else 0


def leave_out_tooltips_and_toasts(app: App[Any]) -> None:
    """Mount no tooltip and no toast rack with each screen: the desk uses neither, and each is a widget with a task.

    Fall-back: they are mounted, and a form opens some milliseconds later.
    """
    for name in ("_disable_tooltips", "_disable_notifications"):
        if hasattr(app, name):
            setattr(app, name, True)


def clear_style_caches() -> None:
    """Release what Textual's process-wide caches keep of widgets that are gone. Fall-back: the memory stays in use."""
    with suppress(ImportError, AttributeError):
        import_module("textual._styles_cache").StylesCache.get_inner_outer.cache_clear()


def lines_of_screen(screen: Screen[Any], size: Size, rows: Container[int]) -> list[Strip]:
    """Return the lines of a screen with its widgets, also while another one lies over it; other rows are empty.

    Fall-back: none.
    """
    try:
        chops = screen._compositor._render_chops(size.region, rows.__contains__)  # noqa: SLF001
        return [Strip.join(chop.values()) for chop in chops[: size.height]]
    except AttributeError:
        return []


def is_screen_update(update: object) -> TypeGuard[CompositorUpdate]:
    """Return whether the update says which cells it draws. Fall-back: no, it is written as it is."""
    return isinstance(update, ChopsUpdate | LayoutUpdate)


def region_of_whole(update: object) -> Region | None:
    """Return the region of an update that draws all of the screen; None for others."""
    return update.region if isinstance(update, LayoutUpdate) else None


def pieces_of(update: object) -> list[Piece] | None:
    """Return what an update draws, piece by piece. Fall-back: None, where the update has another shape."""
    try:
        if isinstance(update, LayoutUpdate):
            return list(_whole_screen(update))
        if isinstance(update, ChopsUpdate):
            return list(_parts(update))
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    return None


def _parts(update: ChopsUpdate) -> Iterable[Piece]:
    rows = min(len(update.chops), len(update.chop_ends))
    for y, first, last in update.spans:
        if not 0 <= y < rows:  # part of a widget that stood outside the screen, as after a resize
            continue
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < last and end > first:
                yield y, x, strip


def _whole_screen(update: LayoutUpdate) -> Iterable[Piece]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            if isinstance(strip, Strip):
                yield y, x, strip
                x += strip.cell_length


class KeyParser(Protocol):
    """What is used of Textual's parser, apart from its private attributes."""

    def feed(self, data: str) -> Iterable[Message]:
        """Return the messages of characters from the terminal."""
        ...

    def tick(self) -> Iterable[Message]:
        """Return the messages that a timeout makes due."""
        ...


def new_key_parser() -> KeyParser:
    """Return Textual's parser of keys; raise ImportError when there is none (`check_textual`)."""
    parser: KeyParser = import_module("textual._xterm_parser").XTermParser()
    return parser


def awaits_input(parser: KeyParser) -> bool:
    """Return whether the parser needs more characters to know what the last ones mean."""
    awaiting: Any = parser._awaiting  # type: ignore[attr-defined]  # noqa: SLF001
    return awaiting.timeout is not None


def end_of_wait(parser: KeyParser) -> Iterable[Message]:
    """Return the messages of what the parser was waiting to complete; nothing more of it will come.

    Fall-back: they come with the parser's own timeout.
    """
    if awaits_input(parser):
        parser._timeout_time = 0.0  # type: ignore[attr-defined]  # noqa: SLF001
    return parser.tick()
