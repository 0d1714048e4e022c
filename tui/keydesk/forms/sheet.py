"""The paper of a form: lines of words by role, turned into one text of the width there is."""

from collections.abc import Iterable, Sequence

from rich.text import Text
from textual.widgets import Static

from keydesk.text.sanitize import Printable, safe
from keydesk.text.wrapping import lines_of
from keydesk.widgets.theme import Palette

Words = tuple[Printable, str]  # text, role; "live-text on live" stands on another role's colour
Line = Sequence[Words]

BLANK: Line = ()
GAP = 2  # columns at least on either side of hints


def text_of(lines: Iterable[Line], palette: Palette) -> Text:
    """Return the lines in the theme's styles; server text in them is cleaned."""
    text = Text(no_wrap=True, end="")
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for words, role in line:
            front, _, backdrop = role.partition(" on ")
            style = palette.on(front, backdrop) if backdrop else palette[front]
            text.append(safe(words), style)
    return text


def wrapped(words: Printable, role: str, width: int) -> list[Line]:
    """Return a sentence over as many lines as it needs, so that nothing of it is cut."""
    return [((line, role),) for line in lines_of(words, width)]


def two_ends(left: Line, right: Line, width: int) -> Line:
    """Return one line with words at both its ends; at least one column is between them."""
    taken = sum(len(words) for words, _ in (*left, *right))
    return (*left, (" " * max(1, width - taken), "plain"), *right)


def with_hints(left: Line, hints: Line, right: Line, width: int) -> Line:
    """Return a line with words at both its ends, and hints between them where there is room."""
    sizes = [sum(len(words) for words, _ in part) for part in (left, hints, right)]
    spare = width - sum(sizes)
    if not hints or spare < 2 * GAP:
        return two_ends(left, right, width)
    lead = spare // 2 if left else 0
    return (*left, (" " * lead, "plain"), *two_ends(hints, right, width - sizes[0] - lead))


class Sheet(Static):
    """The framed paper itself; what did not change is not drawn again."""

    # The lines are made for the width: wrapped once more they would push the last ones off the screen.
    DEFAULT_CSS = "Sheet { text-wrap: nowrap; text-overflow: ellipsis; }"

    _shown: Text | None = None

    def show(self, text: Text) -> None:
        """Put the lines on the paper; only another number of lines asks for a new layout."""
        before, self._shown = self._shown, text
        if before is not None and before == text and before.spans == text.spans:
            return
        height = text.plain.count("\n")
        self.update(text, layout=before is None or before.plain.count("\n") != height)
