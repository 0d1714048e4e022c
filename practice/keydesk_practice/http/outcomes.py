"""What came of a command, as the members of its answer: the transactions by the names the interface gives them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keydesk_practice.http.answers import Answer
from keydesk_practice.http.sentences import sentence_of

Wire = Mapping[str, Any]
NOT_THERE = frozenset(
    {"ORDER_DOESNT_EXIST", "TRADE_DOESNT_EXIST", "CLOSEOUT_POSITION_DOESNT_EXIST"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The batch that a request made, as wire transactions, oldest first, and the account's newest id after it.

    A request that changes nothing makes an empty batch.
    """

    batch: Sequence[Wire]
    last_id: str

    @property
    def first(self) -> Wire:
        """The first transaction: what was created, or why nothing was."""
        return self.batch[0]

    @property
    def rejects(self) -> list[Wire]:
        """The transactions that say no."""
        return [transaction for transaction in self.batch if "rejectReason" in transaction]

    def of_type(self, type_: str) -> Wire | None:
        """Return the first transaction of a type."""
        return next((one for one in self.batch if one["type"] == type_), None)

    def fill_of(self, order_id: str) -> Wire | None:
        """Return the fill of an order."""
        return self._about(order_id, "ORDER_FILL")

    def cancel_of(self, order_id: str) -> Wire | None:
        """Return the cancel of an order."""
        return self._about(order_id, "ORDER_CANCEL")

    def _about(self, order_id: str, type_: str) -> Wire | None:
        for one in self.batch:
            if one["type"] == type_ and one["orderID"] == order_id:
                return one
        return None

    def ids(self) -> dict[str, object]:
        """Return the two members that every answer to a write ends with."""
        ids = [one["id"] for one in self.batch]
        return {"relatedTransactionIDs": ids, "lastTransactionID": self.last_id}


def present(members: Mapping[str, Wire | None]) -> dict[str, Wire]:
    """Return the members that have a transaction: absent ones are left out, not null."""
    return {name: value for name, value in members.items() if value is not None}


def done(
    outcome: Outcome,
    members: Mapping[str, Wire | None],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Return the answer to a command that was carried out."""
    return Answer({**present(members), **outcome.ids()}, status, headers or {})


def refused(
    members: Mapping[str, Wire | None],
    reasons: Iterable[str],
    ids: Mapping[str, object],
    status: int | None = None,
) -> Answer:
    """Return the answer to a command that was rejected: 404 when its object is not there, else 400."""
    reason = next(iter(reasons))
    body = {
        **present(members),
        **ids,
        "errorCode": reason,
        "errorMessage": sentence_of(reason),
    }
    return Answer(body, status or (404 if reason in NOT_THERE else 400))
