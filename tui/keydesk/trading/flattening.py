"""Flatten: close and cancel, look again at the broker, at most three times; end with FLAT or with what is left."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.trading.delivery import Delivery
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models._core.record import Record
from keydesk_client.orders.content import text

ENTRY_TYPES = frozenset({"LIMIT", "STOP", "MARKET_IF_TOUCHED"})
PASSES = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """What is open: trades as (id, instrument), entry orders by id, and how many cannot be named."""

    trades: tuple[tuple[str, str], ...]
    orders: tuple[str, ...]
    unreadable_trades: int = 0
    unreadable_orders: int = 0
    last_transaction_id: int | None = None  # of the broker, when it said what is open

    @property
    def is_flat(self) -> bool:
        """Whether nothing is open."""
        unreadable = self.unreadable_trades or self.unreadable_orders
        return not (self.trades or self.orders or unreadable)

    @property
    def words(self) -> str:
        """What is open, by name."""
        trades = [f"#{id_} {pair(instrument)}".rstrip() for id_, instrument in self.trades]
        unreadable = [
            f"{count} {what}{'' if count == 1 else 's'} that cannot be read"
            for count, what in (
                (self.unreadable_trades, "trade"),
                (self.unreadable_orders, "order"),
            )
            if count
        ]
        return ", ".join([*trades, *(f"order #{id_}" for id_ in self.orders), *unreadable])


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
    """Ask the broker what is open. A record that cannot be read hides none of the others, and is not taken for flat."""
    open_trades, pending = await client.trades.open(), await client.orders.pending()
    trades = [_trade_named(each, instrument) for each in open_trades.trades]
    orders = [_order_named(each, instrument) for each in pending.orders]
    return Standing(
        tuple(each for each in trades if isinstance(each, tuple)),
        tuple(each for each in orders if isinstance(each, str)),
        trades.count(Kept.UNREADABLE),
        orders.count(Kept.UNREADABLE),
        _last_of(open_trades),
    )


class Kept(Enum):
    """Why a record is not closed or cancelled."""

    NOT_ASKED_FOR = "it is of another instrument, or no entry order"
    UNREADABLE = "what it is cannot be read"


def _trade_named(trade: Record, instrument: str | None) -> tuple[str, str] | Kept:
    id_, of = text(trade, "id"), text(trade, "instrument")
    if not id_ or (of is None and instrument is not None):
        return Kept.UNREADABLE
    return (id_, of or "") if instrument in {None, of} else Kept.NOT_ASKED_FOR


def _order_named(order: Record, instrument: str | None) -> str | Kept:
    id_, type_, of = (text(order, member) for member in ("id", "type", "instrument"))
    if type_ is None:
        return Kept.UNREADABLE
    if type_ not in ENTRY_TYPES:
        return Kept.NOT_ASKED_FOR
    if not id_ or (of is None and instrument is not None):
        return Kept.UNREADABLE
    return id_ if instrument in {None, of} else Kept.NOT_ASKED_FOR


def _last_of(answer: Record) -> int | None:
    last = text(answer, "last_transaction_id")
    return int(last) if last is not None and last.isdecimal() else None


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
