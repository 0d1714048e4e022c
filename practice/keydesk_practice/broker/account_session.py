"""One account at the broker: who it belongs to, what it holds, its past, and who listens to it.

It turns the engine's account into what the routes answer with; the prices are those in force on the board.

One account's past, read from the ledger in the ledger's own texts.

A long past is read in portions, each of which looks at few ids, so that whoever asks can let others go on in between.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from keydesk_practice.broker.feeds import PriceBoard, TransactionFeed, home_conversions
from keydesk_practice.engine import views
from keydesk_practice.engine.quotes import Quote
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.ledger.archive import Ended, LedgerArchive, Portion, Record
from keydesk_practice.ledger.ledger import Entry, Ledger, LedgerAccount

IDS_PER_PORTION = 100
IDS_PER_PORTION_OF_TYPES = 200  # read from the index of types alone


@dataclass(frozen=True, slots=True)
class History:
    """The committed transactions of one account."""

    ledger: Ledger
    account_id: str

    def text(self, id_: int) -> str | None:
        """Return the JSON text of one transaction, None when there is no such id."""
        return next(iter(self.ledger.bodies(self.account_id, id_, id_)), None)

    def portions(self, first: int, last: int, types: Sequence[str] = ()) -> Iterator[list[str]]:
        """Return the JSON texts of a range of ids, both ends included; of some types, a portion may be empty."""
        for low, high in _portions(range(first, last + 1), IDS_PER_PORTION):
            yield self.ledger.bodies(self.account_id, low, high, types)

    def ids_between(self, begin: int, end: int) -> range:
        """Return the ids of what happened between two times, both included; ids have no gaps."""
        first = self.ledger.first_id_not_before(self.account_id, begin)
        return range(first, self.ledger.first_id_not_before(self.account_id, end + 1))

    def ids_of_types(self, ids: range, types: Sequence[str]) -> Iterator[Sequence[int]]:
        """Return those of some ids whose transactions are of the types, ascending; a portion may be empty."""
        for low, high in _portions(ids, IDS_PER_PORTION_OF_TYPES):
            yield self.ledger.ids_of_types(self.account_id, low, high, types)


def _portions(ids: range, size: int) -> Iterator[tuple[int, int]]:
    for low in range(ids.start, ids.stop, size):
        yield low, min(low + size, ids.stop) - 1


LONGEST_ID = 18


@dataclass(slots=True)
class AccountSession:
    """An account's place at the broker."""

    account: LedgerAccount
    state: Account
    board: PriceBoard
    shelf: LedgerArchive
    history: History
    committed_id: int
    snapshot_id: int = 0  # how far the newest snapshot reaches
    listeners: TransactionFeed = field(default_factory=TransactionFeed)
    committed: Account = field(
        init=False
    )  # as the ledger has it; behind `state` while a batch is written

    def __post_init__(self) -> None:
        """Begin with nothing that is yet to be written."""
        self.committed = self.state

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

    def adopt(self, state: Account) -> Ended:
        """Take in the account as a decision left it, and return what ended on the way."""
        ended = Ended(tuple(state.ended.orders()), tuple(state.ended.trades()))
        self.shelf.hold(ended)
        state.ended = self.shelf
        self.state = state
        return ended

    def mark_committed(self, state: Account, ended: Ended) -> None:
        """Note that the ledger has the account as `state`; what ended on the way to it can be read there."""
        self.committed = state
        self.shelf.release(ended)

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
        self,
        state: str,
        instrument: str | None = None,
        before: int | None = None,
        ids: Collection[int] | None = None,
    ) -> Iterator[list[Order]]:
        """Return orders in a state, newest first, read portion by portion."""
        if ids is not None:
            return _looked_up(self.state.order, state, ids)
        pending = list(self.state.orders.values()) if state in {"PENDING", "ALL"} else []
        if state == "PENDING":
            return iter([pending[::-1]])
        wanted = None if state == "ALL" else state
        return _merged(
            pending, self.shelf.order_portions(self._highest(before), wanted, instrument)
        )

    def trades(
        self,
        state: str,
        instrument: str | None = None,
        before: int | None = None,
        ids: Collection[int] | None = None,
    ) -> Iterator[list[Trade]]:
        """Return trades in a state, newest first, read portion by portion."""
        if ids is not None:
            return _looked_up(self.state.trade, state, ids)
        live = [trade for trade in self.state.trades.values() if state in {"ALL", trade.state}]
        if state not in {"CLOSED", "ALL"}:
            return iter([live[::-1]])
        return _merged(live, self.shelf.trade_portions(self._highest(before), "CLOSED", instrument))

    def _highest(self, before: int | None) -> int:
        last = self.state.last_transaction_id
        return last if before is None else min(before, last)

    def committed_view(self) -> "AccountSession":
        """Return the account as the ledger has it, to be read while a batch is written."""
        state = self.committed.copy()
        state.ended = self.shelf.committed()
        return replace(self, state=state)

    def frozen(self) -> "AccountSession":
        """Return the account at the prices of this instant, to be read while the market goes on."""
        return replace(self, board=self.board.frozen())

    # --- showing ---

    def trade_worths(self) -> Iterator[tuple[int, views.TradeWorth]]:
        """Return what each open trade is worth, worked out as it is asked for."""
        return views.trade_worths(self.state, self.board)

    def worth(self, trades: Mapping[int, views.TradeWorth]) -> views.Worth:
        """Return what the account is worth, from what its open trades are."""
        return views.Worth(self.state, self.board, trades)

    def margin_available(self, worth: views.Worth) -> Decimal:
        """Return what is left for new positions."""
        return views.margin_available(self.state, worth)

    def lists(self, worth: views.Worth) -> dict[str, views.Views]:
        """Return the trades, positions and orders of the whole account."""
        return views.account_lists(self.state, self.board, worth)

    def summary(self, worth: views.Worth) -> dict[str, Any]:
        """Return the account's numbers."""
        return views.summary(self.state, self.board, worth)

    def order_view(self, order: Order) -> dict[str, Any]:
        """Return an order as it stands."""
        return views.order(order, self.board)

    def trade_view(self, trade: Trade) -> dict[str, Any]:
        """Return a trade with its dependent orders."""
        return views.trade(self.state, trade, self.board)

    def positions(self, worth: views.Worth) -> views.Views:
        """Return the position of every instrument ever traded."""
        return (self._position(name, worth) for name in self.state.positions)

    def open_positions(self, worth: views.Worth) -> views.Views:
        """Return the positions that are open."""
        held = self.state.positions.values()
        names = [position.instrument for position in held if position.is_open]
        return (self._position(name, worth) for name in names)

    def position(self, instrument: str, worth: views.Worth) -> dict[str, Any] | None:
        """Return the position of an instrument, None when it was never traded."""
        return self._position(instrument, worth) if instrument in self.state.positions else None

    def _position(self, instrument: str, worth: views.Worth) -> dict[str, Any]:
        return views.position(self.state, instrument, self.board, worth.position(instrument))

    def changes_lists(self, touched: views.Touched, worth: views.Worth) -> dict[str, views.Views]:
        """Return the orders, trades and positions that some transactions touched, as they are now."""
        return views.changes_lists(self.state, touched, self.board, worth)

    def totals(self, worth: views.Worth) -> dict[str, Any]:
        """Return the account's totals, those that move with the prices first."""
        return views.totals(self.state, worth)

    def state_lists(self, worth: views.Worth) -> dict[str, views.Views]:
        """Return what moves with the prices of each order, trade and position."""
        return views.state_lists(self.state, self.board, worth)

    def price_view(self, quote: Quote, available: Decimal | None) -> dict[str, Any]:
        """Return a price as this account sees it; with its available margin, what it could still trade."""
        return views.client_price(self.state, quote, self.board, available is not None, available)

    def home_conversions(self, names: Sequence[str]) -> list[dict[str, str]]:
        """Return the factors to the home currency of the currencies of some instruments."""
        return home_conversions(self.board, names, self.account.currency)


def _looked_up(
    find: Callable[[int], Record | None], state: str, ids: Collection[int]
) -> Iterator[list[Record]]:
    for id_ in sorted(ids, reverse=True):
        one = find(id_)
        yield [one] if one is not None and state in {"ALL", one.state} else []


def _merged(live: list[Record], ended: Iterable[Portion[Record]]) -> Iterator[list[Record]]:
    """Merge what is live, oldest first, with what ended, newest first; an id that is in both is live."""
    waiting = list(live)
    for portion in ended:
        found = {one.id: one for one in portion.records}
        while waiting and waiting[-1].id >= portion.lowest:
            found[waiting[-1].id] = waiting[-1]
            waiting.pop()
        yield [found[id_] for id_ in sorted(found, reverse=True)]
    yield waiting[::-1]


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID
