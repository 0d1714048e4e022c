"""The lines of a form fitted into its window: headline, fields and confirmation whole, the rest as far as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from keydesk.forms.sheet import BLANK, TextLine, docked, with_hints, wrap_words
from keydesk.keys.confirm import Confirmation, Step
from keydesk.keys.guard import SEND
from keydesk.text.sanitize import safe

MORE: TextLine = (("… more in a larger window", "muted"),)


@dataclass(frozen=True, slots=True)
class FormLines:
    """The lines of a form by what may be left out of a small window; each fits the width."""

    head: Sequence[TextLine]  # what the form does
    fields: Sequence[TextLine]  # what the trader types; they stand in the body too
    body: Sequence[TextLine]
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
        subject: str,
        hint: str,
        width: int,
    ) -> Self:
        """Return the lines of headline and body (`content`), fields and foot, folded where they are too long."""
        about: list[TextLine] = [((safe(subject), "muted"),)] if subject else []
        head, typed, body, last = (
            [part for line in lines for part in docked(line, width)]
            for lines in (content[:1], fields, (*about, *content[1:]), foot)
        )
        return cls(head, typed, body, warnings, last, hint, width)

    def is_readable(self, height: int) -> bool:
        """Return whether there is room for the lines without which nothing is sent."""
        return len(self.head) + len(self.fields) + len(self.foot) <= height

    def fitted(self, height: int) -> list[TextLine]:
        """Return as many lines as there is room for, where they are readable."""
        room = height - len(self.head) - len(self.foot)
        hint = wrap_words(safe(self.hint), "warn", self.width) if self.hint else []
        foot = [*hint, *self.foot] if len(hint) + len(self.fields) <= room else self.foot
        apart = [line for each in self.warnings for line in self._warning(f"▲ {each}")]
        lines = without_blanks([*self.head, *self.body, BLANK, *apart, *foot], height)
        if len(lines) <= height:
            return lines
        together = self._warning("  ".join(f"▲ {each}" for each in self.warnings))
        others = (line for line in self.body if line not in self.fields)
        return cut_above_foot(self.head, [*self.fields, *others, *together], foot, height)

    def _warning(self, words: str) -> list[TextLine]:
        return wrap_words(safe(words), "warn", self.width)


def without_blanks(lines: Sequence[TextLine], height: int) -> list[TextLine]:
    """Return the lines, without blank ones where the height is too small."""
    if len(lines) <= height:
        return list(lines)
    return [line for line in lines if line]


def cut_above_foot(
    head: Sequence[TextLine], body: Sequence[TextLine], foot: Sequence[TextLine], height: int
) -> list[TextLine]:
    """Return as many lines of the body as fit between head and foot, which are always complete."""
    kept = [line for line in body if line]
    room = height - len(head) - len(foot)
    if len(kept) > room:
        kept = [*kept[: room - 1], MORE] if room else []
    return [*head, *kept, *foot]


def confirmation_lines(asked: Confirmation, hints: TextLine, width: int) -> list[TextLine]:
    """Return what sends the form and what drops it, or why it cannot be sent."""
    drop: TextLine = (("Esc", "bright"), (" drops", "muted"))

    def foot(left: TextLine) -> TextLine:
        return with_hints(left, hints, drop, width)

    match asked.step:
        case Step.SEND_KEY:
            return [foot(((SEND, "bright"), (" sends", "plain")))]
        case Step.CHALLENGE if not asked.letter:
            return [foot((("another letter comes", "danger"),))]
        case Step.CHALLENGE:
            letter = safe(f"  {asked.letter}  ")
            to_send: TextLine = (
                ("type ", "danger"),
                (letter, "live-text on live"),
                (" to send", "danger"),
            )
            return [foot(to_send)]
        case Step.REFUSED:
            return [*wrap_words(safe(f"✗ {asked.reason}"), "danger", width), foot(())]
