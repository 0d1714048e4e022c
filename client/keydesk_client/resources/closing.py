"""Close or cancel everything, one request an item, each through the order protocol: what `close_all` and `cancel_all` share.

The sender is described here and not imported: `Sender` is a layer above the resources.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from keydesk_client.models.instruments import Instrument
from keydesk_client.resources._base import CloseUnits, SideUnits

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

DEPENDENT: Final = frozenset(
    {"TAKE_PROFIT", "STOP_LOSS", "GUARANTEED_STOP_LOSS", "TRAILING_STOP_LOSS"}
)
"""The types of orders that protect a trade."""


class ItemOutcome(NamedTuple, Generic[T, R]):
    """What was to be closed or cancelled, and the outcome of its request: `for item, outcome in ...`."""

    item: T
    """As it was read before."""
    outcome: R
    """Of the request: Done, Rejected (it had ended meanwhile), NotSent, Ambiguous or Unconfirmed."""


class PositionCloser(Protocol[R_co]):
    """A sender, as far as it closes positions."""

    def close_position(
        self,
        instrument: str | Instrument,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        account_id: str | None = None,
    ) -> Awaitable[R_co]: ...


class TradeCloser(Protocol[R_co]):
    """A sender, as far as it closes trades."""

    def close_trade(
        self,
        specifier: str,
        *,
        units: CloseUnits = "ALL",
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Awaitable[R_co]: ...


class OrderCanceller(Protocol[R_co]):
    """A sender, as far as it cancels orders."""

    def cancel(self, specifier: str, *, account_id: str | None = None) -> Awaitable[R_co]: ...


async def send_all(
    items: Iterable[T],
    send: Callable[[T], Awaitable[R]],
    queue_of: Callable[[T], str],
) -> tuple[ItemOutcome[T, R], ...]:
    """Send a request for each item; those of one queue one after the other, in order.

    Return the outcomes in the order of the items.
    """
    queues: dict[str, list[tuple[int, T]]] = {}
    for place, item in enumerate(items):
        queues.setdefault(queue_of(item), []).append((place, item))
    outcomes: dict[int, ItemOutcome[T, R]] = {}

    async def send_queue(queue: list[tuple[int, T]]) -> None:
        for place, item in queue:
            outcomes[place] = ItemOutcome(item, await send(item))

    async with asyncio.TaskGroup() as group:
        for queue in queues.values():
            group.create_task(send_queue(queue))
    return tuple(outcomes[place] for place in sorted(outcomes))
