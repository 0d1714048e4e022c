"""The forms of signing in and of choosing an account. They return what was typed or chosen, and send nothing."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual.events import Key
from textual.widgets import Input

from keydesk.forms.field_form import FieldForm
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import CHOICE, NAME, PROFILES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.words.sign_in import LIVE_SAFETY, LIVE_SAFETY_TITLE

LABEL = 14  # columns
FEWEST_ROWS = 3  # of a list, in the smallest window: no row is taken that is not seen
MAX_LENGTH = 1024  # characters of a token
NOTHING = "Nothing typed yet"


class SecretInput(Input):
    """A field of text shown as dots; what is in it cannot be copied out of it."""

    def __init__(self) -> None:
        super().__init__(password=True, max_length=MAX_LENGTH, select_on_focus=False)

    def action_copy(self) -> None:
        """Copy nothing."""

    def action_cut(self) -> None:
        """Cut nothing."""


class TextForm(FieldForm[str]):
    """Returns a line of text.

    Args:
        title: What the text is.
        hints: What is written below the field.
        trouble: What was wrong with the text before, "" if nothing.
        refuse: Returns why a text cannot be taken, "" if it can.
        hidden: Show dots.
        before: The text to begin with.
    """

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = 76
    IS_PAGE: ClassVar[bool] = False

    def __init__(
        self,
        title: Printable,
        hints: Sequence[Printable] = (),
        *,
        trouble: str = "",
        refuse: Callable[[str], str] = lambda text: "" if text else NOTHING,
        hidden: bool = False,
        before: str = "",
    ) -> None:
        super().__init__()
        self._title: Printable = title
        self._hints = list(hints)
        self._trouble, self._refuse = trouble, refuse
        self._hidden, self._before = hidden, before

    def new_field(self) -> Input:
        return (
            SecretInput()
            if self._hidden
            else Input(self._before, max_length=MAX_LENGTH, select_on_focus=False)
        )

    def title_text(self) -> Printable:
        return self._title

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes it  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """Say what was wrong, and what is asked for."""
        trouble = wrap_text(clean(self._trouble, 400), "warn", self.inside) if self._trouble else []
        hints = [line for each in self._hints for line in wrap_text(each, "muted", self.inside)]
        return [*trouble, *hints] or [BLANK]

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the text; one that cannot be taken stays open for correction."""
        text = event.value.strip()
        if why := self._refuse(text):
            self._trouble = why
            self.redraw()
            return
        event.input.clear()
        self.dismiss(text)


class Chosen(Struct, frozen=True):
    """A row that was chosen, and whether another account of it is wanted."""

    row: int
    other: bool = False


class ChoiceForm(InfoForm[Chosen]):
    """Returns the row that was chosen.

    Args:
        title: What is chosen.
        rows: The rows, each one line.
        hints: What is written above them.
        cursor: The row to begin at.
    """

    KEY_CONTEXT: ClassVar[str] = CHOICE
    BINDINGS = bindings_of(CHOICE)
    WIDTH: ClassVar[int] = 84
    IS_PAGE: ClassVar[bool] = False

    def __init__(
        self,
        title: Printable,
        rows: Sequence[Printable],
        hints: Sequence[Printable] = (),
        cursor: int = 0,
    ) -> None:
        super().__init__()
        self._title: Printable = title
        self._rows, self._hints = list(rows), list(hints)
        self.cursor = cursor

    def title_text(self) -> Printable:
        return self._title

    def foot_text(self) -> Printable:
        """Return the keys."""
        return self.keys_that_fit("Enter takes", "↑ ↓ choose")

    def lines(self) -> Sequence[TextLine]:
        """Return the rows around the chosen one, below the hints that leave room for them."""
        left = self.room - min(len(self._rows), FEWEST_ROWS) - 1
        hints: list[TextLine] = []
        for each in self._hints:
            wrapped = wrap_text(each, "muted", self.inside)
            if len(hints) + len(wrapped) <= left:
                hints += wrapped
        above = [*hints, BLANK] if hints else []
        room = max(1, self.room - len(above))
        first = max(0, min(self.cursor - room // 2, len(self._rows) - room))
        shown = list(enumerate(self._rows))[first : first + room]
        return [*above, *(self._line(row, text) for row, text in shown)]

    def _line(self, row: int, text: Printable) -> TextLine:
        chosen = row == self.cursor
        return (
            ("▶ " if chosen else "  ", "focus"),
            (safe(text[: self.inside - 2]), "bright" if chosen else "plain"),
        )

    def on_key(self, event: Key) -> None:
        """Go to the next row that begins with a letter; a letter with a meaning of its own has that."""
        letter = (event.character or "").casefold()
        if not letter.isalnum() or event.key in self.active_bindings:
            return
        count = len(self._rows)
        for row in (each % count for each in range(self.cursor + 1, self.cursor + 1 + count)):
            if self._rows[row].lstrip("● ").casefold().startswith(letter):
                self.cursor = row
                self.redraw()
                return

    def action_choose(self, step: int) -> None:
        """Go down or up."""
        self.cursor = max(0, min(len(self._rows) - 1, self.cursor + step))
        self.redraw()

    def action_take(self) -> None:
        """Take the row."""
        self.dismiss(Chosen(self.cursor))


class ProfileForm(ChoiceForm):
    """Returns the profile that was chosen, and whether another account of its token is wanted."""

    KEY_CONTEXT: ClassVar[str] = PROFILES
    BINDINGS = bindings_of(PROFILES)

    def foot_text(self) -> Printable:
        """Return the keys."""
        return self.keys_that_fit("Enter opens it", "a its other accounts", "↑ ↓ choose")

    def action_other(self) -> None:
        """Choose among the accounts of the row."""
        self.dismiss(Chosen(self.cursor, other=True))


class WaitForm(InfoForm[None]):
    """Says what is waited for; Esc gives it up."""

    BINDINGS = bindings_of(NAME)
    IS_PAGE: ClassVar[bool] = False
    WIDTH: ClassVar[int] = 76

    def __init__(self, text: Printable) -> None:
        super().__init__()
        self._text: Printable = text

    def title_text(self) -> Printable:
        return "One moment"

    def foot_text(self) -> Printable:
        """Return the key."""
        return "Esc gives it up"

    def lines(self) -> Sequence[TextLine]:
        """Return what is waited for."""
        return wrap_text(self._text, "plain", self.inside)


class LiveSafetyPage(InfoForm[bool]):
    """What a person reads once, at the first sign-in to real money."""

    KEY_CONTEXT: ClassVar[str] = CHOICE
    BINDINGS = bindings_of(CHOICE)
    WIDTH: ClassVar[int] = 100

    def title_text(self) -> Printable:
        return LIVE_SAFETY_TITLE

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "Enter goes on"

    def lines(self) -> Sequence[TextLine]:
        """Return each topic beside its name."""
        lines: list[TextLine] = []
        for name, text in LIVE_SAFETY.items():
            wrapped = wrap_text(text, "plain", max(1, self.inside - LABEL))
            names = (safe(f"{name:<{LABEL}}"), *[safe(" " * LABEL)] * (len(wrapped) - 1))
            lines.extend(
                ((each, "bright"), *line) for each, line in zip(names, wrapped, strict=True)
            )
            lines.append(BLANK)
        return lines[:-1]

    def action_choose(self, step: int) -> None:
        """Do nothing: there is one page."""

    def action_take(self) -> None:
        """Go on."""
        self.dismiss(result=True)
