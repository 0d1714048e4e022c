"""One account's past, read from the ledger in the ledger's own texts.

A long past is read in portions, each of which looks at few ids, so that whoever asks can let others go on in between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keydesk_practice.ledger.ledger import Ledger

IDS_PER_PORTION = 100
IDS_PER_PORTION_OF_TYPES = 200  # read from the index of types alone


@dataclass(frozen=True, slots=True)
class History:
    """The committed transactions of one account."""

    ledger: Ledger
    account_id: str

    def text(self, id_: int) -> str | None:
        """Return the JSON text of one transaction, None when there is no such id."""
        return next(iter(self.ledger.bodies(self.account_id, id_, id_)), None)

    def portions(self, first: int, last: int, types: Sequence[str] = ()) -> Iterator[list[str]]:
        """Return the JSON texts of a range of ids, both ends included; of some types, a portion may be empty."""
        for low, high in _portions(range(first, last + 1), IDS_PER_PORTION):
            yield self.ledger.bodies(self.account_id, low, high, types)

    def ids_between(self, begin: int, end: int) -> range:
        """Return the ids of what happened between two times, both included; ids have no gaps."""
        first = self.ledger.first_id_not_before(self.account_id, begin)
        return range(first, self.ledger.first_id_not_before(self.account_id, end + 1))

    def ids_of_types(self, ids: range, types: Sequence[str]) -> Iterator[Sequence[int]]:
        """Return those of some ids whose transactions are of the types, ascending; a portion may be empty."""
        for low, high in _portions(ids, IDS_PER_PORTION_OF_TYPES):
            yield self.ledger.ids_of_types(self.account_id, low, high, types)


def _portions(ids: range, size: int) -> Iterator[tuple[int, int]]:
    for low in range(ids.start, ids.stop, size):
        yield low, min(low + size, ids.stop) - 1
