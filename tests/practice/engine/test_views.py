from decimal import Decimal
from typing import Any

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    ClientExtensions,
    CloseTrade,
    LimitRequest,
    MarketIfTouchedRequest,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.state.account import Terms
from support.practised_account import PractisedAccount

D = Decimal


def busy() -> PractisedAccount:
    account = PractisedAccount()
    account.trade(
        "EUR_USD",
        50000,
        stop_loss_on_fill=StopLossDetails(price=D("1.083")),
        trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=D("0.002")),
        trade_client_extensions=ClientExtensions(id="core"),
    )
    account.place(LimitRequest(instrument="USD_JPY", units=D(-5000), price=D("156.5")))
    return account


def test_the_account_values_longs_at_the_bid_and_closeouts_at_the_mid() -> None:
    account = busy()
    account.market.price("EUR_USD", "1.08700", "1.08720")
    shown = views.account(account.state, account.market)
    assert shown["balance"] == "10000.0000"
    assert (shown["unrealizedPL"], shown["NAV"]) == ("100.0000", "10100.0000")
    assert shown["marginCloseoutUnrealizedPL"] == "105.0000"
    assert shown["marginCloseoutNAV"] == "10105.0000"
    assert shown["marginUsed"] == "1810.0215"
    assert shown["marginAvailable"] == shown["withdrawalLimit"] == "8289.9785"
    assert shown["marginCallPercent"] == "0.17912"
    assert shown["marginCloseoutPercent"] == "0.08956"
    assert (shown["openTradeCount"], shown["openPositionCount"], shown["pendingOrderCount"]) == (
        1,
        1,
        3,
    )
    assert shown["hedgingEnabled"] is False
    assert [order["type"] for order in shown["orders"]] == [
        "STOP_LOSS",
        "TRAILING_STOP_LOSS",
        "LIMIT",
    ]
    assert shown["lastTransactionID"] == str(len(account.transactions))


def test_the_summary_is_the_account_without_its_lists() -> None:
    account = busy()
    whole = views.account(account.state, account.market)
    lists = {"trades", "positions", "orders"}
    expected = {name: value for name, value in whole.items() if name not in lists}
    assert views.summary(account.state, account.market) == expected


def test_a_trade_carries_its_orders_and_its_summary_their_ids() -> None:
    account = busy()
    trade = next(iter(account.state.trades.values()))
    whole = views.trade(account.state, trade, account.market)
    assert whole["stopLossOrder"]["price"] == "1.08300"
    assert whole["trailingStopLossOrder"]["trailingStopValue"] == "1.08290"
    assert whole["stopLossOrder"]["clientTradeID"] == "core"
    assert (whole["price"], whole["initialMarginRequired"]) == ("1.08500", "1806.4418")
    assert whole["clientExtensions"] == {"id": "core"}
    summary = views.trade_summary(account.state, trade, account.market)
    assert (summary["stopLossOrderID"], summary["trailingStopLossOrderID"]) == ("6", "7")
    assert "takeProfitOrderID" not in summary


def test_a_flat_position_stays_readable_without_price_and_trades() -> None:
    account = busy()
    account.do(CloseTrade(specifier="@core"))
    shown = views.position(account.state, "EUR_USD", account.market)
    assert shown["pl"] == "-5.0000"
    assert shown["long"]["units"] == shown["short"]["units"] == "0"
    assert "marginUsed" not in shown
    for side in ("long", "short"):
        assert "averagePrice" not in shown[side]
        assert "tradeIDs" not in shown[side]


def test_a_short_side_has_negative_units_and_a_positive_price() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", -1000)
    side = views.position(account.state, "EUR_USD", account.market)["short"]
    assert (side["units"], side["averagePrice"], side["tradeIDs"]) == ("-1000", "1.08490", ["5"])


def test_ended_orders_show_how_they_ended() -> None:
    account = busy()
    account.do(CloseTrade(specifier="@core"))
    stop = account.state.order(6)
    assert stop is not None
    shown = views.order(stop, account.market)
    assert shown["state"] == "CANCELLED"
    assert shown["cancelledTime"] == shown["createTime"]
    assert int(shown["cancellingTransactionID"]) > 6
    market_order = account.state.order(4)
    assert market_order is not None
    entry = views.order(market_order, account.market)
    assert (entry["state"], entry["fillingTransactionID"], entry["tradeOpenedID"]) == (
        "FILLED",
        "5",
        "5",
    )


def test_an_if_touched_order_shows_its_initial_market_price() -> None:
    account = PractisedAccount()
    account.place(MarketIfTouchedRequest(instrument="EUR_USD", units=D(1), price=D("1.08")))
    account.price("EUR_USD", "1.08200", "1.08210")
    shown = views.order(account.last_order(), account.market)
    assert shown["initialMarketPrice"] == "1.08500"


def test_changes_hold_the_changed_objects_as_they_are_now() -> None:
    account = busy()
    since = account.state.last_transaction_id
    account.trade("EUR_USD", 1000, take_profit_on_fill=TakeProfitDetails(price=D("1.09")))
    account.do(CloseTrade(specifier="@core", units=D(10000)))
    account.do(CloseTrade(specifier="@core"))
    newer = [one for one in account.transactions if one.id > since]
    found = views.changes(account.state, newer, account.market)

    def ids(name: str) -> list[str]:
        return [str(one["id"]) for one in found[name]]

    assert ids("tradesOpened") == [str(since + 2)]
    assert ids("tradesReduced") == ids("tradesClosed") == ["5"]
    assert set(ids("ordersFilled")) <= set(ids("ordersCreated"))
    assert sorted(ids("ordersCancelled")) == ["6", "7"]
    assert found["ordersTriggered"] == []
    assert [one["instrument"] for one in found["positions"]] == ["EUR_USD"]
    assert [int(one["id"]) for one in found["transactions"]] == [one.id for one in newer]


def test_no_changes_are_empty_lists() -> None:
    account = busy()
    found = views.changes(account.state, [], account.market)
    assert all(value == [] for value in found.values())
    assert len(found) == 9


def test_the_state_has_what_changes_with_prices_and_agrees_with_the_account() -> None:
    account = busy()
    account.price("EUR_USD", "1.08700", "1.08720")
    state = views.state(account.state, account.market)
    whole = views.account(account.state, account.market)
    assert {
        name: whole[name] for name in state if name in whole and isinstance(state[name], str)
    } == {name: value for name, value in state.items() if isinstance(value, str)}
    moving: dict[str, Any] = state["orders"][0]
    assert moving == {
        "id": "7",
        "trailingStopValue": "1.08500",
        "triggerDistance": "0.00200",
        "isTriggerDistanceExact": True,
    }
    assert state["positions"][0]["netUnrealizedPL"] == "100.0000"
    assert state["trades"] == [{"id": "5", "unrealizedPL": "100.0000", "marginUsed": "1810.0215"}]


def test_a_price_has_the_sizes_by_fill_mode() -> None:
    account = busy()
    quote = account.market.quote("EUR_USD")
    shown = views.client_price(account.state, quote, account.market)
    sizes = shown["unitsAvailable"]
    assert sizes["reduceOnly"] == {"long": "0", "short": "50000"}
    assert sizes["openOnly"]["short"] == "0"
    assert sizes["default"] == sizes["reduceFirst"]
    assert int(sizes["reduceFirst"]["short"]) == int(sizes["reduceFirst"]["long"]) + 100_000
    assert shown["bids"] == [{"price": "1.08490", "liquidity": 10_000_000}]
    assert "unitsAvailable" not in views.client_price(
        account.state, quote, account.market, units_available=False
    )


def test_a_hedging_account_opens_by_default() -> None:
    account = PractisedAccount(Terms(currency="EUR", hedging=True))
    account.trade("EUR_USD", 1000)
    quote = account.market.quote("EUR_USD")
    sizes = views.client_price(account.state, quote, account.market)["unitsAvailable"]
    assert sizes["default"] == sizes["openOnly"]
    factors = views.client_price(account.state, quote, account.market)["quoteHomeConversionFactors"]
    assert factors == {"positiveUnits": "0.917092953592", "negativeUnits": "0.926309968201"}
