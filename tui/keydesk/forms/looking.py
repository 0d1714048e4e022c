"""The base of forms that only look or ask for a word: no confirmation, the guard rests while text is typed."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar, Generic

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import ModalScreen

from keydesk.forms.form import Result
from keydesk.forms.sheet import Line, Sheet, text_of
from keydesk.frame import Frame
from keydesk.keys.guard import Front
from keydesk.theme import palette_of
from keydesk.widgets.veil import Veil


class Looking(Veil, ModalScreen[Result | None], Generic[Result]):
    """A sheet of lines that closes by Esc."""

    WIDTH: ClassVar[int] = 76
    FOOTER: ClassVar[str] = "Esc closes what is open and gives the keys back to the panes."
    DEFAULT_CSS = """
    Looking { align: center middle; background: $background 45%; }
    Looking > Sheet {
        height: auto; padding: 0 1; background: $background; border: round $focus;
        border-title-color: $bright; border-subtitle-color: $muted;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.painted: float | None = None

    def title_words(self) -> str:
        """Return what stands in the frame."""
        raise NotImplementedError

    def foot_words(self) -> str:
        """Return what stands under it."""
        return "Esc closes"

    def lines(self) -> Sequence[Line]:
        """Return what is shown."""
        raise NotImplementedError

    @property
    def guard_front(self) -> Front:
        """Nothing is sent from here; an order key among others is as much of an accident as on the desk."""
        return Front("desk", self.painted)

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return min(self.WIDTH, self.app.size.width or self.WIDTH) - 4

    @property
    def room(self) -> int:
        """Lines that fit."""
        return max(1, self.app.size.height - 2)

    def compose(self) -> ComposeResult:
        """Lay the sheet out."""
        yield Sheet(markup=False)

    def on_mount(self) -> None:
        """Draw at once."""
        self.painted = monotonic()
        for sheet in self.query(Sheet):
            sheet.styles.width = min(self.WIDTH, self.app.size.width)
        self.redraw()

    def on_frame(self, _frame: Frame) -> None:
        """Stand still; a form that shows prices follows them."""

    def redraw(self) -> None:
        """Draw everything as it is now."""
        sheet = next(iter(self.query(Sheet)), None)
        if sheet is None:  # a frame may come before it is mounted, and while it is removed
            return
        sheet.border_title = Text(self.title_words())
        sheet.border_subtitle = Text(self.foot_words())
        sheet.show(text_of(self.lines(), palette_of(self.app)))

    def action_drop(self) -> None:
        """Close without a result; a second Esc that comes when it has closed already does nothing."""
        if self.is_active:
            self.dismiss(None)
