"""Flatten: close and cancel, look again at the broker, at most three times; end with FLAT or with what is left."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keydesk.delivery import Delivery
from keydesk.format import pair
from keydesk.store.store import Store
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError

ENTRY_TYPES = frozenset({"LIMIT", "STOP", "MARKET_IF_TOUCHED"})
PASSES = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """What is open: trades as (id, instrument), entry orders by id."""

    trades: tuple[tuple[str, str], ...]
    orders: tuple[str, ...]

    @property
    def is_flat(self) -> bool:
        """Whether nothing is open."""
        return not self.trades and not self.orders

    @property
    def words(self) -> str:
        """What is open, by name."""
        trades = [f"#{id_} {pair(instrument)}" for id_, instrument in self.trades]
        return ", ".join([*trades, *(f"order #{id_}" for id_ in self.orders)])


@dataclass(frozen=True, slots=True)
class Flattening:
    """One flatten, of an instrument or (None) of everything."""

    client: Client
    store: Store
    delivery: Delivery
    close_and_cancel: Callable[[Standing], Awaitable[None]]

    async def run(self, instrument: str | None) -> None:
        """Do it. What the store knows is the start; what the broker says decides."""
        standing = standing_of(self.store, instrument)
        for _ in range(PASSES):
            await self.close_and_cancel(standing)
            found = await self._at_the_broker(instrument)
            if found is None:
                break
            standing = found
            if standing.is_flat:
                where = pair(instrument) if instrument else "the account"
                self.delivery.tell("good", f"FLAT: {where} has no position and no entry order")
                return
        again = self.delivery.keymap.name("flatten")
        left = standing.words or "?"
        self.delivery.tell("bad", f"NOT FLAT, as far as known still there: {left}. Again: {again}")

    async def _at_the_broker(self, instrument: str | None) -> Standing | None:
        try:
            return await standing_at_broker(self.client, instrument)
        except KeydeskClientError as error:
            self.delivery.tell("warn", f"Could not look again after flattening: {error}")
            return None


async def standing_at_broker(client: Client, instrument: str | None = None) -> Standing:
    """Ask the broker what is open."""
    trades = (await client.trades.open()).trades
    orders = (await client.orders.pending()).orders
    return Standing(
        tuple(
            (each.id, each.instrument) for each in trades if instrument in {None, each.instrument}
        ),
        tuple(
            each.id
            for each in orders
            if each.type in ENTRY_TYPES and instrument in {None, getattr(each, "instrument", None)}
        ),
    )


def standing_of(store: Store, instrument: str | None) -> Standing:
    """Return what the store knows to be open."""
    return Standing(
        tuple(
            (each.id, each.instrument)
            for each in store.trades.values()
            if instrument in {None, each.instrument}
        ),
        tuple(
            each.id
            for each in store.orders.values()
            if each.type in ENTRY_TYPES and instrument in {None, each.instrument}
        ),
    )
