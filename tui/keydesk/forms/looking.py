"""The base of forms that only look or ask for a word: no confirmation, the guard rests while text is typed."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult

from keydesk.forms.form import ModalForm
from keydesk.forms.sheet import Line, Sheet, text_of
from keydesk.keys.guard import Front
from keydesk.store.frame import Frame
from keydesk.text.sanitize import Printable
from keydesk.widgets.overlay import Result
from keydesk.widgets.theme import palette_of


class Looking(ModalForm[Result]):
    """A sheet of lines that closes by Esc."""

    WIDTH: ClassVar[int] = 76
    FOOTER: ClassVar[str] = "Esc closes what is open and gives the keys back to the panes."
    DEFAULT_CSS = """
    Looking { align: center middle; }
    Looking > Sheet {
        height: auto; padding: 0 1; background: $background; border: round $focus;
        border-title-color: $bright; border-subtitle-color: $muted;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.painted: float | None = None

    def title_words(self) -> Printable:
        """Return what stands in the frame."""
        raise NotImplementedError

    def foot_words(self) -> Printable:
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
    def room(self) -> int:
        """Lines that fit."""
        return max(1, self.app.size.height - 2)

    def compose(self) -> ComposeResult:
        """Lay the sheet out."""
        yield Sheet(markup=False)

    def on_mount(self) -> None:
        """Draw at once."""
        self.painted = monotonic()
        self.fit()

    def on_frame(self, _frame: Frame) -> None:
        """Stand still; a form that shows prices follows them."""

    def redraw(self) -> None:
        """Draw everything as it is now."""
        sheet = self.sheet
        if sheet is None:
            return
        sheet.border_title = Text(self.title_words())
        sheet.border_subtitle = Text(self.foot_words())
        sheet.show(text_of(self.lines(), palette_of(self.app)))

    def action_drop(self) -> None:
        """Close without a result; a second Esc that comes when it has closed already does nothing."""
        if self.is_active:
            self.dismiss(None)
