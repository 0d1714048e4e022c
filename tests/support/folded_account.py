"""A practised account seen by a desk: every transaction goes over the wire's form into a store that folds it."""

import json
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial

from keydesk.store.prices import apply_conversions, apply_price
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.valuation import revalue
from keydesk.values import AccountState, OrderRow, PositionRow, TradeRow
from keydesk_client.account.snapshot import apply_snapshot, forget_first_stop
from keydesk_client.account.synchronizer import TransactionGate
from keydesk_client.models import Account, AccountChanges, AccountChangesState, Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_practice.engine.commands import Command, Tick
from keydesk_practice.engine.quotes import Level
from keydesk_practice.engine.transactions import Transaction as Happened
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.engine.views.account_views import account as account_view
from keydesk_practice.engine.views.account_views import changes as changes_view
from keydesk_practice.engine.views.account_views import state as state_view
from support.data.account_history import conversions, instrument, price
from support.fakes.still_market import StillMarket
from support.practised_account import PractisedAccount

_transactions: Reader[Transaction] = Reader(Transaction)
_accounts = Reader(Account)
_changes = Reader(AccountChanges)
_states = Reader(AccountChangesState)


class FoldedAccount:
    """The broker's account and the desk's picture of it, side by side."""

    def __init__(self, broker: PractisedAccount) -> None:
        self.broker = broker
        self.store = Store()
        self.doubts: list[str] = []
        self.gate = TransactionGate(
            partial(apply, self.store), self.store, request_snapshot=self.doubts.append
        )
        for name, terms in broker.market.specifications.items():
            self.store.instruments[name] = instrument(name, terms.pip_location)
        apply_snapshot(self.store, self.theirs())
        self.gate.open_at(len(broker.transactions))
        self._seen = self._first = len(broker.transactions)

    def do(self, command: Command) -> None:
        """Have the broker do something, and the desk hear of it; told twice, the last first."""
        self.broker.do(command)
        new = self.broker.transactions[self._seen :]
        self._seen += len(new)
        told = [read_from_wire(each) for each in new]
        self.gate.offer_all(reversed(told))
        self.gate.offer_all(told)

    def tick(self, name: str, bid: str, ask: str) -> None:
        """Move a price: what it triggers happens at once."""
        self.broker.market.wait(1)
        self.broker.market.price(name, bid, ask)
        self.do(Tick(instruments=frozenset({name})))

    def theirs(self) -> Account:
        """The broker's own snapshot."""
        return _accounts.read(json.dumps(account_view(self.broker.state, self.broker.market)))

    def poll(self, last: int | None = None) -> tuple[AccountChanges, AccountChangesState]:
        """What a poll since a transaction, or since the desk was opened, would bring."""
        since = self.broker.transactions[self._first if last is None else last :]
        state, market = self.broker.state, self.broker.market
        changed = _changes.read(json.dumps(changes_view(state, since, market)))
        return changed, _states.read(json.dumps(state_view(state, market)))

    def value(self) -> AccountState:
        """Work out profit and margin from the market's prices, and hand back the account."""
        give_prices(self.store, self.broker.market, self.theirs().currency)
        revalue(self.store, 1.0)
        assert self.store.account is not None
        return self.store.account


def give_prices(store: Store, market: StillMarket, home: str) -> None:
    """Bring the desk the market's prices and conversion factors."""
    for currency in ("EUR", "GBP", "JPY", "USD"):
        worth = market.conversion(currency, home)
        factors = (str(worth.gain), str(worth.loss), str(worth.value))
        apply_conversions(store, [conversions(currency, *factors)])
    for name, quote in market.quotes.items():
        sent = price(
            name,
            str(quote.bid),
            str(quote.ask),
            bids=_on_the_wire(quote.bids),
            asks=_on_the_wire(quote.asks),
        )
        apply_price(store, sent, 1.0)
        row = store.quotes[name]
        row.bid, row.ask = quote.bid, quote.ask


def _on_the_wire(levels: Iterable[Level]) -> list[dict[str, object]]:
    return [{"price": str(each.price), "liquidity": each.liquidity} for each in levels]


def read_from_wire(transaction: Happened) -> Transaction:
    """Read a transaction of the engine as the stream brings it."""
    return _transactions.read(json.dumps(to_wire(transaction)))


Picture = tuple[
    dict[str, TradeRow], dict[str, OrderRow], dict[str, PositionRow], tuple[Decimal, ...]
]


def picture(store: Store) -> Picture:
    """All of an account that does not move with prices."""
    account = store.account
    assert account is not None
    return (
        {key: _still_trade(row) for key, row in store.trades.items()},
        {key: _still_order(row) for key, row in store.orders.items()},
        {key: _still_position(row) for key, row in store.positions.items()},
        (account.balance, account.pl, account.financing, Decimal(account.last_transaction_id)),
    )


def their_picture(folded: FoldedAccount) -> Picture:
    """The same of a desk that has just been opened."""
    fresh = Store()
    apply_snapshot(fresh, folded.theirs())
    return picture(fresh)


def _still_trade(row: TradeRow) -> TradeRow:
    still = replace(row, unrealized_pl=None, margin_used=None, now=None, pips=None, r_multiple=None)
    still = replace(still, risk=None, locked=None, opened_closing=None, opened_loss_factor=None)
    forget_first_stop(still)
    if still.trailing_stop is not None:
        still.trailing_stop = replace(still.trailing_stop, price=None)
    return still


def _still_order(row: OrderRow) -> OrderRow:
    trails = row.type == "TRAILING_STOP_LOSS"
    return replace(row, pips_away=None, price=None if trails else row.price, on_fill=False)


def _still_position(row: PositionRow) -> PositionRow:
    return replace(row, unrealized_pl=None, margin_used=None, mid_pl=None, margin_factor=Decimal(1))
