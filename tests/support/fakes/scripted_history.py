"""An account's transactions as REST tells them, by a script: whole, lagging behind, with holes, or failing."""

import json
from collections.abc import Callable

from keydesk_client.errors import KeydeskClientError, OutOfRange
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models.responses import TransactionsResponse
from support.fakes.scripted_stream import transaction_members

ANSWER = Reader(TransactionsResponse)


class ScriptedHistory:
    """Knows transactions 1 to `last`, but for `holes`; answers at most `most` of them at once."""

    def __init__(self, last: int = 0, *, most: int = 1000) -> None:
        self.last, self.most = last, most
        self.holes: set[int] = set()
        self.lag: Callable[[], int] = lambda: 0
        self.failure: Callable[[], KeydeskClientError | None] = lambda: None
        self.asked: list[tuple[int, int | None]] = []
        self.newest_failures: list[KeydeskClientError] = []
        self.members: Callable[[int], dict[str, object]] = transaction_members
        self.tells_last = True

    def grown_to(self, last: int) -> Callable[[], None]:
        """A step of a ScriptedStream: so much has happened by now."""
        return lambda: setattr(self, "last", last)

    async def newest(self) -> int:
        if self.newest_failures:
            raise self.newest_failures.pop(0)
        return self.last

    async def since(self, transaction_id: int) -> TransactionsResponse:
        self.asked.append((transaction_id, None))
        return self._answer(transaction_id + 1, self._known())

    async def range(self, from_id: int, to_id: int) -> TransactionsResponse:
        self.asked.append((from_id, to_id))
        return self._answer(from_id, min(to_id, self._known()))

    def _known(self) -> int:
        return self.last - self.lag()

    def _answer(self, first: int, last: int) -> TransactionsResponse:
        failure = self.failure()
        if failure is not None:
            raise failure
        if first > self._known() + 1:
            raise OutOfRange("beyond the last", status=416)
        numbers = [number for number in range(first, last + 1) if number not in self.holes]
        body: dict[str, object] = {
            "transactions": [self.members(number) for number in numbers[: self.most]]
        }
        if self.tells_last:
            body["lastTransactionID"] = str(self._known())
        return ANSWER.read(json.dumps(body))
