"""One account at the broker: who it belongs to, what it holds, its past, and who listens to it.

It turns the engine's account into what the routes answer with; the prices are those in force on the board.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from typing import Any

from keydesk_practice.board import PriceBoard
from keydesk_practice.ended_shelf import EndedShelf
from keydesk_practice.engine import views
from keydesk_practice.engine.account import Account
from keydesk_practice.engine.quotes import Quote
from keydesk_practice.engine.records import Order, Trade
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.history import History
from keydesk_practice.ledger import Entry, LedgerAccount
from keydesk_practice.listeners import Listeners
from keydesk_practice.price_lines import home_conversions

LONGEST_ID = 18


@dataclass(slots=True)
class AccountDesk:
    """An account's place at the broker."""

    account: LedgerAccount
    state: Account
    board: PriceBoard
    shelf: EndedShelf
    history: History
    committed_id: int
    snapshot_id: int = 0  # how far the newest snapshot reaches
    listeners: Listeners = field(default_factory=Listeners)

    @property
    def created_at(self) -> int:
        """When the account was opened."""
        return self.state.created_time

    @property
    def last_transaction_id(self) -> str:
        """The newest id, as every answer carries it."""
        return str(self.state.last_transaction_id)

    @property
    def is_active(self) -> bool:
        """Whether prices can do anything to it."""
        return bool(self.state.orders or self.state.trades)

    def publish(self, batch: Sequence[Entry]) -> None:
        """Tell the listeners of a batch that is on disk."""
        self.committed_id = batch[-1].id
        self.listeners.publish([entry.body for entry in batch])

    # --- finding ---

    def order(self, specifier: str) -> Order | None:
        """Return the order of an id, or the pending one of an @client id."""
        if specifier.startswith("@"):
            id_ = self.state.order_ids.get(specifier[1:])
            return None if id_ is None else self.state.order(id_)
        return self.state.order(int(specifier)) if _is_id(specifier) else None

    def trade(self, specifier: str) -> Trade | None:
        """Return the trade of an id, or the open one of an @client id."""
        if specifier.startswith("@"):
            id_ = self.state.trade_ids.get(specifier[1:])
            return None if id_ is None else self.state.trade(id_)
        return self.state.trade(int(specifier)) if _is_id(specifier) else None

    def is_open_trade(self, specifier: str) -> bool:
        """Return whether a specifier names a trade that is not closed."""
        trade = self.trade(specifier)
        return trade is not None and trade.id in self.state.trades

    def order_type(self, order_id: str) -> str | None:
        """Return the type of an order, pending or ended."""
        order = self.order(order_id)
        return None if order is None else order.created.order_type

    def orders(
        self, state: str, instrument: str | None = None, before: int | None = None
    ) -> Iterator[Order]:
        """Return orders in a state, newest first, read as they are asked for."""
        pending = reversed(self.state.orders.values()) if state in {"PENDING", "ALL"} else ()
        if state == "PENDING":
            return iter(pending)
        wanted = None if state == "ALL" else state
        ended = self.shelf.orders(wanted, instrument, before)
        return merge(pending, ended, key=_id_of, reverse=True)

    def trades(
        self, state: str, instrument: str | None = None, before: int | None = None
    ) -> Iterator[Trade]:
        """Return trades in a state, newest first, read as they are asked for."""
        held = reversed(self.state.trades.values())
        live = (trade for trade in held if state in {"ALL", trade.state})
        if state not in {"CLOSED", "ALL"}:
            return live
        return merge(
            live, self.shelf.trades("CLOSED", instrument, before), key=_id_of, reverse=True
        )

    # --- showing ---

    def details(self) -> dict[str, Any]:
        """Return the whole account."""
        return views.account(self.state, self.board)

    def summary(self) -> dict[str, Any]:
        """Return the account's numbers."""
        return views.summary(self.state, self.board)

    def order_view(self, order: Order) -> dict[str, Any]:
        """Return an order as it stands."""
        return views.order(order, self.board)

    def trade_view(self, trade: Trade) -> dict[str, Any]:
        """Return a trade with its dependent orders."""
        return views.trade(self.state, trade, self.board)

    def positions(self) -> list[dict[str, Any]]:
        """Return the position of every instrument ever traded."""
        return [views.position(self.state, name, self.board) for name in self.state.positions]

    def open_positions(self) -> list[dict[str, Any]]:
        """Return the positions that are open."""
        held = self.state.positions.values()
        names = [position.instrument for position in held if position.is_open]
        return [views.position(self.state, name, self.board) for name in names]

    def position(self, instrument: str) -> dict[str, Any] | None:
        """Return the position of an instrument, None when it was never traded."""
        if instrument not in self.state.positions:
            return None
        return views.position(self.state, instrument, self.board)

    def changes(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return what some transactions, as the ledger has them, did to the account."""
        return views.changes(
            self.state, [from_wire(json.loads(text)) for text in texts], self.board
        )

    def moving_state(self) -> dict[str, Any]:
        """Return everything that moves with the prices."""
        return views.state(self.state, self.board)

    def price_view(self, quote: Quote, units_available: bool) -> dict[str, Any]:
        """Return a price as this account sees it."""
        return views.client_price(self.state, quote, self.board, units_available)

    def home_conversions(self, names: Sequence[str]) -> list[dict[str, str]]:
        """Return the factors to the home currency of the currencies of some instruments."""
        return home_conversions(self.board, names, self.account.currency)


def _id_of(one: Order | Trade) -> int:
    return one.id


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID
