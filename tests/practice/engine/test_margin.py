from decimal import Decimal

import pytest

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    Configure,
    LimitRequest,
    StopLossDetails,
    Tick,
    TransferFunds,
)
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import (
    ClientConfigureRejected,
    MarginCallExtended,
    MarketOrderCreated,
    OrderFilled,
    TradeClosureDelayed,
    TransferFundsRejected,
    to_wire,
)
from support.practised_account import PractisedAccount, only, types

D = Decimal


def stretched() -> PractisedAccount:
    """A margin of 1806 on 2000."""
    account = PractisedAccount(deposit="2000")
    account.trade("EUR_USD", 50000)
    return account


def test_a_call_begins_lasts_and_ends() -> None:
    account = stretched()
    assert types(account.price("EUR_USD", "1.08000", "1.08010")) == ["MARGIN_CALL_ENTER"]
    assert account.summary()["marginCallEnterTime"] == "2024-03-06T12:00:00.000000000Z"
    assert account.do(Tick()) == ()
    account.market.wait(24 * 3600)
    extended = only(MarginCallExtended, account.do(Tick()))
    assert extended.extension_number == 1
    assert account.summary()["marginCallExtensionCount"] == 1
    assert types(account.price("EUR_USD", "1.08490", "1.08500")) == ["MARGIN_CALL_EXIT"]
    assert "marginCallEnterTime" not in account.summary()


def test_a_closeout_comes_when_half_of_the_margin_is_gone() -> None:
    account = stretched()
    limit = LimitRequest(instrument="EUR_USD", units=D(1), price=D(1))
    account.place(limit)
    account.price("EUR_USD", "1.06300", "1.06310")
    assert account.state.trades, "still above half of the margin"
    made = account.price("EUR_USD", "1.06240", "1.06250")
    assert types(made) == ["MARKET_ORDER", "ORDER_FILL", "MARGIN_CALL_EXIT"]
    order = only(MarketOrderCreated, made)
    assert order.reason == "MARGIN_CLOSEOUT"
    assert to_wire(order)["marginCloseout"] == {"reason": "MARGIN_CHECK_VIOLATION"}
    assert only(OrderFilled, made).reason == "MARKET_ORDER_MARGIN_CLOSEOUT"
    assert not account.state.trades
    assert len(account.state.orders) == 1, "entry orders survive"


def test_the_closeout_point_is_the_one_of_the_worked_numbers() -> None:
    account = PractisedAccount(deposit="10000")
    account.trade("EUR_USD", 50000)
    summary = account.summary()
    assert summary["marginUsed"] == "1806.4418"
    assert summary["marginCloseoutNAV"] == "9997.5000"
    assert summary["marginCloseoutPercent"] == "0.09034"  # 9.03 %
    account.price("EUR_USD", "0.89995", "0.90005")  # mid 0.90000, above 0.89998
    assert account.state.trades
    account.price("EUR_USD", "0.89990", "0.90000")
    assert not account.state.trades


def test_the_documented_percentage_comes_out() -> None:
    used, nav = D("28556.64"), D(49900)
    assert (D("0.5") * used / nav * 100).quantize(D("0.01")) == D("28.61")


def test_the_closeout_of_a_halted_position_is_delayed() -> None:
    account = stretched()
    trade_id = next(iter(account.state.trades))
    account.market.price("EUR_USD", "1.06000", "1.06010", tradeable=False)
    made = account.do(Tick())
    assert types(made) == ["MARGIN_CALL_ENTER", "DELAYED_TRADE_CLOSURE"]
    delayed = only(TradeClosureDelayed, made)
    assert delayed.trade_ids == (trade_id,)
    trade = account.state.trades[trade_id]
    shown = views.trade(account.state, trade, account.market)
    assert shown["state"] == "CLOSE_WHEN_TRADEABLE"
    assert account.do(Tick()) == (), "it is owed once"
    later = account.price("EUR_USD", "1.08490", "1.08500")
    assert types(later) == ["MARKET_ORDER", "ORDER_FILL", "MARGIN_CALL_EXIT"]
    order = only(MarketOrderCreated, later)
    assert to_wire(order)["delayedTradeClose"] == {
        "tradeID": str(trade_id),
        "sourceTransactionID": str(delayed.id),
    }
    assert only(OrderFilled, later).reason == "MARKET_ORDER_DELAYED_TRADE_CLOSE"


def test_a_closeout_closes_both_sides_and_every_instrument() -> None:
    account = PractisedAccount(Terms(currency="USD", hedging=True), deposit="3000")
    account.trade("EUR_USD", 60000, stop_loss_on_fill=StopLossDetails(price=D("0.9")))
    account.trade("EUR_USD", -1000)
    account.trade("USD_JPY", 1000)
    made = account.price("EUR_USD", "1.04500", "1.04510")
    assert not account.state.trades
    assert not account.state.orders
    assert len([one for one in made if isinstance(one, OrderFilled)]) == 3


@pytest.mark.parametrize(
    ("rate", "reason"),
    [
        ("0", "MARGIN_RATE_INVALID"),
        ("1.5", "MARGIN_RATE_INVALID"),
        ("0.05", "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL"),
        ("0.5", "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT"),
    ],
)
def test_a_margin_rate_that_would_cause_a_call_or_closeout_is_rejected(
    rate: str, reason: str
) -> None:
    account = stretched()
    made = account.do(Configure(margin_rate=D(rate)))
    assert only(ClientConfigureRejected, made).reject_reason == reason
    assert account.state.margin_rate is None


def test_the_override_only_ever_raises_the_margin() -> None:
    account = PractisedAccount()
    account.do(Configure(margin_rate=D("0.01")))
    account.trade("EUR_USD", 50000)
    assert account.summary()["marginUsed"] == "1806.4418"
    account.do(Configure(margin_rate=D("0.1"), alias="Careful"))
    assert account.summary()["marginUsed"] == "5424.7500"
    assert account.summary()["alias"] == "Careful"


def test_only_the_margin_available_can_be_withdrawn() -> None:
    account = stretched()
    refused = account.do(TransferFunds(amount=D(-500)))
    assert only(TransferFundsRejected, refused).reject_reason == "INSUFFICIENT_FUNDS"
    assert types(account.do(TransferFunds(amount=D(-100)))) == ["TRANSFER_FUNDS"]


def test_of_a_hedged_position_the_larger_side_needs_margin() -> None:
    account = PractisedAccount(Terms(currency="USD", hedging=True))
    account.trade("EUR_USD", 50000)
    account.trade("EUR_USD", -30000)
    assert account.summary()["marginUsed"] == "1806.4418"
