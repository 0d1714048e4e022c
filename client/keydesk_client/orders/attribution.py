"""Which of several like requests made which batch of transactions, as far as it can be told.

Each request makes at most one batch, and each batch was made by one request. Where that leaves only one way to give
the batches to the requests, it is known; where it leaves several, what they have in common is.
"""

from collections.abc import Mapping, Sequence
from typing import Final

MOST_REQUESTS: Final = 6
"""Of more like requests than that, open at once, nothing is concluded."""


def possible_batches(makers: Mapping[str, frozenset[str]], request: str) -> tuple[list[str], bool]:
    """Return the batches that a request may have made, and whether it may have made none.

    `makers` names for each batch the requests that may have made it. When there are more batches than requests, some
    were made by requests that are not known here, and everything that fits is possible.
    """
    fitting = [batch for batch, names in makers.items() if request in names]
    if not fitting:
        return [], True
    requests = frozenset[str]().union(*makers.values())
    ways = [] if len(requests) > MOST_REQUESTS else _ways(list(makers.values()))
    if not ways:
        return fitting, True
    batches = list(makers)
    taken = {way.index(request) for way in ways if request in way}
    may_be_none = any(request not in way for way in ways)
    return [batches[place] for place in sorted(taken)], may_be_none


def _ways(makers: Sequence[frozenset[str]]) -> list[tuple[str, ...]]:
    """Return every way to name a different maker for each batch."""
    ways: list[tuple[str, ...]] = [()]
    for names in makers:
        ways = [(*way, name) for way in ways for name in sorted(names) if name not in way]
    return ways
