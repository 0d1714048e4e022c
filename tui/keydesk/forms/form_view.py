"""The picture of a form that sends: its lines, as many as there is room for, and its place on the screen.

In a wide window it stands in two columns below the chart, else over the left of the desk.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, TypeVar

from msgspec.structs import replace
from rich.cells import cell_len
from textual.events import Resize
from textual.geometry import Region

from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.form_lines import COLUMN_GAP, FormLines, confirmation_lines
from keydesk.forms.modal_form import (
    BLANK,
    FormContext,
    ModalForm,
    TextLine,
    Words,
    two_ends,
    wrap_text,
)
from keydesk.forms.panel import Panel
from keydesk.keys.confirm import EXITS, Action, Confirmation, Step
from keydesk.store.trading_context import Snapshot
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Result

Computed = TypeVar("Computed")

UNUSABLE = (ArithmeticError, ValueError)
"""Raised by arithmetic on invalid figures of the broker, such as a size of 0."""

UNUSABLE_FIGURES = "The broker's figures for this are invalid"
UNREADABLE = "Enlarge this window: nothing is sent that it does not show"
WIDE_FROM = 120  # columns of a window in which a form has two columns
WIDE = 120  # columns of such a form with its frame
LEAST_BESIDE = 28  # columns that are worth being left beside it; else it is as wide as the window
FRAME = 6  # columns of frame and blanks of a wide form
STRIPS = 2  # rows of account and health, which a form in a wide window does not cover


class FormView(ModalForm[Result]):
    """What a form shows: headline and body, warnings, confirmation."""

    WIDTH: ClassVar[int] = 60
    ACTION: ClassVar[Action]  # where the form always does the same
    TWO_COLUMNS: ClassVar[bool] = True  # in a wide window
    DEFAULT_CSS = """
    FormView { align: left middle; }
    FormView.-docked { align: right bottom; }
    FormView > Panel {
        height: auto; padding: 0 1; background: $background; border: heavy $readonly;
        border-title-style: bold; border-title-color: $bright;
    }
    FormView.-wide > Panel { padding: 0 2; }
    FormView.-practice > Panel { border: heavy $practice; }
    FormView.-live > Panel { border: heavy $live; border-title-color: $live-text; border-title-background: $live; }
    """

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self._hides_fields = False  # to show the lines left out in their place
        self.is_touched = False  # a key was pressed in it: before, nothing is wrong
        super().__init__(classes=f"-{self.environment}")
        self._hint = ""
        self.subject = ""  # why the form is about this trade, where its row was not chosen
        self._snapshot = Snapshot(context.store, context.clock)

    # To be implemented by each form.

    @abstractmethod
    def headline(self) -> TextLine:
        """Return in words what the form will do."""

    def hints(self) -> TextLine:
        """Return the keys of its fields that no line of it shows."""
        return ()

    def price_line(self) -> TextLine:
        """Return the price that the form goes by; it stands beside the headline where there is room."""
        return ()

    def field_lines(self) -> Sequence[TextLine]:
        """Return the lines that nothing is sent without: what the trader types."""
        return ()

    def effect(self) -> Sequence[TextLine]:
        """Return the lines of what follows: the right column of a wide window, sections apart by blank lines."""
        return ()

    def body(self) -> Sequence[TextLine]:
        """Return the lines between headline and confirmation."""
        fields = self.field_lines()
        return [*fields, BLANK, *self.effect()] if fields else self.effect()

    def details(self) -> Sequence[TextLine]:
        """Return the lines of the body that are left out where rows are missing, the least important first."""
        return ()

    def action(self) -> Action:
        """Return what the form does, for the confirmation matrix."""
        return self.ACTION

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

    # Its place: below the chart of a wide window, or over the left of the desk.

    @property
    def is_docked(self) -> bool:
        """Whether it stands below the chart."""
        return self.app.size.width >= WIDE_FROM

    @property
    def docked_region(self) -> Region:
        """The part of the screen that the docked panel covers; empty while it is not docked."""
        return self.panel.region if self.is_docked and self.panel is not None else Region()

    @property
    def column(self) -> int:
        """The width of one of two columns; 0: there is one."""
        if not (self.is_docked and self.TWO_COLUMNS):
            return 0
        return (self.panel_width - FRAME - COLUMN_GAP) // 2

    @property
    def panel_width(self) -> int:
        """Columns of the panel with its frame."""
        if not (self.is_docked and self.TWO_COLUMNS):
            return super().panel_width
        width = self.app.size.width
        return WIDE if width >= WIDE + LEAST_BESIDE else width

    @property
    def inside(self) -> int:
        """Columns of a line of the body."""
        return self.column or super().inside

    @property
    def across(self) -> int:
        """Columns of a line from edge to edge."""
        return self.panel_width - FRAME if self.column else super().inside

    def new_panel(self) -> Panel:
        """Return the panel in its place for the present size."""
        self._place()
        panel = super().new_panel()
        self._place_panel(panel)
        return panel

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Take the place for the new size."""
        if self._drawn_for != self.app.size:
            self._hides_fields = False
            self._place()

    def _place(self) -> None:
        self.set_class(self.is_docked, "-docked")
        self.set_class(self.column > 0, "-wide")
        if self.panel is not None:
            self._place_panel(self.panel)

    def _place_panel(self, panel: Panel) -> None:
        panel.styles.width = self.panel_width
        panel.styles.margin = (0, 0, self._rows_below, 0)

    # One snapshot for a redraw or a key.

    def drawing(self) -> AbstractContextManager[None]:
        """Compute the lines of the form in one snapshot, with the present average true ranges."""
        return self._snapshot.drawing()

    def as_painted(self) -> AbstractContextManager[None]:
        """Compute with the prices and funds that are on the screen."""
        return self._snapshot.as_painted()

    def take_limits(self, limits: Limits) -> None:
        """Go by other limits from now on: tighter ones refuse what is open, too."""
        self.context = replace(self.context, limits=limits)
        self.redraw()

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

    def title_panel(self, panel: Panel) -> None:
        """Name the environment and the account."""
        account = self.context.store.account
        name = f"{account.alias or 'account'} …{account.id[-3:]}" if account else "no account"
        title = clean(f"{self.environment.upper()}  {name}")
        panel.entitle(title)

    def lines(self) -> Sequence[TextLine]:
        """Return headline, body, warnings and confirmation, as many as the screen has room for."""
        with self.drawing():
            return self._fitted_lines()

    def _fitted_lines(self) -> list[TextLine]:
        lines = self._form_lines(self.confirmation())
        if lines.is_readable(self._room):
            return self._without_hidden(lines).fitted(self._room, self._snug)
        if self.action() in EXITS:  # a small window never prevents an exit
            return [*lines.head, *lines.foot][-self._room :]
        return wrap_text(safe(self._hint or UNREADABLE), "danger", self.across)[: self._room]

    def _without_hidden(self, lines: FormLines) -> FormLines:
        return lines.without_fields() if self._hides_fields else lines

    @property
    def _room(self) -> int:
        """Lines within the frame of the panel."""
        return self.app.size.height - (2 + STRIPS + self._rows_below if self.is_docked else 2)

    @property
    def _snug(self) -> int:
        """Lines of a docked panel that covers only lists and what is below them; 0: it may take what it likes."""
        rows = self.rows_of_lists if self.is_docked else 0
        return max(0, rows - 2 - self._rows_below)

    @property
    def _rows_below(self) -> int:
        """Rows below the docked panel: beside the desk it leaves the footer whole."""
        return int(self.is_docked and self.panel_width < self.app.size.width)

    def _is_readable(self, confirmation: Confirmation) -> bool:
        return self._form_lines(confirmation).is_readable(self._room)

    def _form_lines(self, confirmation: Confirmation) -> FormLines:
        head, body, warnings = self._content(confirmation)
        foot = confirmation_lines(
            replace(confirmation, reason=self.key_words(safe(confirmation.reason))),
            [(self.key_words(words), role) for words, role in self.hints()],
            self.across,
            is_touched=self.is_touched,
        )
        if self.app.screen is not self:  # the page over it has the keys: they neither send nor drop
            foot = [_muted(line) for line in foot]
        return FormLines.of(
            head,
            body,
            self.field_lines() if body else (),
            warnings,
            foot,
            details=self.details() if body else (),
            hint=self._hint,
            width=self.across,
            column=self.column,
        )

    def _content(
        self, confirmation: Confirmation
    ) -> tuple[list[TextLine], list[TextLine], Sequence[str]]:
        """Return headline, body and warnings; an exit can be sent although its figures cannot be shown."""
        try:
            warnings = () if confirmation.step is Step.REFUSED else self.warnings()
            head, body = [self.headline()], [*self.body()]
            price = self.price_line()
        except UNUSABLE:
            return [((UNUSABLE_FIGURES, "danger"),)], [], ()
        if self.subject:
            head.append(((safe(self.subject), "muted"),))
        taken = sum(cell_len(text) for text, _ in (*head[0], *price))
        if price and self.column and taken < self.across:
            head[0] = two_ends(head[0], price, self.across)
        elif price:
            body = [price, BLANK, *body]
        return head, body, warnings

    def action_left_out(self) -> None:
        """Show the lines that were left out in place of the fields; then go back."""
        lines = self._form_lines(self.confirmation())
        if self._hides_fields:
            self._hides_fields = False
        elif lines.leaves_out(self._room):
            self._hides_fields = True
        else:
            self._hint = "Nothing is left out"
        self.redraw()


def _muted(line: TextLine) -> TextLine:
    words: list[Words] = []
    for text, _ in line:
        words.append((text, "muted"))
    return words
