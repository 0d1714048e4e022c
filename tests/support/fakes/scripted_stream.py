"""Stream connections that follow a script: what is sent, how long nothing comes, and how it ends."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from keydesk_client.errors import KeydeskClientError

Step = bytes | float | KeydeskClientError | Callable[[], object]
"""Bytes to deliver, seconds to wait, the error that ends the connection, or what happens meanwhile."""


class ScriptedStream:
    """Opens one script after the other; the last one is opened again and again."""

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts = scripts
        self.opened_at: list[float] = []
        self.open_now = 0

    def __call__(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        script = self.scripts[min(len(self.opened_at), len(self.scripts) - 1)]
        self.opened_at.append(asyncio.get_running_loop().time())
        return self._connection(script)

    @asynccontextmanager
    async def _connection(self, script: Sequence[Step]) -> AsyncIterator[AsyncIterator[bytes]]:
        if script and isinstance(script[0], KeydeskClientError):
            raise script[0]
        self.open_now += 1
        try:
            yield _played(script)
        finally:
            self.open_now -= 1


async def _played(script: Sequence[Step]) -> AsyncIterator[bytes]:
    for step in script:
        match step:
            case bytes():
                yield step
            case KeydeskClientError():
                raise step
            case float() | int():
                await asyncio.sleep(step)
            case _:
                step()


def price(instrument: str = "EUR_USD", bid: str = "1.10000") -> bytes:
    """A line of the price stream."""
    ladder = [{"price": bid, "liquidity": 1000000}]
    return _line(
        {
            "type": "PRICE",
            "instrument": instrument,
            "time": "2026-11-20T10:00:00.000000000Z",
            "tradeable": True,
            "bids": ladder,
            "asks": ladder,
            "closeoutBid": bid,
            "closeoutAsk": bid,
        }
    )


def heartbeat(last_transaction_id: int | None = None) -> bytes:
    """A heartbeat of the price stream, or with an id, of the transaction stream."""
    told = {} if last_transaction_id is None else {"lastTransactionID": str(last_transaction_id)}
    return _line({"type": "HEARTBEAT", "time": "2026-11-20T10:00:00.000000000Z", **told})


def transaction(number: int, kind: str = "ORDER_CANCEL") -> bytes:
    """A line of the transaction stream."""
    return _line(transaction_members(number, kind))


def transaction_members(number: int, kind: str = "ORDER_CANCEL") -> dict[str, object]:
    """A transaction as the wire has it."""
    return {
        "id": str(number),
        "type": kind,
        "accountID": "001",
        "userID": 1,
        "batchID": str(number),
        "time": "2026-11-20T10:00:00.000000000Z",
        "orderID": "1",
        "reason": "CLIENT_REQUEST",
    }


def _line(members: dict[str, object]) -> bytes:
    return json.dumps(members).encode() + b"\n"
