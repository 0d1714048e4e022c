"""The labels of own prices: each price has one while there are rows, else those share one that share a row, or a name beyond the edge.

A label has one price: it names what stands at exactly that price, and counts the others that share it as "+n". Entries of
open trades inside the chart are the last to be counted so; a label that counts prices beyond the edge has the nearest price,
of the most numerous kind unless the nearest is a stop, and says how many of that kind there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from msgspec import Struct

from keydesk.chart.canvas import Run, width_of
from keydesk.chart.price_axis import Axis, PriceLine, Rank
from keydesk.chart.scale import Scale, edge_rows

STOPS_AND_OTHERS = 2  # labels beyond the edge, where there are stops
FEW_ENTRIES = 3  # on one side, each with a label of its own while they have rows


class OwnLabel(Struct, frozen=True):
    """Own prices that one label stands for: it has the place, number and colour of the first."""

    lines: tuple[PriceLine, ...]
    counts_kind: bool = False  # beyond the edge: its name counts all of its kind, of whatever price

    @property
    def first(self) -> PriceLine:
        """The price whose place, digits and colour the label has."""
        return self.lines[0]

    def name(self, room: int) -> tuple[Run, ...]:
        """Return the names of what is at its price, and how many others it stands for; it is cut before the number is.

        The number has the colour of stops if one is among the others.
        """
        here = [line for line in self.lines if self._is_named(line)]
        counts, roles = Counter(line.text for line in here), {line.text: line.role for line in here}
        names = [
            (f"{text} ×{count}" if count > 1 else text, roles[text])
            for text, count in counts.items()
        ]
        text, role = self.first.text, self.first.role
        elsewhere = [line for line in self.lines if not self._is_named(line)]
        unnamed = [line for line in here if line.text != text]
        choices = (
            (names, elsewhere),
            (names[:1], [*unnamed, *elsewhere]),
            ([(text, role)], self.lines[1:]),
        )
        for named, others in choices:
            runs = _joined(named, others)
            if width_of(runs) <= room:
                return runs
        cut = room - width_of(_joined((), self.lines[1:]))
        return _joined([(text[:cut], role)], self.lines[1:]) if cut > 0 else ()

    def _is_named(self, line: PriceLine) -> bool:
        first = self.first
        return line.price == first.price or (self.counts_kind and line.text == first.text)


def _joined(names: Sequence[Run], others: Sequence[PriceLine]) -> tuple[Run, ...]:
    """Return names and a number of others, with text between that has no role of theirs, which may underline."""
    runs = [each for name in names for each in ((", ", "muted"), name)][1:]
    if others:
        role = "stop" if any(map(_is_stop, others)) else "muted"
        runs += (" ", "muted"), (f"+{len(others)}", role)
    return tuple(runs)


def labels_of_side(
    axis: Axis, scale: Scale, last: float, lines: Iterable[PriceLine], room: int
) -> list[OwnLabel]:
    """Return the labels of the own prices on one side of the last price, at most so many, the highest price first.

    Prices beyond the edge share labels where labels of their own would move those of prices inside the chart.
    """
    if not room:
        return []
    by_importance = sorted(lines, key=_importance(last))
    near = [line for line in by_importance if scale.holds(line.price)]
    far = [line for line in by_importance if not scale.holds(line.price)]
    stop = next((line.price for line in by_importance if _is_stop(line)), None)
    entries = {axis.price(line.price) for line in near if _is_entry(line)}
    few = min(FEW_ENTRIES, len(entries))
    most = max(edge_rows(scale.rows), STOPS_AND_OTHERS * any(map(_is_stop, far)))
    edge = _edge(scale, far, min(most, room - max(bool(near), few)))
    kept = sum(_planned(label) or _has_stop(label) for label in edge)
    alone = {axis.price(stop)} if stop is not None and scale.holds(stop) else set[str]()
    if len(entries | alone) <= min(FEW_ENTRIES, room - kept):
        alone |= entries
    labels = _near(axis, scale, near, alone, room - len(edge))
    rows = [scale.row(line.price) for line in near]
    outside = min([room - 1, *(min(row, scale.rows - 1 - row) for row in rows)])
    free = min(room - len(labels), outside) - len(edge)
    merged = _merged([*_split(axis, edge, far, free), *labels], room, scale, stop)
    return sorted(
        (_led(label, scale, last) for label in merged), key=lambda label: -label.first.price
    )


def _near(
    axis: Axis, scale: Scale, near: Sequence[PriceLine], alone: Collection[str], room: int
) -> list[OwnLabel]:
    """Return the labels of prices inside the chart: those that have no room for their own share a row, if need be several."""
    labels: list[OwnLabel] = []
    for rows in range(1, 1 + scale.rows):
        labels = _grouped(near, partial(_key, axis=axis, scale=scale, alone=alone, rows=rows))
        if len(labels) <= room:
            break
    return _split(axis, labels, near, room - len(labels))


def _split(
    axis: Axis, labels: Sequence[OwnLabel], lines: Sequence[PriceLine], count: int
) -> list[OwnLabel]:
    """Return so many labels more, each of one price: stops, then entries, then others, the nearest first."""
    place = {axis.price(line.price): n for n, label in enumerate(labels) for line in label.lines}
    prices = Counter(place.values())  # of each label
    single: set[str] = set()
    for line in sorted(lines, key=lambda line: not (_is_stop(line) or _is_entry(line))):
        price = axis.price(line.price)
        if len(single) < count and price not in single and prices[place[price]] > 1:
            single.add(price)
            prices[place[price]] -= 1

    def key(line: PriceLine) -> str:
        price = axis.price(line.price)
        return price if price in single else ""

    return [part for label in labels for part in _grouped(label.lines, key)]


def _is_entry(line: PriceLine) -> bool:
    """Return whether a price is the entry of an open trade."""
    return line.role == "entry" and line.rank == Rank.OTHER


def _planned(label: OwnLabel) -> bool:
    return any(line.rank == Rank.PLANNED for line in label.lines)


def _is_stop(line: PriceLine) -> bool:
    return line.role == "stop"


def _has_stop(label: OwnLabel) -> bool:
    return any(map(_is_stop, label.lines))


def _importance(last: float) -> Callable[[PriceLine], tuple[Rank, bool, float]]:
    """Return the order of importance: by rank, stops first, then the nearest."""
    return lambda line: (line.rank, line.role != "stop", abs(line.price - last))


def _edge(scale: Scale, far: Sequence[PriceLine], most: int) -> list[OwnLabel]:
    """Return the labels of prices beyond the edge: one for each name, else one for stops and one for others, else one.

    What has the price of a stop goes with it. Planned prices have one for each name and edge in any case.
    """
    planned = [line for line in far if line.rank == Rank.PLANNED]
    others = [line for line in far if line.rank != Rank.PLANNED]
    plan = _grouped(planned, lambda line: (line.text, line.price > scale.high))
    most = max(1, len(plan), most)
    labels = [*plan, *_grouped(others, lambda line: line.text)]
    if len(labels) > most:
        stops = {line.price for line in others if _is_stop(line)}
        labels = [*plan, *_grouped(others, lambda line: line.price in stops)]
    if len(labels) > most:
        labels = [*plan, OwnLabel(tuple(others))]
    return labels


def _key(line: PriceLine, axis: Axis, scale: Scale, alone: Collection[str], rows: int) -> str | int:
    """Return what the prices of one label have in common: so many rows, or the price where it has a label of its own."""
    price = axis.price(line.price)
    is_alone = line.rank == Rank.PLANNED or price in alone
    return price if is_alone else scale.row(line.price) // rows


def _grouped(lines: Sequence[PriceLine], key: Callable[[PriceLine], object]) -> list[OwnLabel]:
    groups: dict[object, list[PriceLine]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return [OwnLabel(tuple(group)) for group in groups.values()]


def _merged(
    labels: Sequence[OwnLabel], most: int, scale: Scale, stop: float | None
) -> list[OwnLabel]:
    """Return at most so many labels: the most important ones, each other one counted by the nearest of them.

    A stop is rather counted with stops; of other prices, those beyond the edge with such, those inside the chart there.
    """
    ranked = sorted(labels, key=lambda label: _order_kept(label, scale, stop))
    kept = [list(label.lines) for label in ranked[:most]]
    for label in ranked[most:]:
        min(kept, key=lambda lines: _distance(label, lines, scale)).extend(label.lines)
    return [OwnLabel(tuple(lines)) for lines in kept]


def _distance(
    label: OwnLabel, lines: Sequence[PriceLine], scale: Scale
) -> tuple[bool, bool, float]:
    """Return how far a label is from one that is to count it: unlike ones are farther than any price."""
    price, other = label.first.price, lines[0].price
    is_apart, has_stop = scale.holds(price) != scale.holds(other), any(map(_is_stop, lines))
    if all(map(_is_stop, label.lines)):
        return not has_stop, False, abs(price - other)
    return is_apart, has_stop, abs(price - other)


def _order_kept(label: OwnLabel, scale: Scale, stop: float | None) -> tuple[int, ...]:
    """Return the order in which labels are kept: planned ones, the nearest stop, entries, what is beyond the edge."""
    is_far, is_stop = not scale.holds(label.first.price), _has_stop(label)
    has_entry = any(map(_is_entry, label.lines))
    return (
        not _planned(label),
        all(line.price != stop for line in label.lines),
        not (has_entry and not is_far),
        not (is_far and is_stop),
        not is_far,
        label.first.rank,
        not is_stop,
    )


def _led(label: OwnLabel, scale: Scale, last: float) -> OwnLabel:
    """Return the label with the price first that it is to name.

    That is a planned one, else an entry inside the chart. Of others it is the nearest if some are beyond the edge, but
    the nearest of the most numerous kind unless it is a stop; else the nearest stop, else rather one that several share. At that price stops come first, then entries, then what is there most.
    """
    at: dict[float, list[PriceLine]] = {}
    for line in label.lines:
        at.setdefault(line.price, []).append(line)
    is_edge = not all(map(scale.holds, at))

    def order(price: float) -> tuple[float, ...]:
        here, distance = at[price], abs(price - last)
        is_stop = any(map(_is_stop, here))
        rank = min(line.rank for line in here)
        has_entry = scale.holds(price) and any(map(_is_entry, here))
        within = (
            (distance,) if is_edge else (rank, not is_stop, 0 if is_stop else -len(here), distance)
        )
        return (rank != Rank.PLANNED, not has_entry, *within)

    first = min(at, key=order)
    counts_kind = is_edge and not (
        scale.holds(first) or _planned(label) or any(map(_is_stop, at[first]))
    )
    if counts_kind:
        first = _nearest_of_most(label, scale, last)
    counted = label.lines if counts_kind else at[first]
    counts = Counter(line.text for line in counted)

    def order_of_name(line: PriceLine) -> tuple[bool | int, ...]:
        return (
            line.price != first,
            line.rank != Rank.PLANNED,
            line.role != "stop",
            not _is_entry(line),
            -counts[line.text],
        )

    return OwnLabel(tuple(sorted(label.lines, key=order_of_name)), counts_kind)


def _nearest_of_most(label: OwnLabel, scale: Scale, last: float) -> float:
    """Return the nearest price beyond the edge of the kind that most prices there have, of as many the nearest kind."""
    far = [line for line in label.lines if not (scale.holds(line.price) or _is_stop(line))]
    far.sort(key=lambda line: abs(line.price - last))
    [(kind, _)] = Counter(line.text for line in far).most_common(1)
    return next(line.price for line in far if line.text == kind)
