"""What the broker answers about the account and cannot be read is unknown: it is not nothing, and no sum is made from it.

One member of an answer, or of a line of the transaction stream, is missing, of another type or hostile: then the desk's
trades, orders and NAV are the broker's, or the desk says that they are not known.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.forms.account.leaving import must_ask
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.unknown import are_trades_known, is_known, unknown_lines, unknown_text
from keydesk.store.valuation import revalue
from keydesk.trading.open_items import unread_parts
from keydesk_client.account.synchronizer import Synchronizer
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.errors import UnreadableAnswer, message_of
from keydesk_client.models import Account, Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models.responses import AccountChangesResponse
from keydesk_practice.engine.commands import (
    LimitRequest,
    MarketRequest,
    PlaceOrder,
    StopLossDetails,
    StopRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.engine.views.account_views import account as account_view
from keydesk_practice.engine.views.account_views import changes as changes_view
from keydesk_practice.engine.views.account_views import state as state_view
from support.data.account_history import instrument
from support.data.hostile_text import FRAGMENTS
from support.examples import examples
from support.fakes.hostile_broker import LEFT_OUT, changed_at, paths_of
from support.folded_account import give_prices
from support.practised_account import PractisedAccount

D = Decimal
UNREADABLE: tuple[object, ...] = (LEFT_OUT, None, True, [], {}, "", "x", "NaN", FRAGMENTS[0])
"""In place of a member: none of these is a number, a time or an id."""
Body = dict[str, Any]
Mutate = Callable[[Body], Body]

_accounts = Reader(Account)
_changes = Reader(AccountChangesResponse)
_transactions: Reader[Transaction] = Reader(Transaction)


def practised() -> PractisedAccount:
    """An account with three trades, one of them without a stop, and two orders that wait."""
    broker = PractisedAccount(deposit="100000")
    buy = MarketRequest(instrument="EUR_USD", units=D(10_000))
    mid = broker.market.quote("EUR_USD").bid
    stop = StopLossDetails(price=mid - D("0.0050"))
    target = TakeProfitDetails(price=mid + D("0.0050"))
    trail = TrailingStopLossDetails(distance=D("0.0050"))
    for order in (
        replace(buy, stop_loss_on_fill=stop, take_profit_on_fill=target),
        replace(buy, units=D(3_000), trailing_stop_loss_on_fill=trail),
        MarketRequest(instrument="USD_JPY", units=D(-2_000)),
        LimitRequest(instrument="EUR_USD", units=D(500), price=mid - D("0.0100")),
        StopRequest(instrument="EUR_USD", units=D(-700), price=mid - D("0.0100")),
    ):
        broker.do(PlaceOrder(order=order))
    return broker


class Desk:
    """The desk's picture of an account, kept by answers and lines that a test may spoil."""

    def __init__(self) -> None:
        self.broker, self.store, self.doubts = practised(), Store(), list[str]()
        self.synchronizer = Synchronizer(self.store, partial(apply, self.store), self.doubts.append)
        self.gate = self.synchronizer.gate
        for name, terms in self.broker.market.specifications.items():
            self.store.instruments[name] = instrument(name, terms.pip_location)

    def reads_account(self, spoil: Mutate = lambda body: body) -> None:
        """Read the whole account, as the account's feed does."""
        body = spoil(dict(account_view(self.broker.state, self.broker.market)))
        with self.synchronizer.asking() as request:
            self._take(lambda: self._snapshot(body, request))

    def _snapshot(self, body: Body, request: Any) -> None:  # noqa: ANN401 - as asked
        self.synchronizer.apply_snapshot(_accounts.read(json.dumps(body)), request)
        self.doubts.clear()

    def reads_changes(self, spoil: Mutate = lambda body: body) -> None:
        """Compare with the changes, as the feed of changes does."""
        state, market = self.broker.state, self.broker.market
        since = self.broker.transactions[self.synchronizer.checked :]
        body = {
            "changes": dict(changes_view(state, since, market)),
            "state": dict(state_view(state, market)),
            "lastTransactionID": str(len(self.broker.transactions)),
        }
        with self.synchronizer.asking() as request:
            self._take(
                lambda: self.synchronizer.apply_changes(
                    _changes.read(json.dumps(spoil(body))), request
                )
            )

    def _take(self, action: Callable[[], object]) -> None:
        try:
            action()
        except (UnreadableAnswer, *READ_ERRORS) as error:
            self.synchronizer.note_unread(message_of(error) or "unreadable")
        self._value()

    def _value(self) -> None:
        give_prices(self.store, self.broker.market, "USD")
        revalue(self.store, 1.0)

    def hears(self, number: int, spoil: Mutate = lambda body: body) -> None:
        """Take the line of a transaction from the stream, then the number of the newest."""
        line = json.dumps(spoil(dict(to_wire(self.broker.transactions[number]))))
        try:
            self.gate.offer(_transactions.read(line))
        except UnreadableAnswer:
            self.store.note_unreadable("a line of the stream")
        self.gate.saw_last(number + 1)
        self._value()

    @property
    def is_marked(self) -> bool:
        """Whether it says that something is not known, or asks for what it knows to be missing."""
        missing = self.gate.missing is not None
        return bool(not is_known(self.store) or self.doubts or missing)

    def check(self) -> None:
        """Hold the desk's picture against the broker's, unless the desk marks it."""
        if not self.is_marked:
            assert ours(self.store) == theirs(self.broker)
            assert are_trades_known(self.store)
        elif self.store.account is not None and not self.doubts and self.gate.missing is None:
            assert must_ask(self.store)
            assert unknown_text(self.store)
            assert unknown_lines(self.store)


def ours(store: Store) -> object:
    assert store.account is not None
    trades = {
        each.id: (each.units, each.price, _id_of(each.stop_loss), _id_of(each.trailing_stop))
        for each in store.trades.values()
    }
    orders = {each.id: each.type for each in store.orders.values()}
    return trades, orders, store.account.balance, store.account.nav


def _id_of(dependent: Any) -> str | None:  # noqa: ANN401 - an order or none
    return None if dependent is None else dependent.order_id


def theirs(broker: PractisedAccount) -> object:
    account = _accounts.read(json.dumps(account_view(broker.state, broker.market)))
    trades = {
        each.id: (
            each.current_units,
            each.price,
            each.stop_loss_order_id,
            each.trailing_stop_loss_order_id,
        )
        for each in account.trades
    }
    orders = {each.id: str(each.type) for each in account.orders}
    return trades, orders, account.balance, account.nav


@st.composite
def spoiling(draw: st.DrawFn) -> Mutate:
    """Put something that cannot be read in place of one member, wherever it is."""
    place, value = draw(st.integers(0, 100_000)), draw(st.sampled_from(UNREADABLE))

    def spoil(body: Body) -> Body:
        paths = [each for each in paths_of(body) if isinstance(each[-1], str)]
        changed: Body = changed_at(body, paths[place % len(paths)], value)
        return changed

    return spoil


@settings(deadline=None, max_examples=examples(15, soak=150))
@given(spoil=spoiling())
def test_an_account_that_is_read_for_the_first_time_is_the_brokers_or_unknown(
    spoil: Mutate,
) -> None:
    desk = Desk()
    desk.reads_account(spoil)
    desk.check()
    desk.reads_account()
    desk.reads_changes()
    assert not desk.is_marked
    desk.check()


@pytest.mark.parametrize("count", ["openTradeCount", "pendingOrderCount"])
def test_a_count_far_beyond_the_list_is_marked_and_takes_no_memory(count: str) -> None:
    desk = Desk()
    desk.reads_account(lambda body: body | {count: 10**15})  # as many names fit no memory
    was_marked = desk.is_marked
    desk.check()
    desk.reads_account()
    desk.reads_changes()
    assert was_marked
    assert not desk.is_marked
    desk.check()


@settings(deadline=None, max_examples=examples(15, soak=150))
@given(spoil=spoiling())
def test_an_account_that_is_read_again_is_the_brokers_or_unknown(spoil: Mutate) -> None:
    desk = Desk()
    desk.reads_account()
    desk.broker.do(PlaceOrder(order=MarketRequest(instrument="EUR_USD", units=D(-12_000))))
    desk.reads_account(spoil)
    desk.check()
    desk.reads_account()
    desk.check()


@settings(deadline=None, max_examples=examples(15, soak=150))
@given(spoil=spoiling())
def test_changes_in_part_unread_leave_no_account_that_is_taken_for_the_brokers(
    spoil: Mutate,
) -> None:
    desk = Desk()
    desk.reads_account()
    desk.broker.do(PlaceOrder(order=MarketRequest(instrument="EUR_USD", units=D(-12_000))))
    desk.reads_changes(spoil)
    desk.check()
    desk.reads_account()
    desk.reads_changes()
    assert not desk.is_marked
    desk.check()


@settings(deadline=None, max_examples=examples(15, soak=150))
@given(spoil=spoiling(), number=st.integers(0, 1))
def test_a_line_of_the_stream_that_cannot_be_read_is_asked_for(spoil: Mutate, number: int) -> None:
    desk = Desk()
    desk.reads_account()
    first = len(desk.broker.transactions)
    desk.broker.do(PlaceOrder(order=MarketRequest(instrument="EUR_USD", units=D(-12_000))))
    for each in range(first, len(desk.broker.transactions)):
        desk.hears(each, spoil if each - first == number else lambda body: body)
    desk.check()


def of_trade(member: str, value: object) -> Mutate:
    """Spoil a member of the first trade of a snapshot."""
    return lambda body: changed_at(body, ("trades", 0, member), value)


def test_trades_whose_ids_cannot_be_read_are_not_none() -> None:
    desk = Desk()

    def spoil(body: Body) -> Body:
        for place in range(len(body["trades"])):
            body = changed_at(body, ("trades", place, "id"), f"{place}\x1b]52;")
        return body

    desk.reads_account(spoil)
    store = desk.store
    assert not store.trades
    assert unknown_text(store).startswith("3 trades")
    assert store.account is not None
    assert store.account.margin_used > 0, "the broker's own: no sum is made of no trades"
    assert (
        store.account.unrealized_pl
        == _accounts.read(
            json.dumps(account_view(desk.broker.state, desk.broker.market))
        ).unrealized_pl
    )
    assert store.account.open_risk is None
    assert must_ask(store)


@pytest.mark.parametrize("member", ["id", "currentUnits", "price", "instrument", "realizedPL"])
def test_a_trade_that_was_known_stays_when_a_member_cannot_be_read(member: str) -> None:
    desk = Desk()
    desk.reads_account()
    before = dict(desk.store.trades)
    desk.reads_account(of_trade(member, "\x1b["))
    assert desk.store.trades.keys() == before.keys()
    if member not in {"price", "instrument"}:
        assert not is_known(desk.store)


def test_a_stop_that_cannot_be_read_is_no_missing_stop() -> None:
    desk = Desk()

    def spoil(body: Body) -> Body:
        stops = [place for place, each in enumerate(body["orders"]) if "STOP_LOSS" in each["type"]]
        for place in stops:
            body = changed_at(body, ("orders", place, "type"), "NEW_KIND")
        return body

    desk.reads_account(spoil)
    unprotected = [each for each in desk.store.trades.values() if each.is_unprotected]
    assert [each.instrument for each in unprotected] == ["USD_JPY"]
    assert unknown_text(desk.store) == "2 orders"


def test_the_commands_name_what_could_not_be_read() -> None:
    broker = practised()
    body = dict(account_view(broker.state, broker.market))
    assert unread_parts(_accounts.read(json.dumps(body))) == ()
    for path, said in (
        (("NAV",), "nav"),
        (("trades",), "trades"),
        (("trades", 0, "financing"), "of trade #5: financing"),
        (("trades", 0, "price"), "a trade: 5 EUR_USD 10000"),
        (("orders", 3, "units"), "an order: 13 LIMIT EUR_USD 1.07490"),
    ):
        spoiled = changed_at(body, path, FRAGMENTS[0])
        assert said in unread_parts(_accounts.read(json.dumps(spoiled)))
