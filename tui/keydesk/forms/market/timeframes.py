"""The form that lists every candle length, the present one marked. It sends nothing."""

from collections.abc import Sequence
from typing import ClassVar, Final

from keydesk.calc.market.granularity import ALIGNMENT, SECONDS
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import TextLine, Words
from keydesk.keys.keymap import TIMEFRAMES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.sanitize import Printable, safe

UNITS: Final = (("seconds", 1), ("minutes", 60), ("hours", 3600), ("days and longer", 86_400))
NAMES: Final = tuple(SECONDS)
GROUPS: Final = tuple(
    tuple(
        name
        for name in NAMES
        if seconds <= SECONDS[name] < (UNITS[i + 1][1] if i + 1 < len(UNITS) else float("inf"))
    )
    for i, (_, seconds) in enumerate(UNITS)
)
"""The lengths of each row."""
LONG_WORDS: Final = {"D": "1 day", "W": "1 week", "M": "1 month"}


class TimeframeForm(InfoForm[str]):
    """Returns the candle length chosen.

    Args:
        now: The present one.
    """

    KEY_CONTEXT: ClassVar[str] = TIMEFRAMES
    BINDINGS = bindings_of(TIMEFRAMES)
    WIDTH: ClassVar[int] = 48
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, now: str) -> None:
        super().__init__()
        self._now = now
        self.chosen = now if now in SECONDS else NAMES[0]

    def title_text(self) -> Printable:
        return "Timeframe"

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "Arrows choose  Enter takes  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """List the lengths by their units, and say what the chosen one is."""
        grid = [self._line(group) for group in GROUPS]
        return [*grid, ((safe(words_of(self.chosen)), "muted"),)]

    def _line(self, group: Sequence[str]) -> TextLine:
        cells: list[Words] = []
        for name in group:
            is_chosen, is_now = name == self.chosen, name == self._now
            cells += [
                ("▶" if is_chosen else " ", "focus"),
                ("x" if is_now else " ", "good"),
                (safe(f"{name:<4}"), "bright" if is_chosen or is_now else "plain"),
            ]
        return tuple(cells)

    def action_choose(self, step: int) -> None:
        """Go to the next length, or the one before."""
        at = NAMES.index(self.chosen) + step
        self.chosen = NAMES[max(0, min(len(NAMES) - 1, at))]
        self.redraw()

    def action_unit(self, step: int) -> None:
        """Go to the lengths of the next unit, or of the one before, in the same column as far as there is one."""
        row = next(i for i, group in enumerate(GROUPS) if self.chosen in group)
        column = GROUPS[row].index(self.chosen)
        group = GROUPS[max(0, min(len(GROUPS) - 1, row + step))]
        self.chosen = group[min(column, len(group) - 1)]
        self.redraw()

    def action_take(self) -> None:
        self.dismiss(self.chosen)


def words_of(granularity: str) -> str:
    """Return a candle length in words, and where it begins."""
    if granularity in LONG_WORDS:
        return f"{LONG_WORDS[granularity]}, {ALIGNMENT[granularity]}"
    seconds = SECONDS[granularity]
    word, size = next((w, s) for w, s in reversed(UNITS[:3]) if seconds >= s)
    count = seconds // size
    return f"{count} {word if count > 1 else word.removesuffix('s')}"
