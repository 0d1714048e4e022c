"""The account: the fold of its transactions and of the marks of its orders.

Orders, trades and positions are immutable values; the tables that hold them change in place. A copy of the account shares
the values, so that a decision can change its own copy and leave the account as it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Literal

from keydesk_practice.engine.quotes import ZERO_MONEY, GuaranteedMode
from keydesk_practice.engine.state.records import Order, Position, Trade, Trigger

Mutability = Literal["FIXED", "REPLACEABLE", "CANCELABLE", "PRICE_WIDEN_ONLY"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of the account: fixed when it is opened, changed by no transaction."""

    currency: str
    hedging: bool = False
    fifo: bool = False  # the rules of a US division
    exclusive_stops: bool = False  # some divisions forbid a stop-loss beside a trailing one
    guaranteed_mode: GuaranteedMode = "ALLOWED"
    guaranteed_mutability_open: Mutability = "CANCELABLE"
    guaranteed_mutability_halted: Mutability = "PRICE_WIDEN_ONLY"
    most_open_trades: int = 1000
    most_pending_orders: int = 1000
    # Currencies are financed on their base units by most divisions, on their value in the quote currency by the US one.
    financing_in: Literal["BASE", "QUOTE"] = "BASE"


class EndedRecords:
    """Filled and cancelled orders and closed trades: readable, and never changed again.

    `below` are the ended records of the account that this one was copied from.
    """

    def __init__(self, below: "EndedRecords | None" = None) -> None:
        self._below = below
        self._orders: dict[int, Order] = {}
        self._trades: dict[int, Trade] = {}

    def order(self, order_id: int) -> Order | None:
        """Return an ended order, None if there is none."""
        order = self._orders.get(order_id)
        return self._below.order(order_id) if order is None and self._below else order

    def trade(self, trade_id: int) -> Trade | None:
        """Return a closed trade, None if there is none."""
        trade = self._trades.get(trade_id)
        return self._below.trade(trade_id) if trade is None and self._below else trade

    def keep_order(self, order: Order) -> None:
        """Add an ended order."""
        self._orders[order.id] = order

    def keep_trade(self, trade: Trade) -> None:
        """Add a closed trade."""
        self._trades[trade.id] = trade

    def orders(self) -> Iterator[Order]:
        """Return the ended orders, unordered."""
        return iter(self._orders.values())

    def trades(self) -> Iterator[Trade]:
        """Return the closed trades, unordered."""
        return iter(self._trades.values())


@dataclass(slots=True, kw_only=True)
class Account:
    """One account; only `apply` changes it."""

    id: str
    user_id: int
    terms: Terms
    alias: str | None = None
    margin_rate: Decimal | None = None
    created_time: int = 0
    last_transaction_id: int = 0
    last_order_fill_time: int | None = None
    balance: Decimal = ZERO_MONEY
    pl: Decimal = ZERO_MONEY
    financing: Decimal = ZERO_MONEY
    commission: Decimal = ZERO_MONEY
    dividend_adjustment: Decimal = ZERO_MONEY
    guaranteed_execution_fees: Decimal = ZERO_MONEY
    margin_call_enter_time: int | None = None
    margin_call_extension_count: int = 0
    last_margin_call_extension_time: int | None = None
    orders: dict[int, Order] = field(default_factory=dict)  # pending, oldest first
    trades: dict[int, Trade] = field(default_factory=dict)  # open, oldest first
    positions: dict[str, Position] = field(default_factory=dict)
    order_ids: dict[str, int] = field(default_factory=dict)  # of pending orders, by client id
    trade_ids: dict[str, int] = field(default_factory=dict)  # of open trades, by client id
    triggers: dict[str, tuple[Trigger, ...]] = field(default_factory=dict)  # by instrument
    expiries: dict[int, int] = field(default_factory=dict)  # of pending orders
    ended: EndedRecords = field(default_factory=EndedRecords)

    @property
    def currency(self) -> str:
        """The home currency."""
        return self.terms.currency

    def copy(self) -> "Account":
        """Return a copy that can change independently."""
        other = object.__new__(Account)
        for name in _FIELD_NAMES:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, dict) else value)
        other.ended = EndedRecords(self.ended)
        return other

    def order(self, order_id: int) -> Order | None:
        """Return an order, pending or ended."""
        return self.orders.get(order_id) or self.ended.order(order_id)

    def trade(self, trade_id: int) -> Trade | None:
        """Return a trade, open or closed."""
        return self.trades.get(trade_id) or self.ended.trade(trade_id)

    def position(self, instrument: str) -> Position:
        """Return the position of an instrument, an empty one when it was never traded."""
        return self.positions.get(instrument) or Position(instrument=instrument)


_FIELD_NAMES = tuple(field.name for field in fields(Account))


def empty_account(account_id: str, user_id: int, terms: Terms) -> Account:
    """Return an account without transactions."""
    return Account(id=account_id, user_id=user_id, terms=terms)


def id_in(specifier: str) -> int | None:
    """Return the id in a specifier (an id, or `@` and a client id), None for anything else."""
    is_id = specifier.isascii() and specifier.isdecimal() and len(specifier) <= 18  # noqa: PLR2004 - beyond any id
    return int(specifier) if is_id else None


def client_id_in(specifier: str) -> str | None:
    """Return the client id in a specifier, None for an id."""
    return specifier[1:] if specifier.startswith("@") else None


def pending_order(account: Account, specifier: str) -> Order | None:
    """Return the pending order that a specifier names."""
    client_id = client_id_in(specifier)
    order_id = id_in(specifier) if client_id is None else account.order_ids.get(client_id)
    return account.orders.get(order_id or 0)


def open_trade(account: Account, specifier: str) -> Trade | None:
    """Return the open trade that a specifier names."""
    client_id = client_id_in(specifier)
    trade_id = id_in(specifier) if client_id is None else account.trade_ids.get(client_id)
    return account.trades.get(trade_id or 0)
