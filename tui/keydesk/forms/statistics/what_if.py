"""The view of what-if: another stop or target in R, an exit at break-even, on the same trades, beside what they were."""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.trade_journal.statistics import Figure, Statistics
from keydesk.calc.trade_journal.what_if import WhatIf, WhatIfResult, what_if
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.forms.statistics.view import FEW_ROLE, View, ViewInput
from keydesk.text.format import money
from keydesk.text.sanitize import safe
from keydesk.trade_journal.what_if_text import RULE_NAMES, doubts, rule_text
from keydesk.widgets.theme import ColourRole, signed_role

STEP = Decimal("0.25")  # R
MAX_R = Decimal(20)
FIELDS = ("stop", "target", "break_even")
NAME_WIDTH, VALUE_WIDTH = 20, 14
NARROW_NAME_WIDTH = 14


class WhatIfData(Struct, frozen=True):
    """The result; None while candles are missing."""

    result: WhatIfResult | None


class WhatIfView(View[WhatIfData]):
    """What another stop, target or break-even would have made of the trades."""

    NAME: ClassVar[str] = "what-if"
    HINT: ClassVar[str] = "↑ ↓ rule   ← → by 0.25 R   0 R: as it was"
    READS: ClassVar[str] = "paths"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.rule = WhatIf()
        self.field = 0

    def key(self, given: ViewInput) -> Hashable:
        """Return the rule, and how many paths are known."""
        return self.rule, None if given.paths is None else len(given.paths)

    def compute(self, given: ViewInput) -> WhatIfData:
        """Apply the rule."""
        if given.paths is None:
            return WhatIfData(None)
        return WhatIfData(what_if(given.trades, given.paths, self.rule))

    def lines(self, data: WhatIfData, given: ViewInput) -> Sequence[TextLine]:
        """Return the rule, both columns of figures, and what is doubtful."""
        lines: list[TextLine] = [
            ((safe(f"What if: {rule_text(self.rule)}"), "bright"),),
            BLANK,
            *(self._field_line(number) for number in range(len(FIELDS))),
            BLANK,
        ]
        if given.progress:
            lines += [((given.progress, "focus"),), BLANK]
        result = data.result
        if result is None:
            return [*lines, (("The trades' candles are being read …", "muted"),)]
        if not result.before.n:
            text = "Not enough trades: none has both a first stop and candles."
            return [
                *lines,
                *wrap_text(safe(text), "muted", given.width),
                *_doubt_lines(result, given),
            ]
        return [*lines, *_table(result, given.width), BLANK, *_doubt_lines(result, given)]

    def _field_line(self, number: int) -> TextLine:
        name, chosen = FIELDS[number], number == self.field
        value: Decimal | None = getattr(self.rule, name)
        text = "as it was" if value is None else f"{value:.2f} R"
        return (
            ("▶ " if chosen else "  ", "focus"),
            (safe(f"{RULE_NAMES[name]:<{NAME_WIDTH}}"), "plain" if chosen else "muted"),
            ("◂ " if chosen else "  ", "focus"),
            (safe(f"{text:>10}"), "bright" if value is not None else "muted"),
            (" ▸" if chosen else "", "focus"),
        )

    def move(self, across: int, down: int) -> bool:
        """Choose a part of the rule, or change it."""
        self.field = (self.field + down) % len(FIELDS)
        if across:
            name = FIELDS[self.field]
            value: Decimal | None = getattr(self.rule, name)
            moved = min(MAX_R, max(Decimal(0), (value or Decimal(0)) + across * STEP))
            self.rule = replace(self.rule, **{name: moved or None})
        return True


def _table(result: WhatIfResult, width: int) -> list[TextLine]:
    """Return figures as they were, by the rule and their difference, which a narrow window leaves out."""
    is_narrow = width < NAME_WIDTH + 3 * VALUE_WIDTH
    names = NARROW_NAME_WIDTH if is_narrow else NAME_WIDTH
    cells = (width - names) // 2 if is_narrow else VALUE_WIDTH
    shown = 3 if is_narrow else 4
    head = f"{'':{names}}{'as it was':>{cells}}{'what if':>{cells}}"
    head += "" if is_narrow else f"{'difference':>{cells}}"
    lines: list[TextLine] = [((safe(head), "muted"),)]
    for name, before, after, is_better_up in _rows(result.before, result.after):
        is_doubtful = bool(before.doubt)
        change = _difference(before.value, after.value)
        role: ColourRole = signed_role(change) if is_better_up else "plain"
        line: list[Words] = [
            (safe(f"{name:<{names}}"), "muted"),
            (safe(f"{_value(before.value):>{cells}}"), FEW_ROLE if is_doubtful else "plain"),
            (safe(f"{_value(after.value):>{cells}}"), FEW_ROLE if is_doubtful else "bright"),
            (safe(f"{money(change, signed=True):>{cells}}"), FEW_ROLE if is_doubtful else role),
        ]
        lines.append(line[:shown])
    n = result.before.total
    counts = f"{'trades':<{names}}{n.n:>{cells}}{n.n:>{cells}}"
    tone: ColourRole = "faint" if n.doubt else "muted"
    if is_narrow:
        return [*lines, ((safe(counts), tone),), *wrap_text(safe(n.doubt), tone, width)]
    return [*lines, ((safe(f"{counts}{n.doubt:>{cells + 4}}"), tone),)]


def _rows(before: Statistics, after: Statistics) -> list[tuple[str, Figure, Figure, bool]]:
    """Return name, both figures, and whether more is better."""

    def drawdown(statistics: Statistics) -> Figure:
        return replace(statistics.total, value=-statistics.drawdown.money)

    def won(statistics: Statistics) -> Figure:
        share = statistics.win_rate.value
        return replace(statistics.win_rate, value=None if share is None else share * 100)

    return [
        ("result", before.total, after.total, True),
        ("win %", won(before), won(after), False),
        ("average win", before.average_win, after.average_win, True),
        ("average loss", before.average_loss, after.average_loss, True),
        ("expectancy", before.expectancy, after.expectancy, True),
        ("expectancy R", before.expectancy_r, after.expectancy_r, True),
        ("profit factor", before.profit_factor, after.profit_factor, True),
        ("max drawdown", drawdown(before), drawdown(after), True),
        ("SQN", before.sqn, after.sqn, True),
    ]


def _value(value: Decimal | None) -> str:
    if value is not None and not value.is_finite():
        return "∞"
    return str(money(value))


def _difference(before: Decimal | None, after: Decimal | None) -> Decimal | None:
    if before is None or after is None or not (before.is_finite() and after.is_finite()):
        return None
    return after - before


def _doubt_lines(result: WhatIfResult, given: ViewInput) -> list[TextLine]:
    return [line for text in doubts(result) for line in wrap_text(safe(text), "muted", given.width)]
