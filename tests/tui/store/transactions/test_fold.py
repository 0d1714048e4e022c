"""Transactions folded onto the account."""

from decimal import Decimal

from keydesk.store.state import Topic
from keydesk.store.transactions.fold import apply
from keydesk.values import Today
from keydesk_client.account.fold import remember_first_stops
from support.data.account_history import fill, fresh_store, opening, reduction, transaction

STOP = {"tradeID": "5", "timeInForce": "GTC", "reason": "ON_FILL"}


def test_a_fill_opens_a_trade_and_a_position() -> None:
    store = fresh_store()
    assert apply(store, opening(5, "50000", "1.08500"))
    trade, position = store.trades["5"], store.positions["EUR_USD"]
    assert (trade.units, trade.price) == (Decimal(50000), Decimal("1.08500"))
    assert position.long_units == Decimal(50000)
    assert position.long_average == Decimal("1.08500")
    assert store.account is not None
    assert store.account.last_transaction_id == 5


def test_a_stop_with_the_fill_stands_on_its_trade_and_is_the_initial_one() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    assert apply(store, transaction(6, "STOP_LOSS_ORDER", price="1.08300", **STOP))
    trade = store.trades["5"]
    assert trade.stop_loss is not None
    assert trade.stop_loss.price == Decimal("1.08300")
    assert trade.initial_stop == Decimal("1.08300")
    assert store.orders["6"].instrument == "EUR_USD"


def test_moving_the_stop_leaves_the_initial_one() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    apply(store, transaction(6, "STOP_LOSS_ORDER", price="1.08300", **STOP))
    cancel = {"orderID": "6", "reason": "CLIENT_REQUEST_REPLACED", "replacedByOrderID": "8"}
    apply(store, transaction(7, "ORDER_CANCEL", **cancel))
    assert store.trades["5"].stop_loss is None
    moved = STOP | {"reason": "REPLACEMENT", "replacesOrderID": "6"}
    apply(store, transaction(8, "STOP_LOSS_ORDER", price="1.08400", **moved))
    trade = store.trades["5"]
    assert trade.stop_loss is not None
    assert trade.stop_loss.price == Decimal("1.08400")
    assert trade.initial_stop == Decimal("1.08300")
    assert set(store.orders) == {"8"}


def test_an_answer_that_ends_with_the_fill_leaves_the_stop_that_came_meanwhile() -> None:
    """Earlier transactions are asked for while the stream brings fill and stop: the answer may end between them."""
    store, opened = fresh_store(), opening(5, "50000", "1.08500")
    apply(store, opened)
    apply(store, transaction(6, "STOP_LOSS_ORDER", price="1.08300", **STOP))
    remember_first_stops(store, [opened])
    assert store.trades["5"].initial_stop == Decimal("1.08300")
    nearer = transaction(6, "STOP_LOSS_ORDER", price="1.08400", **STOP)
    remember_first_stops(store, [opened, nearer])
    assert store.trades["5"].initial_stop == Decimal("1.08400"), "as the answer says"


def test_a_stop_set_an_hour_later_is_not_the_initial_one() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    later = STOP | {"time": "2026-03-02T11:00:00.000000000Z"}
    apply(store, transaction(6, "STOP_LOSS_ORDER", price="1.08300", **later))
    assert store.trades["5"].initial_stop is None


def test_a_trailing_stop_counts_from_the_entry() -> None:
    store = fresh_store()
    apply(store, opening(5, "-50000", "1.08500"))
    apply(store, transaction(6, "TRAILING_STOP_LOSS_ORDER", distance="0.00150", **STOP))
    assert store.trades["5"].initial_stop == Decimal("1.08650")
    assert store.trades["5"].trailing_stop is not None


def test_closing_half_books_the_profit_and_keeps_the_entry() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    half = reduction(5, "-25000", "1.08600", "25.0000")
    money = {"pl": "25.0000", "accountBalance": "10025.0000"}
    assert apply(store, fill(7, units="-25000", tradeReduced=half, **money))
    trade = store.trades["5"]
    assert trade.units == Decimal(25000)
    assert trade.initial_units == Decimal(50000)
    assert trade.realized_pl == Decimal(25)
    assert store.account is not None
    assert store.account.balance == Decimal(10025)
    assert store.account.pl == Decimal(25)


def test_closing_all_leaves_nothing_behind() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    apply(store, transaction(6, "STOP_LOSS_ORDER", price="1.08300", **STOP))
    whole = reduction(5, "-50000", "1.08600", "50.0000")
    apply(store, fill(8, units="-50000", tradesClosed=[whole], pl="50.0000"))
    apply(store, transaction(9, "ORDER_CANCEL", orderID="6", reason="LINKED_TRADE_CLOSED"))
    assert not store.trades
    assert not store.positions
    assert not store.orders


def test_a_reversal_closes_the_old_trade_and_opens_the_new_one() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    opened = {"tradeID": "7", "units": "-50000", "price": "1.08600"}
    whole = reduction(5, "-50000", "1.08600", "50.0000")
    apply(store, fill(7, units="-100000", tradesClosed=[whole], tradeOpened=opened))
    assert set(store.trades) == {"7"}
    assert store.positions["EUR_USD"].short_units == Decimal(-50000)
    assert store.positions["EUR_USD"].long_average is None


def test_a_resting_order_leaves_the_list_when_it_fills() -> None:
    store = fresh_store()
    limit = {"instrument": "EUR_USD", "units": "1000", "price": "1.08000", "reason": "CLIENT_ORDER"}
    bracket = {"stopLossOnFill": {"distance": "0.00200"}, "takeProfitOnFill": {"price": "1.09000"}}
    apply(store, transaction(5, "LIMIT_ORDER", timeInForce="GTC", **limit, **bracket))
    order = store.orders["5"]
    assert (order.type, order.stop_loss) == ("LIMIT", Decimal("1.07800"))
    assert order.take_profit == Decimal("1.09000")
    apply(store, fill(6, orderID="5", reason="LIMIT_ORDER"))
    assert not store.orders


def test_financing_reaches_the_balance_and_each_trade() -> None:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    part = {"tradeID": "5", "financing": "-3.2000"}
    held = {"instrument": "EUR_USD", "financing": "-3.2000", "openTradeFinancings": [part]}
    charge = {"financing": "-3.2000", "accountBalance": "9996.8000"}
    assert apply(store, transaction(6, "DAILY_FINANCING", positionFinancings=[held], **charge))
    assert store.account is not None
    assert store.account.balance == Decimal("9996.8")
    assert store.account.financing == Decimal("-3.2")
    assert store.trades["5"].financing == Decimal("-3.2")


def test_what_was_booked_today_is_counted_and_transfers_apart() -> None:
    store = fresh_store()
    store.today = Today(start_ns=0)
    money = {"pl": "25.0000", "commission": "1.0000", "financing": "-0.5000"}
    apply(store, fill(5, **money))
    paid = {"amount": "500.0000", "fundingReason": "CLIENT_FUNDING", "accountBalance": "10500.0000"}
    apply(store, transaction(6, "TRANSFER_FUNDS", **paid))
    assert store.today.booked == Decimal("23.5")
    assert store.today.transfers == Decimal(500)


def test_settings_change_the_account() -> None:
    store = fresh_store()
    apply(store, transaction(4, "CLIENT_CONFIGURE", alias="Swing\x1b[31m", marginRate="0.05"))
    assert store.account is not None
    assert "\x1b" not in store.account.alias
    assert store.account.margin_rate == Decimal("0.05")


def test_a_trades_tag_can_change() -> None:
    store = fresh_store()
    apply(store, opening(5, "1000", "1.08500"))
    change = {"tradeID": "5", "tradeClientExtensionsModify": {"tag": "breakout"}}
    assert apply(store, transaction(6, "TRADE_CLIENT_EXTENSIONS_MODIFY", **change))
    assert store.trades["5"].tag == "breakout"


def test_an_unknown_kind_asks_for_a_snapshot_and_leaves_a_line() -> None:
    store = fresh_store()
    assert not apply(store, transaction(4, "MOON_ADJUSTMENT", amount="12"))
    assert "MOON_ADJUSTMENT" in store.log[-1].text
    assert store.account is not None
    assert store.account.last_transaction_id == 4


def test_closing_a_trade_never_seen_asks_for_a_snapshot() -> None:
    store = fresh_store()
    whole = reduction(99, "-1000", "1.08600", "1.0000")
    assert not apply(store, fill(5, tradesClosed=[whole], pl="1.0000"))


def test_a_refusal_changes_nothing_but_the_log() -> None:
    store = fresh_store()
    refused = {
        "instrument": "EUR_USD",
        "units": "0",
        "timeInForce": "FOK",
        "reason": "CLIENT_ORDER",
    }
    assert apply(
        store, transaction(4, "MARKET_ORDER_REJECT", rejectReason="UNITS_INVALID", **refused)
    )
    assert not store.orders
    assert store.log[-1].kind == "REJECT"


def test_every_change_is_marked_for_the_panes() -> None:
    store = fresh_store()
    store.pop_dirty()
    apply(store, opening(5, "1000", "1.08500"))
    dirty = store.pop_dirty()
    assert {Topic.ACCOUNT, Topic.TRADES, Topic.POSITIONS, Topic.LOG} <= dirty.keys()


def test_before_the_first_snapshot_nothing_can_be_folded() -> None:
    store = fresh_store()
    store.account = None
    assert not apply(store, opening(5, "1000", "1.08500"))
