"""The table of excursions: how far closed trades went against and for the trader. It may be emptied at any time."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeAlias

AT_ONCE = 500  # ids in a query; of more all are read


class KeptExcursion(NamedTuple):
    """The distances of a trade, and when it was opened and closed: after a reset another trade may have its id."""

    opened_ns: int
    closed_ns: int
    adverse: Decimal
    favourable: Decimal


KeptExcursions: TypeAlias = dict[str, KeptExcursion]
"""By trade."""


def kept_excursions(
    connection: sqlite3.Connection, ids: Sequence[str] | None = None
) -> KeptExcursions:
    """Return what is kept of some trades, or of all; what makes no sense is left out."""
    query = "SELECT trade, opened_ns, closed_ns, adverse, favourable FROM excursions"
    if ids is None or len(ids) > AT_ONCE:
        rows = connection.execute(query)
    else:
        rows = connection.execute(f"{query} WHERE trade IN ({', '.join('?' * len(ids))})", ids)
    found = {}
    for trade, opened_ns, closed_ns, *distances in rows:
        try:
            adverse, favourable = map(Decimal, distances)
        except (InvalidOperation, TypeError, ValueError):
            continue
        if adverse >= 0 and favourable >= 0 and (adverse + favourable).is_finite():
            found[trade] = KeptExcursion(opened_ns, closed_ns, adverse, favourable)
    return found


def write_excursions(
    connection: sqlite3.Connection, excursions: Mapping[str, KeptExcursion]
) -> None:
    """Write what is known by trade."""
    rows: Iterable[tuple[object, ...]] = (
        (id_, each.opened_ns, each.closed_ns, str(each.adverse), str(each.favourable))
        for id_, each in excursions.items()
    )
    connection.executemany("INSERT OR REPLACE INTO excursions VALUES (?, ?, ?, ?, ?)", rows)
