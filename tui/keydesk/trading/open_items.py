"""What is open at the broker, as one who flattens needs it: also for the commands, which have no store."""

from enum import Enum

from msgspec import Struct

from keydesk.text.format import pair
from keydesk.text.sanitize import clean, safe
from keydesk_client.account.snapshot import rows_of
from keydesk_client.client import Client
from keydesk_client.following.book import FollowedAccount
from keydesk_client.models import Account
from keydesk_client.models._core.record import Record
from keydesk_client.resources.answers import text

ENTRY_TYPES = frozenset({"LIMIT", "STOP", "MARKET_IF_TOUCHED"})
UNKNOWN = safe("?")
FIGURES = (
    *("balance", "nav", "unrealized_pl", "margin_used", "margin_available"),
    *("margin_closeout_percent", "trades", "orders"),
)
MAX_PART = 200  # characters
PASSES = 3  # of closing and cancelling, each checked with the broker


class OpenItems(Struct, frozen=True):
    """What is open: trades as (id, instrument), entry orders by id, and counts of unreadable records."""

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
    def count_text(self) -> str:
        """How much is open, in words; "" if nothing is."""
        trades = len(self.trades) + self.unreadable_trades
        orders = len(self.orders) + self.unreadable_orders
        counts = ((trades, "trade"), (orders, "entry order"))
        return ", ".join(
            f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts if count
        )

    @property
    def text(self) -> str:
        """What is open, in words."""
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


async def open_items_at_broker(client: Client, instrument: str | None = None) -> OpenItems:
    """Return what is open at the broker. An unreadable record is counted, so the account is not taken for flat."""
    open_trades, pending = await client.trades.open(), await client.orders.pending()
    trades = [_trade_named(each, instrument) for each in open_trades.trades]
    orders = [_order_named(each, instrument) for each in pending.orders]
    return OpenItems(
        tuple(each for each in trades if isinstance(each, tuple)),
        tuple(each for each in orders if isinstance(each, str)),
        trades.count(NotClosed.UNREADABLE),
        orders.count(NotClosed.UNREADABLE),
        _last_of(open_trades),
    )


def unread_parts(account: Account) -> tuple[str, ...]:
    """Return what counts in an account and could not be read, as the desk reads it: figures, trades, orders."""
    parts = [member.replace("_", " ") for member in FIGURES if not hasattr(account, member)]
    if not (hasattr(account, "trades") and hasattr(account, "orders")):
        return tuple(parts)
    rows = rows_of(FollowedAccount(), account)
    parts += [f"a trade: {each}".rstrip(": ") for each in rows.unread.trades]
    partly = [each for each in rows.trades.values() if each.unread]
    parts += [f"of trade #{each.id}: {', '.join(sorted(each.unread))}" for each in partly]
    parts += [f"an order: {each}".rstrip(": ") for each in rows.unread.orders]
    return tuple(clean(each, MAX_PART) for each in parts)


class NotClosed(Enum):
    """Why a record is not closed or cancelled."""

    NOT_ASKED_FOR = "it is of another instrument, or not an entry order"
    UNREADABLE = "it cannot be read"


def _trade_named(trade: Record, instrument: str | None) -> tuple[str, str] | NotClosed:
    id_, of = text(trade, "id"), text(trade, "instrument")
    if not id_ or (of is None and instrument is not None):
        return NotClosed.UNREADABLE
    return (id_, of or "") if instrument in {None, of} else NotClosed.NOT_ASKED_FOR


def _order_named(order: Record, instrument: str | None) -> str | NotClosed:
    id_, type_, of = (text(order, member) for member in ("id", "type", "instrument"))
    if type_ is None:
        return NotClosed.UNREADABLE
    if type_ not in ENTRY_TYPES:
        return NotClosed.NOT_ASKED_FOR
    if not id_ or (of is None and instrument is not None):
        return NotClosed.UNREADABLE
    return id_ if instrument in {None, of} else NotClosed.NOT_ASKED_FOR


def _last_of(answer: Record) -> int | None:
    last = text(answer, "last_transaction_id")
    return int(last) if last is not None and last.isdecimal() else None
