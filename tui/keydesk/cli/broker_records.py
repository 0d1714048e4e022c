"""The broker's records as commands pass them on with --json: what a script may rely on.

They have the names of the v20 interface (camelCase) and keep every member that the broker sent, named here or not; amounts,
prices and times are text, digit for digit.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, field

from keydesk.cli.script_output import Amount, Instant
from keydesk_client.models._core.record import Record


class BrokerRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """A record as the broker sent it; members that are not named here are kept."""


Sent = TypeVar("Sent", bound=BrokerRecord)


def as_sent(_: type[Sent], records: Iterable[Record]) -> list[Sent]:
    """Return records of the client for a document: whole, as the broker sent them."""
    sent: list[Any] = [each.to_wire() for each in records]
    return sent


class Extensions(BrokerRecord, frozen=True, kw_only=True):
    """The client's own id, tag and comment."""

    id: str | None = None
    tag: str | None = None
    comment: str | None = None


class OrderRecord(BrokerRecord, frozen=True, kw_only=True):
    """An order."""

    id: str
    type: str
    state: str
    create_time: Instant
    instrument: str | None = None
    units: Amount | None = None
    price: Amount | None = None
    time_in_force: str | None = None
    trade_id: Annotated[str | None, Meta(description="of a stop or target")] = field(
        default=None, name="tradeID"
    )
    client_extensions: Extensions | None = None


class TradeRecord(BrokerRecord, frozen=True, kw_only=True):
    """A trade."""

    id: str
    instrument: str
    price: Amount
    open_time: Instant
    state: str
    initial_units: Annotated[Amount, Meta(description="negative when short")]
    current_units: Amount
    realized_pl: Amount = field(name="realizedPL")
    unrealized_pl: Amount | None = field(default=None, name="unrealizedPL")
    financing: Amount
    stop_loss_order: OrderRecord | None = None
    take_profit_order: OrderRecord | None = None
    trailing_stop_loss_order: OrderRecord | None = None
    close_time: Instant | None = None
    average_close_price: Amount | None = None
    client_extensions: Extensions | None = None


class PositionSideRecord(BrokerRecord, frozen=True, kw_only=True):
    """One side of a position."""

    units: Amount
    average_price: Amount | None = None
    trade_ids: list[str] | None = field(default=None, name="tradeIDs")
    unrealized_pl: Amount | None = field(default=None, name="unrealizedPL")


class PositionRecord(BrokerRecord, frozen=True, kw_only=True):
    """The position in an instrument."""

    instrument: str
    pl: Amount
    unrealized_pl: Amount | None = field(default=None, name="unrealizedPL")
    long: PositionSideRecord
    short: PositionSideRecord


class AccountFigures(BrokerRecord, frozen=True, kw_only=True):
    """The account: balance, margin, and its trades, orders and positions."""

    id: str
    currency: str
    balance: Amount
    nav: Amount = field(name="NAV")
    pl: Amount
    unrealized_pl: Amount = field(name="unrealizedPL")
    margin_used: Amount
    margin_available: Amount
    margin_closeout_percent: Amount
    hedging_enabled: bool
    open_trade_count: int
    pending_order_count: int
    last_transaction_id: str = field(name="lastTransactionID")
    trades: list[BrokerRecord]
    orders: list[OrderRecord]
    positions: list[PositionRecord]


class TransactionRecord(BrokerRecord, frozen=True, kw_only=True):
    """A transaction; which other members it has depends on its type."""

    id: str
    time: Instant
    type: str
    reason: str | None = None
    reject_reason: str | None = None
    instrument: str | None = None
    units: Amount | None = None
    price: Amount | None = None
    pl: Amount | None = None
    account_balance: Amount | None = None


class AccountName(BrokerRecord, frozen=True, kw_only=True):
    """An account of the token."""

    id: str
    tags: list[str]


class PriceLevel(BrokerRecord, frozen=True, kw_only=True):
    """A price and the units that it is good for."""

    price: Amount
    liquidity: int | Amount


class PriceRecord(BrokerRecord, frozen=True, kw_only=True):
    """The price of an instrument."""

    instrument: str
    time: Instant
    tradeable: bool
    bids: list[PriceLevel]
    asks: list[PriceLevel]
    closeout_bid: Amount
    closeout_ask: Amount
