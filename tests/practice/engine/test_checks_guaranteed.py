from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk_practice.engine.commands import (
    CancelOrder,
    GuaranteedStopLossDetails,
    GuaranteedStopLossRequest,
    MarketRequest,
    SetDependents,
    StopLossDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.state.account import Mutability, Terms
from keydesk_practice.engine.transactions import (
    DependentOrderRejected,
    GuaranteedStopLossCreated,
    OrderCancelled,
    OrderCancelRejected,
    OrderFilled,
)
from support.fakes.still_market import currency_pair
from support.practised_account import PractisedAccount, only, types

D = Decimal


def guaranteed_order(terms: Terms | None = None, units: int = 50000) -> PractisedAccount:
    account = PractisedAccount(terms)
    level = D("1.083") if units > 0 else D("1.087")
    account.trade(
        "EUR_USD", units, guaranteed_stop_loss_on_fill=GuaranteedStopLossDetails(price=level)
    )
    return account


def test_it_fills_exactly_at_its_price_over_a_gap_for_its_premium() -> None:
    account = guaranteed_order()
    fill = only(OrderFilled, account.price("EUR_USD", "1.05000", "1.05100"))
    assert fill.trades_closed is not None
    closed = fill.trades_closed[0]
    assert (fill.reason, closed.price) == ("GUARANTEED_STOP_LOSS_ORDER", D("1.08300"))
    assert fill.full_vwap == D("1.05000"), "what the market gave"
    assert (fill.pl, fill.guaranteed_execution_fee) == (D("-100.0000"), D("6.0000"))
    assert fill.account_balance == D("9894.0000")
    assert account.state.guaranteed_execution_fees == D("6.0000")
    assert account.state.positions["EUR_USD"].long.guaranteed_execution_fees == D("6.0000")


def test_nothing_is_charged_while_it_does_not_fill() -> None:
    account = guaranteed_order()
    created = next(
        one for one in account.transactions if isinstance(one, GuaranteedStopLossCreated)
    )
    assert created.guaranteed_execution_premium == D("0.00012")
    account.do(CancelOrder(specifier=str(created.id)))
    assert account.state.balance == D("10000.0000")


def test_it_keeps_its_distance_from_the_market() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    made = account.place(GuaranteedStopLossRequest(trade_id=trade.id, price=D("1.08400")))
    reason = only(DependentOrderRejected, made).reject_reason
    assert reason == "GUARANTEED_STOP_LOSS_ORDER_MINIMUM_DISTANCE_NOT_MET"


def test_a_window_of_prices_holds_only_so_many_guaranteed_units() -> None:
    account = PractisedAccount()
    account.market.specifications["EUR_USD"] = currency_pair(
        "EUR_USD", guaranteed_level_volume=D(1500), guaranteed_level_range=D("0.0010")
    )
    stop = GuaranteedStopLossDetails(price=D("1.08000"))
    account.trade("EUR_USD", 1000, guaranteed_stop_loss_on_fill=stop)
    order = MarketRequest(instrument="EUR_USD", units=D(1000), guaranteed_stop_loss_on_fill=stop)
    reason = only(OrderCancelled, account.place(order)).reason
    assert reason == "GUARANTEED_STOP_LOSS_ON_FILL_LEVEL_RESTRICTION_VOLUME_EXCEEDED"


def test_it_is_rejected_where_it_is_disabled() -> None:
    account = PractisedAccount(Terms(currency="USD", guaranteed_mode="DISABLED"))
    trade = account.trade("EUR_USD", 1000)
    made = account.place(GuaranteedStopLossRequest(trade_id=trade.id, price=D("1.08")))
    reason = only(DependentOrderRejected, made).reject_reason
    assert reason == "GUARANTEED_STOP_LOSS_ORDER_NOT_ALLOWED"


def test_an_instrument_with_one_is_not_hedged() -> None:
    account = guaranteed_order(Terms(currency="USD", hedging=True))
    made = account.place(MarketRequest(instrument="EUR_USD", units=D(-1000)))
    assert only(OrderCancelled, made).reason == "HEDGING_GSLO_VIOLATION"


def test_its_trigger_side_is_fixed() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    order = GuaranteedStopLossRequest(trade_id=trade.id, price=D("1.08"), trigger_condition="ASK")
    assert only(DependentOrderRejected, account.place(order)).reject_reason == (
        "TRIGGER_CONDITION_INVALID"
    )


def test_while_halted_it_is_not_created_and_only_moves_away() -> None:
    account = guaranteed_order()
    account.market.halt("EUR_USD")
    trade_id = str(next(iter(account.state.trades)))

    def move(level: str) -> list[str]:
        details = GuaranteedStopLossDetails(price=D(level))
        return types(account.do(SetDependents(specifier=trade_id, guaranteed_stop_loss=details)))

    assert move("1.08350") == ["GUARANTEED_STOP_LOSS_ORDER_REJECT"]
    assert move("1.08200") == ["ORDER_CANCEL", "GUARANTEED_STOP_LOSS_ORDER"]
    cancelled = account.do(CancelOrder(specifier=str(account.last_order().id)))
    reason = only(OrderCancelRejected, cancelled).reject_reason
    assert reason == "GUARANTEED_STOP_LOSS_ORDER_HALTED_NOT_CANCELABLE"


@pytest.mark.parametrize(
    ("mutability", "reason"),
    [
        ("FIXED", "GUARANTEED_STOP_LOSS_ORDER_NOT_REPLACEABLE"),
        ("PRICE_WIDEN_ONLY", "GUARANTEED_STOP_LOSS_ORDER_TIGHTEN_VIOLATION"),
    ],
)
def test_the_account_terms_limit_its_changes_while_the_market_is_open(
    mutability: Mutability, reason: str
) -> None:
    account = guaranteed_order(Terms(currency="USD", guaranteed_mutability_open=mutability))
    trade_id = str(next(iter(account.state.trades)))
    details = GuaranteedStopLossDetails(price=D("1.08350"))
    made = account.do(SetDependents(specifier=trade_id, guaranteed_stop_loss=details))
    assert only(DependentOrderRejected, made).reject_reason == reason
    cancelled = account.do(CancelOrder(specifier=str(account.last_order().id)))
    assert only(OrderCancelRejected, cancelled).reject_reason == (
        "GUARANTEED_STOP_LOSS_ORDER_NOT_CANCELABLE"
    )


def test_the_older_flag_of_a_stop_loss_asks_for_a_guaranteed_one() -> None:
    account = PractisedAccount()
    stop = StopLossDetails(price=D("1.08"), guaranteed=True)
    trade = account.trade("EUR_USD", 1000, stop_loss_on_fill=stop)
    account.trade("USD_JPY", 1000)
    assert set(account.state.trades[trade.id].dependents) == {"guaranteed_stop_loss"}
    other = str(list(account.state.trades)[-1])
    made = account.do(
        SetDependents(specifier=other, stop_loss=StopLossDetails(price=D(150), guaranteed=True))
    )
    assert types(made) == ["GUARANTEED_STOP_LOSS_ORDER"]


def test_the_older_flag_excludes_a_trailing_stop_on_the_fill_like_the_newer_order_does() -> None:
    account = PractisedAccount()
    stop = StopLossDetails(price=D("1.08"), guaranteed=True)
    trail = TrailingStopLossDetails(distance=D("0.002"))
    order = MarketRequest(instrument="EUR_USD", units=D(1000), stop_loss_on_fill=stop)
    made = account.place(replace(order, trailing_stop_loss_on_fill=trail))
    assert types(made) == ["MARKET_ORDER_REJECT"]
    newer = GuaranteedStopLossDetails(price=D("1.08"))
    twice = account.place(replace(order, guaranteed_stop_loss_on_fill=newer))
    assert types(twice) == ["MARKET_ORDER_REJECT"]


def test_where_it_is_required_it_cannot_be_cancelled() -> None:
    account = guaranteed_order(Terms(currency="USD", guaranteed_mode="REQUIRED"))
    made = account.do(CancelOrder(specifier=str(account.last_order().id)))
    reason = only(OrderCancelRejected, made).reject_reason
    assert reason == "GUARANTEED_STOP_LOSS_ORDER_REQUIRED"
