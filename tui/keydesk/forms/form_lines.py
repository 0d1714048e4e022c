"""The lines of a form fitted into its window: headline, fields and confirmation whole, the rest as far as there is room.

A wide window has two columns, what the trader types and what follows from it. Where rows are missing, blank lines go first,
then details in the order that the form names.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Self

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.forms.modal_form import BLANK, TextLine, folded, with_hints, wrap_text
from keydesk.keys.confirm import Confirmation, Step
from keydesk.keys.guard import SEND
from keydesk.text.sanitize import safe

MORE: TextLine = (("… more in a larger window", "muted"),)
LEFT_OUT_KEY = "x"
KEYS_HINT: TextLine = (("?", "plain"), (" keys", "muted"))
COLUMN_GAP = 4  # between two columns
CHALLENGE_WIDTH = 28  # of a letter to type and the key that drops the form


class Part(Struct, frozen=True):
    """A line of the body, folded to the width of its column."""

    lines: Sequence[TextLine]
    left_out_at: int | None = None  # place among the details, 0 first; None: not a detail
    is_field: bool = False
    on_the_left: bool = False  # in the first of two columns


class FormLines(Struct, frozen=True):
    """The lines of a form by what may be left out of a small window; each fits the width."""

    head: Sequence[TextLine]  # what the form does
    body: Sequence[Part]
    warnings: Sequence[str]
    foot: Sequence[TextLine]  # what sends it
    hint: str  # about the last key
    width: int
    column: int  # columns of one of two; 0: there is one

    @classmethod
    def of(
        cls,
        head: Sequence[TextLine],
        content: Sequence[TextLine],
        fields: Sequence[TextLine],
        warnings: Sequence[str],
        foot: Sequence[TextLine],
        *,
        details: Sequence[TextLine] = (),
        hint: str,
        width: int,
        column: int = 0,
    ) -> Self:
        """Return the lines of a form, folded where they are too long.

        Args:
            head: What the form does.
            content: The body, its sections apart by blank lines. Of two columns the first has what the trader types,
                without such a section the first one.
            fields: The lines of the body that the trader types.
            warnings: What the trader should know before it is sent.
            foot: What sends it.
            details: The lines of the body that may be left out, the least important first.
            hint: About the last key.
            width: Columns.
            column: The width of one of two columns; 0: there is one.
        """
        sections = _sections_of(content)
        typed = [any(line and line in fields for line in each) for each in sections]
        body: list[Part] = []
        for number, section in enumerate(sections):
            left = typed[number] or (not any(typed) and not number)
            for line in section:
                detail = details.index(line) if line in details else None
                lines = folded(line, column or width)
                body.append(Part(lines, detail, bool(line) and line in fields, left))
            body.append(Part([BLANK], on_the_left=left))
        ends = ([part for line in lines for part in folded(line, width)] for lines in (head, foot))
        first, last = ends
        return cls(first, body[:-1], warnings, last, hint, width, column)

    @property
    def fields(self) -> list[TextLine]:
        """The lines that the trader types."""
        return [line for part in self.body if part.is_field for line in part.lines]

    def without_fields(self) -> Self:
        """Return the other lines alone, and the key that shows the fields again."""
        back: TextLine = ((LEFT_OUT_KEY, "bright"), (" shows the fields again", "muted"))
        others = [part for part in self.body if part.lines != [BLANK] and not part.is_field]
        return replace(self, body=[*others, Part([BLANK]), Part([back])])

    def is_readable(self, height: int) -> bool:
        """Return whether there is room for the lines without which nothing is sent."""
        return len(self.head) + len(self.fields) + len(self.foot) <= height

    def leaves_out(self, height: int) -> bool:
        """Return whether lines other than blank ones have to be left out."""
        lines = [*self.head, *self._body(0, blanks=False), *self._apart(), *self.foot]
        return len(without_blanks(lines, 0)) > height

    def fitted(self, height: int, snug: int = 0) -> list[TextLine]:
        """Return as many lines as there is room for, where they are readable.

        Blank lines stand only within `snug` lines: beyond them the form would cover panes for the sake of blanks.
        """
        room = height - len(self.head) - len(self.foot)
        hint = self._hint_lines()
        foot = [*hint, *self.foot] if len(hint) + len(self.fields) <= room else self.foot
        apart, together = self._apart(), self._together()
        between = [BLANK] if self.column else []
        with_blanks = min(snug, height) or height
        for blanks in (True, False):
            body = self._body(0, blanks=blanks)
            lines = [*self.head, *between, *body, BLANK, *apart, *foot]
            if len(lines := without_blanks(lines, with_blanks)) <= with_blanks:
                return lines
        numbers = sorted(each.left_out_at for each in self.body if each.left_out_at is not None)
        for left_out in (0, *(number + 1 for number in numbers)):
            body = self._body(left_out, blanks=False)
            for warnings in (apart, together):
                lines = without_blanks([*self.head, *body, *warnings, *foot], 0)
                if len(lines) <= height:
                    return lines
        others = [
            line for part in self._parts_without(0) if not part.is_field for line in part.lines
        ]
        return cut_above_foot(self.head, [*self.fields, *together, *others], foot, height)

    def _parts_without(self, left_out: int) -> list[Part]:
        """Return the parts without the first details."""
        return [
            part for part in self.body if part.left_out_at is None or part.left_out_at >= left_out
        ]

    def _body(self, left_out: int, *, blanks: bool) -> list[TextLine]:
        """Return the body without the first details, and how many those are."""
        parts = self._parts_without(left_out)
        missing = len(self.body) - len(parts)
        more = [left_out_line(missing)] if missing else []
        if not self.column:
            return [*(line for part in parts for line in part.lines), *more]
        left, right = (
            _trimmed(
                [line for part in parts if part.on_the_left is first for line in part.lines],
                blanks=blanks,
            )
            for first in (True, False)
        )
        return beside(left, [*right, *more], self.column)

    def _apart(self) -> list[TextLine]:
        return [line for each in self.warnings for line in self._warning(f"▲ {each}")]

    def _together(self) -> list[TextLine]:
        return self._warning("  ".join(f"▲ {each}" for each in self.warnings))

    def _hint_lines(self) -> list[TextLine]:
        return wrap_text(safe(self.hint), "warn", self.width) if self.hint else []

    def _warning(self, text: str) -> list[TextLine]:
        return wrap_text(safe(text), "warn", self.width) if text else []


def _sections_of(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return the lines between blank ones."""
    sections: list[list[TextLine]] = [[]]
    for line in lines:
        if line:
            sections[-1].append(line)
        else:
            sections.append([])
    return [each for each in sections if each]


def _trimmed(lines: Sequence[TextLine], *, blanks: bool) -> list[TextLine]:
    """Return a column without a blank line at its end, or without any."""
    column = [line for line in lines if line or blanks]
    while column and not column[-1]:
        column.pop()
    return column


def beside(left: Sequence[TextLine], right: Sequence[TextLine], column: int) -> list[TextLine]:
    """Return two columns of lines side by side."""
    lines: list[TextLine] = []
    for first, second in zip_longest(left, right, fillvalue=BLANK):
        taken = sum(cell_len(text) for text, _ in first)
        pad = safe(" " * (column - taken + COLUMN_GAP))
        lines.append((*first, (pad, "plain"), *second) if second else first)
    return lines


def left_out_line(count: int) -> TextLine:
    """Return how many lines are left out, and the key that shows them."""
    return (
        (safe(f"… {count} more: "), "muted"),
        (LEFT_OUT_KEY, "bright"),
        (" shows", "muted"),
    )


def without_blanks(lines: Sequence[TextLine], height: int) -> list[TextLine]:
    """Return the lines, without as many blank ones as the height requires: the first, the last, then all of them."""
    kept, blank = list(lines), [at for at, line in enumerate(lines) if not line]
    for at in (blank[0], blank[-1] - 1) if len(blank) > 1 else ():
        if len(kept) > height:
            del kept[at]
    return kept if len(kept) <= height else [line for line in kept if line]


def cut_above_foot(
    head: Sequence[TextLine], body: Sequence[TextLine], foot: Sequence[TextLine], height: int
) -> list[TextLine]:
    """Return as many lines of the body as fit between head and foot, which are always complete."""
    lines = [line for line in body if line]
    room = height - len(head) - len(foot)
    if len(lines) > room:
        lines = [*lines[: room - 1], MORE] if room else []
    return [*head, *lines, *foot]


def confirmation_lines(
    confirmation: Confirmation, hints: TextLine, width: int, *, is_touched: bool = True
) -> list[TextLine]:
    """Return what sends the form and what drops it, or why it cannot be sent: no error before a key was pressed."""
    drop: TextLine = (("Esc", "bright"), (" drops", "muted"))

    def foot(left: TextLine) -> TextLine:
        return with_hints(left, (hints, KEYS_HINT) if hints else (), drop, width)

    match confirmation.step:
        case Step.SEND_KEY:
            return [foot(((SEND, "bright"), (" sends", "plain")))]
        case Step.CHALLENGE if not confirmation.letter:
            return [foot((("another letter comes", "danger"),))]
        case Step.CHALLENGE:
            letter = safe(f"  {confirmation.letter}  ")
            to_send: TextLine = (
                ("type ", "danger"),
                (letter, "live-text on live"),
                (" to send", "danger"),
            )
            return [foot(to_send)] if width >= CHALLENGE_WIDTH else [to_send, foot(())]
        case Step.REFUSED:
            if is_touched or not confirmation.is_of_draft:
                return [*wrap_text(safe(f"✗ {confirmation.reason}"), "danger", width), foot(())]
            return [*wrap_text(safe(confirmation.reason), "plain", width), foot(())]
