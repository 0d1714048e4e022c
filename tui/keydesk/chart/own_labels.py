"""The labels of own prices: one for prices that are equal, that share a row where rows are few, or of one name beyond the edge.

A label has one price: it names what stands at exactly that price, and counts the others that share it as "+n".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from keydesk.chart.canvas import Run, width_of
from keydesk.chart.price_axis import Axis, PriceLine, Rank
from keydesk.chart.scale import Scale, edge_rows

CROWDED = 2  # labels of single prices take at most one row in so many


class OwnLabel(Struct, frozen=True):
    """Own prices that one label names, the most important first: the label has its price and colour."""

    lines: tuple[PriceLine, ...]

    @property
    def first(self) -> PriceLine:
        """The price whose place, digits and colour the label has."""
        return self.lines[0]

    def name(self, room: int) -> tuple[Run, ...]:
        """Return the names of what is at its price, and how many others it stands for; it is cut before the number is."""
        here = [line for line in self.lines if line.price == self.first.price]
        counts, roles = Counter(line.text for line in here), {line.text: line.role for line in here}
        names = [
            (f"{text} ×{count}" if count > 1 else text, roles[text])
            for text, count in counts.items()
        ]
        text, role, total = self.first.text, self.first.role, len(self.lines)
        choices = (
            (names, total - len(here)),
            (names[:1], total - counts[text]),
            ([(text, role)], total - 1),
        )
        for named, others in choices:
            runs = _joined(named, others)
            if width_of(runs) <= room:
                return runs
        behind = f" +{total - 1}" if total > 1 else ""
        return (
            _joined([(text[: room - len(behind)], role)], total - 1) if room > len(behind) else ()
        )


def _joined(names: Sequence[Run], others: int) -> tuple[Run, ...]:
    """Return names with text between and behind them that has no role of theirs, which may underline."""
    runs = [each for name in names for each in ((", ", "muted"), name)][1:]
    return (*runs, (f" +{others}", "muted")) if others else tuple(runs)


def labels_of_side(
    axis: Axis, scale: Scale, last: float, lines: Iterable[PriceLine], room: int
) -> list[OwnLabel]:
    """Return the labels of the own prices on one side of the last price, at most so many, the highest price first."""
    if not room:
        return []
    by_importance = sorted(lines, key=_importance(last))
    near = [line for line in by_importance if scale.holds(line.price)]
    far = [line for line in by_importance if not scale.holds(line.price)]
    edge = _grouped(far, lambda line: (line.rank == Rank.PLANNED, line.text))
    edge = _merged(edge, max(1, _planned(edge), min(edge_rows(scale.rows), room - bool(near))))
    labels = _grouped(near, lambda line: axis.price(line.price))
    if CROWDED * len(labels) > room - len(edge):
        labels = _grouped(near, lambda line: _row_or_own(line, axis, scale))
    labels = _merged([*edge, *labels], room)
    return sorted(labels, key=lambda label: -label.first.price)


def _importance(last: float) -> Callable[[PriceLine], tuple[Rank, bool, float]]:
    """Return the order of importance: by rank, stops first, then the nearest."""
    return lambda line: (line.rank, line.role != "stop", abs(line.price - last))


def _row_or_own(line: PriceLine, axis: Axis, scale: Scale) -> str | int:
    return axis.price(line.price) if line.rank == Rank.PLANNED else scale.row(line.price)


def _grouped(lines: Sequence[PriceLine], key: Callable[[PriceLine], object]) -> list[OwnLabel]:
    groups: dict[object, list[PriceLine]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return [OwnLabel(tuple(group)) for group in groups.values()]


def _planned(labels: Sequence[OwnLabel]) -> int:
    return sum(label.first.rank == Rank.PLANNED for label in labels)


def _merged(labels: Sequence[OwnLabel], most: int) -> list[OwnLabel]:
    """Return at most so many labels: the most important ones, each other one counted by the nearest of them."""
    ranked = sorted(labels, key=lambda each: (each.first.rank, each.first.role != "stop"))
    kept = [list(label.lines) for label in ranked[:most]]
    for label in ranked[most:]:
        price = label.first.price
        min(kept, key=lambda lines: abs(lines[0].price - price)).extend(label.lines)
    return [OwnLabel(tuple(lines)) for lines in kept]
