"""One account's past, read from the ledger in the ledger's own texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from keydesk_practice.ledger import Ledger


@dataclass(frozen=True, slots=True)
class History:
    """The committed transactions of one account."""

    ledger: Ledger
    account_id: str

    def texts(self, first: int, last: int, types: Sequence[str] = (), limit: int = -1) -> list[str]:
        """Return the JSON texts of a range of ids, both ends included."""
        return self.ledger.bodies(self.account_id, first, last, types, limit)

    def ids_between(self, begin: int, end: int, types: Sequence[str]) -> Sequence[int]:
        """Return the ids of what happened between two times, both included, ascending."""
        first = self.ledger.first_id_not_before(self.account_id, begin)
        beyond = self.ledger.first_id_not_before(self.account_id, end + 1)
        if types:
            return self.ledger.ids_of_types(self.account_id, first, beyond - 1, types)
        return range(first, beyond)  # ids have no gaps
