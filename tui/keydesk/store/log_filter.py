"""The filter of the transaction log: kind, instrument, words, and everything about an order or a trade by its id.

A module of its own: the module of older lines imports the models, which are not loaded before the first frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from keydesk.text.search import has_text
from keydesk.words.log_line import LogLine

NO_ORDERS: Mapping[str, AbstractSet[str]] = {}


def passes(
    line: LogLine, filter_text: str, filled: Mapping[str, AbstractSet[str]] = NO_ORDERS
) -> bool:
    """Return whether a line has every word of the filter.

    A word such as #6417 asks for the transaction of that id, for those that name the order or trade, and for the orders
    whose fills opened, reduced or closed the trade: `filled`, see `filled_orders`.
    """
    ids, text = split_filter_text(filter_text)
    if not all(
        _concerns(line, each) or not _named(line).isdisjoint(filled.get(each, ())) for each in ids
    ):
        return False
    return not text or has_text(f"{line.kind} {line.instrument} {line.id} {line.text}", text)


def filled_orders(lines: Iterable[LogLine], filter_text: str) -> Mapping[str, AbstractSet[str]]:
    """Return the orders of the fills that concern each id of the filter: an order does not name its fill, which is later."""
    ids, _ = split_filter_text(filter_text)
    orders: dict[str, set[str]] = {each: set() for each in ids}
    for line in lines if ids else ():
        if line.filled_order:
            for each in ids:
                if _concerns(line, each):
                    orders[each].add(line.filled_order)
    return orders


def _concerns(line: LogLine, id_: str) -> bool:
    return id_ == line.id or id_ in line.about


def _named(line: LogLine) -> AbstractSet[str]:
    return {line.id, *line.about}


def split_filter_text(filter_text: str) -> tuple[list[str], str]:
    """Return the ids and the other words of a filter."""
    words = filter_text.split()
    ids = [word for word in words if word[0] == "#" and word[1:].isdecimal()]
    return [word[1:] for word in ids], " ".join(word for word in words if word not in ids)
