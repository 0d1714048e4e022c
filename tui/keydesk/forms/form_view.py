"""The picture of a form that sends: its lines, as many as there is room for, and its place on the screen.

It is shown in the column beside the chart, or over the left of the desk.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual.events import Resize
from textual.geometry import Region

from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.form_lines import FormLines, confirmation_lines
from keydesk.forms.framed_sheet import Sheet
from keydesk.forms.sheet import FormContext, ModalForm, TextLine, wrap_text
from keydesk.keys.confirm import EXITS, Action, Confirmation, Step
from keydesk.store.trading_context import Snapshot
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Result

Computed = TypeVar("Computed")

UNUSABLE = (ArithmeticError, ValueError)
"""Raised by arithmetic on invalid figures of the broker, such as a size of 0."""

UNUSABLE_FIGURES = "The broker's figures for this are invalid"
UNREADABLE = "Enlarge this window: nothing is sent that it does not show"
TITLE_FRAME = 6  # columns of the frame beside its title
FULL_LINES = 44  # columns in which the lines of a form need no shortening
STRIPS = 2  # rows of account and health, which no docked form covers


class FormView(ModalForm[Result]):
    """What a form shows: headline and body, warnings, confirmation."""

    WIDTH: ClassVar[int] = 60
    HINTS: ClassVar[TextLine] = ()  # keys of its fields that no line of it shows
    DEFAULT_CSS = """
    FormView { align: left middle; }
    FormView.-docked { align: right top; }
    FormView > Sheet {
        height: auto; padding: 0 1; background: $background; border: heavy $readonly;
        border-title-style: bold; border-title-color: $bright;
    }
    FormView.-docked > Sheet { padding: 0; margin: 2 0 0 0; }
    FormView.-practice > Sheet { border: heavy $practice; }
    FormView.-live > Sheet { border: heavy $live; border-title-color: $live-text; border-title-background: $live; }
    """

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self._is_long = False  # longer than the column beside the chart has room for
        self._is_spread = False  # over the desk, as the trader asked for the lines left out
        self._hides_fields = False  # to show the lines left out in their place
        super().__init__(classes=f"-{self.environment}")
        self.set_class(self.dock > 0, "-docked")
        self._hint = ""
        self.subject = ""  # why the form is about this trade, where its row was not chosen
        self._snapshot = Snapshot(context.store, context.clock)

    # To be implemented by each form.

    @abstractmethod
    def headline(self) -> TextLine:
        """Return in words what the form will do."""

    def body(self) -> Sequence[TextLine]:
        """Return the lines between headline and confirmation."""
        return ()

    def field_lines(self) -> Sequence[TextLine]:
        """Return the lines of the body that nothing is sent without: what the trader types."""
        return ()

    def details(self) -> Sequence[TextLine]:
        """Return the lines of the body that are left out where rows are missing, the least important first."""
        return ()

    @abstractmethod
    def action(self) -> Action:
        """Return what the form does, for the confirmation matrix."""

    def warnings(self) -> Sequence[str]:
        """Return what the trader should know before it is sent."""
        return ()

    def opens_on(self) -> str:
        """Return the instrument whose fresh price it needs; empty for an exit."""
        return ""

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the instrument and the prices of the draft, for its chart; none of what cannot be read."""
        return "", ()

    @abstractmethod
    def confirmation(self) -> Confirmation:
        """Return the step that would send the form now."""

    # Its place: the column beside the chart, or over the left of the desk.

    @property
    def dock(self) -> int:
        """Columns beside chart and watchlist for this form; 0: there are none, or it is too long for them."""
        return 0 if self._is_long or self._is_spread else self.context.dock_columns()

    @property
    def is_narrow(self) -> bool:
        """Whether lines have to be short: two figures a line."""
        return bool(self.dock) and self.inside < FULL_LINES

    @property
    def docked_region(self) -> Region:
        """The part of the screen that the docked sheet covers; empty while it is not docked."""
        return self.sheet.region if self.dock and self.sheet is not None else Region()

    @property
    def sheet_width(self) -> int:
        """Columns of the sheet with its frame."""
        return self.dock or super().sheet_width

    @property
    def inside(self) -> int:
        """Columns of a line; beside the chart there is none to spare."""
        return self.dock - 2 if self.dock else super().inside

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Try the column beside the chart again."""
        if self._drawn_for != self.app.size:
            self._is_long = self._is_spread = self._hides_fields = False
            self._place()

    def _place(self) -> None:
        self.set_class(self.dock > 0, "-docked")
        if self.sheet is not None:
            self.sheet.styles.width = self.sheet_width

    # One snapshot for a redraw or a key.

    def drawing(self) -> AbstractContextManager[None]:
        """Compute the lines of the form in one snapshot, with the present average true ranges."""
        return self._snapshot.drawing()

    def as_painted(self) -> AbstractContextManager[None]:
        """Compute with the prices and funds that are on the screen."""
        return self._snapshot.as_painted()

    def once(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """Return what was computed under this key in the snapshot; outside of one, compute it."""
        return self._snapshot.once(key, compute)

    def trading_context_about(self, instrument: str) -> TradingContext | None:
        """Return the instrument's rules and price and the account's funds; None while one of them is missing."""
        return self._snapshot.context(instrument)

    # Its title and lines.

    @property
    def environment(self) -> str:
        """Return `live`, `practice` or `read-only`: the colour of the frame."""
        level, environment = (
            self.context.store.arming.level,
            self.context.store.health.environment,
        )
        return "read-only" if level == "READ-ONLY" else environment.lower()

    def title_sheet(self, sheet: Sheet) -> None:
        """Name the environment and the account."""
        account = self.context.store.account
        name = f"{account.alias or 'account'} …{account.id[-3:]}" if account else "no account"
        title = clean(f"{self.environment.upper()}  {name}")
        if account and self.dock and cell_len(title) > self.dock - TITLE_FRAME:
            title = clean(f"{self.environment.upper()}  …{account.id[-3:]}")
        sheet.entitle(title)

    def lines(self) -> Sequence[TextLine]:
        """Return headline, body, warnings and confirmation, as many as the screen has room for."""
        with self.drawing():
            return self._fitted_lines()

    def _undocked_lines(self) -> list[TextLine]:
        """Return the lines over the left of the desk, where there is more room."""
        self._is_long = True
        self._place()
        return self._fitted_lines()

    def _fitted_lines(self) -> list[TextLine]:
        lines = self._form_lines(self.confirmation())
        if self.dock and not lines.has_room(self._room):
            return self._undocked_lines()
        if lines.is_readable(self._room):
            return self._without_hidden(lines).fitted(self._room)
        if self.action() in EXITS:  # a small window never prevents an exit
            return [*lines.head, *lines.foot][-self._room :]
        return wrap_text(safe(self._hint or UNREADABLE), "danger", self.inside)[: self._room]

    def _without_hidden(self, lines: FormLines) -> FormLines:
        return lines.without_fields() if self._hides_fields else lines

    @property
    def _room(self) -> int:
        """Lines within the frame of the sheet."""
        return self.app.size.height - (2 + STRIPS if self.dock else 2)

    def _is_readable(self, confirmation: Confirmation) -> bool:
        return self._form_lines(confirmation).is_readable(self._room)

    def _form_lines(self, confirmation: Confirmation) -> FormLines:
        content, warnings = self._content(confirmation)
        return FormLines.of(
            content,
            self.field_lines() if len(content) > 1 else (),
            warnings,
            confirmation_lines(confirmation, self.HINTS, self.inside),
            details=self.details() if len(content) > 1 else (),
            subject=self.subject,
            hint=self._hint,
            width=self.inside,
        )

    def _content(self, confirmation: Confirmation) -> tuple[list[TextLine], Sequence[str]]:
        """Return headline, body and warnings; an exit can be sent although its figures cannot be shown."""
        try:
            warnings = () if confirmation.step is Step.REFUSED else self.warnings()
            return [self.headline(), *self.body()], warnings
        except UNUSABLE:
            return [((UNUSABLE_FIGURES, "danger"),)], ()

    def action_left_out(self) -> None:
        """Show the lines that were left out: over the desk, then in place of the fields; then go back."""
        lines = self._form_lines(self.confirmation())
        leaves_out = self._without_hidden(lines).leaves_out(self._room)
        if leaves_out and self.dock:
            self._is_spread, self._hint = True, "x goes back to the right column"
        elif leaves_out and not self._hides_fields:
            self._hides_fields = True
        elif self._is_spread or self._hides_fields:
            self._is_spread = self._hides_fields = False
        else:
            self._hint = "Nothing is left out"
        self._place()
        self.redraw()
