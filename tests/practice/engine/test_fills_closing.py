from decimal import Decimal

import pytest

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    ClosePosition,
    CloseTrade,
    MarketRequest,
    StopLossDetails,
    TakeProfitDetails,
)
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import (
    MarketOrderCreated,
    MarketOrderRejected,
    OrderCancelled,
    OrderFilled,
    to_wire,
)
from support.practised_account import PractisedAccount, only, types

D = Decimal


def test_a_trade_closes_in_part_and_then_whole_with_its_dependents() -> None:
    account = PractisedAccount()
    trade = account.trade(
        "EUR_USD",
        50000,
        stop_loss_on_fill=StopLossDetails(price=D("1.083")),
        take_profit_on_fill=TakeProfitDetails(price=D("1.089")),
    )
    account.market.price("EUR_USD", "1.08600", "1.08610")
    half = account.do(CloseTrade(specifier=str(trade.id), units=D(25000)))
    assert types(half) == ["MARKET_ORDER", "ORDER_FILL"], "a partial close keeps the dependents"
    order, fill = only(MarketOrderCreated, half), only(OrderFilled, half)
    assert (order.reason, order.units, order.time_in_force) == ("TRADE_CLOSE", D(-25000), "FOK")
    assert to_wire(order)["tradeClose"] == {"tradeID": "5", "units": "25000"}
    assert fill.reason == "MARKET_ORDER_TRADE_CLOSE"
    assert fill.trade_reduced is not None
    assert fill.trade_reduced.units == D(-25000)
    assert (fill.pl, fill.account_balance) == (D("25.0000"), D("10025.0000"))
    rest = account.do(CloseTrade(specifier=str(trade.id)))
    assert types(rest) == ["MARKET_ORDER", "ORDER_FILL", "ORDER_CANCEL", "ORDER_CANCEL"]
    cancels = [one for one in rest if isinstance(one, OrderCancelled)]
    assert {one.reason for one in cancels} == {"LINKED_TRADE_CLOSED"}
    assert not account.state.orders
    closed = account.state.trade(trade.id)
    assert closed is not None
    shown = views.trade(account.state, closed, account.market)
    assert shown["state"] == "CLOSED"
    assert (shown["initialUnits"], shown["currentUnits"]) == ("50000", "0")
    assert (shown["realizedPL"], shown["averageClosePrice"]) == ("50.0000", "1.08600")
    assert shown["closingTransactionIDs"] == ["9", "11"]
    assert "unrealizedPL" not in shown
    assert "marginUsed" not in shown


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ("0", "UNITS_INVALID"),
        ("-5", "UNITS_INVALID"),
        ("0.5", "UNITS_PRECISION_EXCEEDED"),
        ("1001", "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE"),
    ],
)
def test_a_wrong_size_to_close_is_rejected(units: str, reason: str) -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    made = account.do(CloseTrade(specifier=str(trade.id), units=D(units)))
    assert only(MarketOrderRejected, made).reject_reason == reason


def test_a_trade_that_is_not_there_is_rejected_without_instrument_and_units() -> None:
    account = PractisedAccount()
    shown = to_wire(account.do(CloseTrade(specifier="99"))[0])
    assert shown["rejectReason"] == "TRADE_DOESNT_EXIST"
    assert "instrument" not in shown
    assert "units" not in shown


def test_closing_while_halted_is_cancelled() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    account.market.halt("EUR_USD")
    made = account.do(CloseTrade(specifier=str(trade.id)))
    assert types(made) == ["MARKET_ORDER", "ORDER_CANCEL"]
    assert only(OrderCancelled, made).reason == "MARKET_HALTED"


def test_a_position_closes_oldest_first_across_its_trades() -> None:
    account = PractisedAccount()
    first = account.trade("EUR_USD", 1000)
    second = account.trade("EUR_USD", 2000)
    made = account.do(ClosePosition(instrument="EUR_USD", long_units=D(1500)))
    fill = only(OrderFilled, made)
    assert fill.reason == "MARKET_ORDER_POSITION_CLOSEOUT"
    assert [part.trade_id for part in fill.trades_closed or ()] == [first.id]
    assert fill.trade_reduced is not None
    assert (fill.trade_reduced.trade_id, fill.trade_reduced.units) == (second.id, D(-500))
    order = only(MarketOrderCreated, made)
    assert to_wire(order)["longPositionCloseout"] == {"instrument": "EUR_USD", "units": "1500"}


def test_asking_for_a_flat_side_fails_whole() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000)
    made = account.do(ClosePosition(instrument="EUR_USD", long_units="ALL", short_units="ALL"))
    rejects = [one for one in made if isinstance(one, MarketOrderRejected)]
    assert [one.reject_reason for one in rejects] == [
        "CLOSEOUT_POSITION_REJECT",
        "CLOSEOUT_POSITION_DOESNT_EXIST",
    ]
    assert [one.units for one in rejects] == [D(-1000), None]
    assert account.state.trades


@pytest.mark.parametrize("asked", [{}, {"long_units": "NONE"}])
def test_asking_for_no_side_is_an_incomplete_specification(asked: dict[str, str]) -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000)
    made = account.do(ClosePosition(instrument="EUR_USD", **asked))  # type: ignore[arg-type]
    reason = only(MarketOrderRejected, made).reject_reason
    assert reason == "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION"


def test_both_sides_of_a_hedged_position_close_in_one_batch_long_first() -> None:
    account = PractisedAccount(Terms(currency="USD", hedging=True))
    account.trade("EUR_USD", 1000)
    account.trade("EUR_USD", -400)
    assert len(account.state.trades) == 2, "hedging keeps both sides"
    made = account.do(ClosePosition(instrument="EUR_USD", long_units="ALL", short_units="ALL"))
    fills = [one for one in made if isinstance(one, OrderFilled)]
    assert [fill.units for fill in fills] == [D(-1000), D(400)]
    assert len({one.batch_id for one in made}) == 1


def test_an_opposite_order_reduces_first_and_opens_the_rest_in_one_fill() -> None:
    account = PractisedAccount()
    first = account.trade("EUR_USD", 1000)
    second = account.trade("EUR_USD", 1000)
    fill = only(OrderFilled, account.place(MarketRequest(instrument="EUR_USD", units=D(-2500))))
    assert [part.trade_id for part in fill.trades_closed or ()] == [first.id, second.id]
    assert fill.trade_opened is not None
    assert fill.trade_opened.units == D(-500)
    assert list(account.state.trades) == [fill.id]


def test_reduce_only_never_opens() -> None:
    account = PractisedAccount()
    order = MarketRequest(instrument="EUR_USD", units=D(-1500), position_fill="REDUCE_ONLY")
    nothing = account.place(order)
    assert only(OrderCancelled, nothing).reason == "POSITION_CLOSEOUT_FAILED"
    account.trade("EUR_USD", 1000)
    too_much = account.place(order)
    assert only(OrderCancelled, too_much).reason == "POSITION_CLOSEOUT_FAILED"
    partly = account.place(
        MarketRequest(
            instrument="EUR_USD",
            units=D(-1500),
            position_fill="REDUCE_ONLY",
            time_in_force="IOC",
        )
    )
    assert only(OrderFilled, partly).units == D(-1000)


def test_open_only_against_a_position_does_not_hedge() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 1000)
    made = account.place(
        MarketRequest(instrument="EUR_USD", units=D(-1000), position_fill="OPEN_ONLY")
    )
    assert only(OrderCancelled, made).reason == "FIFO_VIOLATION"


def test_under_us_rules_the_oldest_trade_of_a_size_closes_first() -> None:
    account = PractisedAccount(Terms(currency="USD", fifo=True))
    first = account.trade("EUR_USD", 1000)
    second = account.trade("EUR_USD", 1000)
    made = account.do(CloseTrade(specifier=str(second.id)))
    assert only(OrderCancelled, made).reason == "FIFO_VIOLATION"
    assert only(OrderFilled, account.do(CloseTrade(specifier=str(first.id))))


def test_closing_more_than_the_depth_takes_the_rest_at_the_closeout_price() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 30_000)
    account.market.levels("EUR_USD", [], [("1.08500", 10)])
    made = account.do(CloseTrade(specifier=str(trade.id)))
    assert only(OrderFilled, made).price == D("1.08490")
