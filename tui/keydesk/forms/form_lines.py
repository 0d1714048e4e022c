"""The lines of a form fitted into its window: headline, fields and confirmation whole, the rest as far as there is room.

Where rows are missing, blank lines go first, then details in the order that the form names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from keydesk.forms.sheet import BLANK, TextLine, docked, with_hints, wrap_text
from keydesk.keys.confirm import Confirmation, Step
from keydesk.keys.guard import SEND
from keydesk.text.sanitize import safe

MORE: TextLine = (("… more in a larger window", "muted"),)
LEFT_OUT_KEY = "x"
KEYS_HINT: TextLine = (("?", "plain"), (" keys", "muted"))
CHALLENGE_WIDTH = 28  # of a letter to type and the key that drops the form


@dataclass(frozen=True, slots=True)
class Part:
    """A line of the body, folded to the width."""

    lines: Sequence[TextLine]
    left_out_at: int | None = None  # place among the details, 0 first; None: not a detail
    is_field: bool = False


@dataclass(frozen=True, slots=True)
class FormLines:
    """The lines of a form by what may be left out of a small window; each fits the width."""

    head: Sequence[TextLine]  # what the form does
    body: Sequence[Part]
    warnings: Sequence[str]
    foot: Sequence[TextLine]  # what sends it
    hint: str  # about the last key
    width: int

    @classmethod
    def of(
        cls,
        content: Sequence[TextLine],
        fields: Sequence[TextLine],
        warnings: Sequence[str],
        foot: Sequence[TextLine],
        *,
        details: Sequence[TextLine] = (),
        subject: str,
        hint: str,
        width: int,
    ) -> Self:
        """Return the lines of headline and body (`content`) and foot, folded where they are too long.

        Args:
            content: The headline, then the body.
            fields: The lines of the body that the trader types.
            warnings: What the trader should know before it is sent.
            foot: What sends it.
            details: The lines of the body that may be left out, the least important first.
            subject: Why the form is about its trade.
            hint: About the last key.
            width: Columns.
        """
        about: list[TextLine] = [((safe(subject), "muted"),)] if subject else []
        head, last = (
            [part for line in lines for part in docked(line, width)]
            for lines in (content[:1], foot)
        )
        body = [
            Part(
                docked(line, width),
                details.index(line) if line in details else None,
                bool(line) and line in fields,
            )
            for line in (*about, *content[1:])
        ]
        return cls(head, body, warnings, last, hint, width)

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

    def has_room(self, height: int) -> bool:
        """Return whether nothing but blank lines and details has to be left out."""
        least = [
            *self.head,
            *self._body(len(self.body)),
            *self._together(),
            *self._hint_lines(),
            *self.foot,
        ]
        return sum(map(bool, least)) <= height

    def leaves_out(self, height: int) -> bool:
        """Return whether lines other than blank ones have to be left out."""
        return (
            len(without_blanks([*self.head, *self._body(0), *self._apart(), *self.foot], 0))
            > height
        )

    def fitted(self, height: int) -> list[TextLine]:
        """Return as many lines as there is room for, where they are readable."""
        room = height - len(self.head) - len(self.foot)
        hint = self._hint_lines()
        foot = [*hint, *self.foot] if len(hint) + len(self.fields) <= room else self.foot
        apart, together = self._apart(), self._together()
        lines = without_blanks([*self.head, *self._body(0), BLANK, *apart, *foot], height)
        if len(lines) <= height:
            return lines
        numbers = sorted(each.left_out_at for each in self.body if each.left_out_at is not None)
        for left_out in (0, *(number + 1 for number in numbers)):
            body = self._body(left_out)
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

    def _body(self, left_out: int) -> list[TextLine]:
        """Return the body without the first details, and how many those are."""
        parts = self._parts_without(left_out)
        lines = [line for part in parts for line in part.lines]
        missing = len(self.body) - len(parts)
        return [*lines, left_out_line(missing)] if missing else lines

    def _apart(self) -> list[TextLine]:
        return [line for each in self.warnings for line in self._warning(f"▲ {each}")]

    def _together(self) -> list[TextLine]:
        return self._warning("  ".join(f"▲ {each}" for each in self.warnings))

    def _hint_lines(self) -> list[TextLine]:
        return wrap_text(safe(self.hint), "warn", self.width) if self.hint else []

    def _warning(self, text: str) -> list[TextLine]:
        return wrap_text(safe(text), "warn", self.width) if text else []


def left_out_line(count: int) -> TextLine:
    """Return how many lines are left out, and the key that shows them."""
    return (
        (safe(f"… {count} more: "), "muted"),
        (LEFT_OUT_KEY, "bright"),
        (" shows", "muted"),
    )


def without_blanks(lines: Sequence[TextLine], height: int) -> list[TextLine]:
    """Return the lines, without blank ones where the height is too small."""
    if len(lines) <= height:
        return list(lines)
    return [line for line in lines if line]


def cut_above_foot(
    head: Sequence[TextLine], body: Sequence[TextLine], foot: Sequence[TextLine], height: int
) -> list[TextLine]:
    """Return as many lines of the body as fit between head and foot, which are always complete."""
    lines = [line for line in body if line]
    room = height - len(head) - len(foot)
    if len(lines) > room:
        lines = [*lines[: room - 1], MORE] if room else []
    return [*head, *lines, *foot]


def confirmation_lines(confirmation: Confirmation, hints: TextLine, width: int) -> list[TextLine]:
    """Return what sends the form and what drops it, or why it cannot be sent."""
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
            return [*wrap_text(safe(f"✗ {confirmation.reason}"), "danger", width), foot(())]
