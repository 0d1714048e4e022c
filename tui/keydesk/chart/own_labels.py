"""The labels of own prices beside the axis: few enough that each is read, and every own price is in one of them.

A kind of own prices (stops, targets, buy orders, sell orders, entries of long trades ...) has a label on either side of the
last price: the nearest price. Farther ones have a label each while their rows are free and all labels take at most half of
the rows; the last of a kind counts the rest, as in "4 stops from 1.13585". Entries have a label each where all are in sight
with a free row between them, else their average, with the units and the number of trades: "long 110k, 11 trades".

Planned prices have one each in any case. Where rows are fewer than kinds, the last label counts the other kinds, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from keydesk.chart.canvas import Run, width_of
from keydesk.chart.price_axis import PriceLine, Rank
from keydesk.chart.scale import Scale
from keydesk.text import format as show
from keydesk_client.arithmetic.constants import ZERO

IMPORTANCE = ("stop", "entry")  # roles whose labels stay longest; of others, the nearest
Key = Callable[[PriceLine], object]


class OwnLabel(Struct, frozen=True):
    """Own prices that one label stands for."""

    line: PriceLine  # what it shows: the nearest price, of several entries their average
    lines: tuple[PriceLine, ...]

    def name(self, room: int) -> tuple[Run, ...]:
        """Return what stands beside the price and how many the label counts; a number is never cut."""
        line = self.line
        own = [each for each in self.lines if kind_of(each) == kind_of(line)]
        count, others = len(own), len(self.lines) - len(own)
        first = times = word = ""
        nouns = [line.text + _size(line), line.text, line.text.split(" ")[0]]
        if count > 1 and is_entry(line):
            times = f" ×{count}"
        elif count > 1:
            first, nouns = f"{count} ", _plurals(own)
            word = " from" if len({each.price for each in own}) > 1 else " at"
        full = [f"{nouns[0]}, {count} trades"] if times else []
        names = full + [first + noun + times for noun in nouns]
        has_stop = line.role != "stop" and any(each.role == "stop" for each in self.lines)
        more_role = "stop" if has_stop else "muted"
        counts = (f", {show.counted(others, 'other')}", f" +{others}") if others else ("",)
        for more in (more + end for end in (word, "") for more in counts):
            for name in names:
                if len(name) + len(more) <= room:
                    return (name, line.role), (more, more_role)
        noun = nouns[-1][: max(0, room - len(first + times + counts[-1]))]
        return ((first + noun + times, line.role), (counts[-1], more_role)) if noun else ()


def _size(line: PriceLine) -> str:
    units = show.short_units(line.units, signed=False).replace(".0k", "k")
    return f" {units}" if line.units else ""


def _plurals(lines: Sequence[PriceLine]) -> list[str]:
    """Return the words for several prices of a kind: "buy limits" or, where there are buy stops, too, "buys"."""
    line, texts = lines[0], {each.text for each in lines}
    noun = "level" if line.rank == Rank.LEVEL else line.role
    return [f"{line.text}s"] * (len(texts) == 1 and line.role in line.text) + [f"{noun}s"]


def own_labels(
    scale: Scale, last: float, lines: Sequence[PriceLine], above: int, below: int
) -> tuple[list[OwnLabel], list[OwnLabel]]:
    """Return the labels above the last price and those below it, at most so many of each, the highest price first."""

    def single(line: PriceLine) -> object:
        kind = kind_of(line)
        return (kind, line.price) if kind in apart else _side(line, last)

    entries = {kind_of(line) for line in lines if is_entry(line)}
    apart = {kind for kind in entries if _are_apart(scale, kind, lines)}
    labels = _labels(lines, last, single)
    higher = sum(label.line.price >= last for label in labels)
    if 2 * len(labels) > scale.rows or higher > above or len(labels) - higher > below:
        labels = fewest_labels(lines, last)
    return (
        _most_important([each for each in labels if each.line.price >= last], above, last),
        _most_important([each for each in labels if each.line.price < last], below, last),
    )


def fewest_labels(lines: Iterable[PriceLine], last: float) -> list[OwnLabel]:
    """Return one label for each kind on either side of the last price."""
    return _labels(lines, last, lambda line: _side(line, last))


def _side(line: PriceLine, last: float) -> object:
    return kind_of(line), is_entry(line) or line.price >= last


def widest_name(lines: Sequence[PriceLine], room: int, price: int) -> int:
    """Return the columns that names need at most, however their prices lie; `price` more for those of orders."""
    labels = [*_labels(lines, 0.0, kind_of), *(OwnLabel(line, (line,)) for line in lines)]
    orders = [label.line.rank != Rank.PLANNED and not is_entry(label.line) for label in labels]
    sizes = [width_of(label.name(room)) for label in labels]
    return max(size + price * order for size, order in zip(sizes, orders, strict=True))


def is_entry(line: PriceLine) -> bool:
    """Return whether a price is the entry of a trade."""
    return line.role == "entry" and line.rank != Rank.PLANNED


def kind_of(line: PriceLine) -> tuple[object, ...]:
    """Return what prices that may share a label have in common."""
    if line.rank == Rank.PLANNED:
        return line.rank, line.text, line.price
    return (line.role, line.text) if is_entry(line) else (line.role,)


def _are_apart(scale: Scale, kind: object, lines: Iterable[PriceLine]) -> bool:
    """Return whether all prices of a kind are in sight with a free row between them."""
    prices = sorted({line.price for line in lines if kind_of(line) == kind})
    rows = [scale.row(price) for price in prices]
    return all(map(scale.holds, prices)) and all(one - other > 1 for one, other in pairwise(rows))


def _labels(lines: Iterable[PriceLine], last: float, key: Key) -> list[OwnLabel]:
    groups: dict[object, list[PriceLine]] = {}
    for line in sorted(lines, key=lambda line: abs(line.price - last)):
        groups.setdefault(key(line), []).append(line)
    return [OwnLabel(_shown(group), tuple(group)) for group in groups.values()]


def _shown(lines: Sequence[PriceLine]) -> PriceLine:
    first = lines[0]
    if len(lines) == 1 or not is_entry(first):
        return first
    weights = [float(line.units) or 1.0 for line in lines]
    total = sum(weight * line.price for weight, line in zip(weights, lines, strict=True))
    units = sum((line.units for line in lines), ZERO)
    return replace(first, price=total / sum(weights), units=units)


def _most_important(labels: Sequence[OwnLabel], room: int, last: float) -> list[OwnLabel]:
    """Return so many labels, the highest price first; the last of the important ones counts the rest."""

    def order(label: OwnLabel) -> tuple[float, ...]:
        line = label.line
        planned, level = line.rank == Rank.PLANNED, line.rank == Rank.LEVEL
        roles = [line.role != role for role in IMPORTANCE]
        return (not planned, *roles, level, abs(line.price - last))

    ranked = sorted(labels, key=order)
    kept, rest = ranked[:room], ranked[room:]
    if kept and rest:
        counted = [line for label in (kept[-1], *rest) for line in label.lines]
        kept[-1] = OwnLabel(kept[-1].line, tuple(counted))
    return sorted(kept, key=lambda label: -label.line.price)
