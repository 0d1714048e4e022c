"""Profit, margin and totals follow the prices."""

from decimal import Decimal

from keydesk.store.prices import apply_conversions, apply_price
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.valuation import revalue
from keydesk.values import AccountState, Today
from support.data.account_history import conversions, fresh_store, opening, price, transaction

DAY_START = 1_772_402_400_000_000_000  # 2026-03-01 22:00 UTC


def desk_with_a_long() -> Store:
    """50,000 EUR_USD bought at 1.08500, stop at 1.08300; the market as it was then."""
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    stop = {"tradeID": "5", "timeInForce": "GTC", "reason": "ON_FILL", "price": "1.08300"}
    apply(store, transaction(6, "STOP_LOSS_ORDER", **stop))
    apply_price(store, price("EUR_USD", "1.08490", "1.08500"), 1.0)
    revalue(store, 1.0)
    return store


def account_of(store: Store) -> AccountState:
    assert store.account is not None
    return store.account


def move(store: Store, bid: str, ask: str, time: str = "2026-03-02T10:00:01.000000000Z") -> None:
    store.pop_dirty()
    apply_price(store, price("EUR_USD", bid, ask, time), 2.0)
    revalue(store, 2.0)


def test_a_new_trade_shows_the_spread_as_its_loss() -> None:
    store = desk_with_a_long()
    trade = store.trades["5"]
    assert trade.unrealized_pl == Decimal("-5.00")
    assert trade.pips == Decimal(-1)
    assert account_of(store).nav == Decimal(9995)
    assert account_of(store).mid_nav == Decimal("9997.5")


def test_every_tick_moves_profit_r_and_the_account() -> None:
    store = desk_with_a_long()
    move(store, "1.08700", "1.08710")
    trade, account = store.trades["5"], account_of(store)
    assert trade.now == Decimal("1.08700")
    assert trade.unrealized_pl == Decimal(100)
    assert trade.r_multiple == Decimal(1)
    assert account.unrealized_pl == Decimal(100)
    assert store.positions["EUR_USD"].unrealized_pl == Decimal(100)
    dirty = store.pop_dirty()
    assert dirty[Topic.TRADES] == {"5"}
    assert dirty[Topic.POSITIONS] == {"EUR_USD"}


def test_margin_and_closeout_by_the_worked_numbers() -> None:
    account = account_of(desk_with_a_long())
    assert account.margin_used.quantize(Decimal("0.01")) == Decimal("1806.44")
    assert account.margin_closeout_percent.quantize(Decimal("0.0001")) == Decimal("0.0903")
    assert account.margin_available == account.nav - account.margin_used


def test_open_risk_and_unprotected_trades_are_counted() -> None:
    store = desk_with_a_long()
    assert account_of(store).open_risk == Decimal(100)
    assert account_of(store).unprotected_trades == 0
    apply(store, opening(8, "1000", "1.08500"))
    revalue(store, 1.0)
    assert account_of(store).unprotected_trades == 1


def test_a_stop_past_the_entry_locks_instead_of_risking() -> None:
    store = desk_with_a_long()
    cancel = {"orderID": "6", "reason": "CLIENT_REQUEST_REPLACED", "replacedByOrderID": "8"}
    apply(store, transaction(7, "ORDER_CANCEL", **cancel))
    stop = {"tradeID": "5", "timeInForce": "GTC", "reason": "REPLACEMENT", "price": "1.08570"}
    apply(store, transaction(8, "STOP_LOSS_ORDER", **stop))
    revalue(store, 1.0)
    trade = store.trades["5"]
    assert (trade.risk, trade.locked) == (Decimal(0), Decimal(35))
    assert trade.initial_risk == Decimal(100)


def test_an_instrument_that_did_not_move_is_not_worked_out_again() -> None:
    store = desk_with_a_long()
    store.pop_dirty()
    apply_price(store, price("USD_JPY", "155.200", "155.214"), 2.0)
    revalue(store, 2.0)
    assert Topic.TRADES not in store.pop_dirty()


def test_a_loss_in_yen_converts_at_the_loss_factor() -> None:
    store = fresh_store()
    apply(store, opening(5, "-39850", "155.200", "USD_JPY"))
    apply_conversions(store, [conversions("JPY", "0.00641079", "0.00647522", "0.00644301")])
    apply_price(store, price("USD_JPY", "155.586", "155.600"), 1.0)
    revalue(store, 1.0)
    profit = store.trades["5"].unrealized_pl
    assert profit is not None
    assert profit.quantize(Decimal("0.01")) == Decimal("-103.22")


def test_without_a_conversion_the_services_figure_stays() -> None:
    store = fresh_store()
    apply(store, opening(5, "-39850", "155.200", "USD_JPY"))
    account_of(store).unrealized_pl = Decimal(-7)
    apply_price(store, price("USD_JPY", "155.586", "155.600"), 1.0)
    revalue(store, 1.0)
    assert store.trades["5"].unrealized_pl is None
    assert account_of(store).unrealized_pl == Decimal(-7)


def test_the_days_profit_leaves_transfers_out() -> None:
    store = desk_with_a_long()
    store.today = Today(start_ns=DAY_START, unrealized_then=Decimal(0))
    paid = {"amount": "500.0000", "fundingReason": "CLIENT_FUNDING", "accountBalance": "10500.0000"}
    apply(store, transaction(7, "TRANSFER_FUNDS", **paid))
    move(store, "1.08700", "1.08710")
    account = account_of(store)
    assert account.day_start_nav == Decimal(10000)
    assert account.day_transfers == Decimal(500)
    assert account.day_pl == Decimal(100)


def test_at_five_in_new_york_a_new_day_begins_from_what_was_known_before() -> None:
    store = desk_with_a_long()
    store.today = Today(start_ns=DAY_START, unrealized_then=Decimal(0))
    move(store, "1.08700", "1.08710", "2026-03-02T22:00:01.000000000Z")
    assert store.today.start_ns == DAY_START + 86_400_000_000_000
    assert store.today.unrealized_then == Decimal(-5)
    assert account_of(store).day_pl == Decimal(105)


def test_how_far_a_resting_order_is_from_its_price() -> None:
    store = desk_with_a_long()
    limit = {"instrument": "EUR_USD", "units": "1000", "price": "1.08350", "reason": "CLIENT_ORDER"}
    apply(store, transaction(7, "LIMIT_ORDER", timeInForce="GTC", **limit))
    revalue(store, 1.0)
    assert store.orders["7"].pips_away == Decimal(15)  # a buy fills at the ask
    assert store.orders["6"].pips_away == Decimal(19)  # the stop of a long at the bid
