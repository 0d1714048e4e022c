from decimal import Decimal

from keydesk_practice.engine.commands import MarketRequest, SetDependents, StopLossDetails
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import DependentOrderRejected, OrderCancelled
from support.practised_account import PractisedAccount, only, types

D = Decimal
STOP = StopLossDetails(price=D("1.08"))
US = Terms(currency="USD", fifo=True)


def order(units: int, stop: StopLossDetails | None = None) -> MarketRequest:
    return MarketRequest(instrument="EUR_USD", units=D(units), stop_loss_on_fill=stop)


def test_a_second_trade_of_a_size_cannot_open_with_a_stop() -> None:
    account = PractisedAccount(US)
    account.trade("EUR_USD", 1000)
    made = account.place(order(1000, STOP))
    assert only(OrderCancelled, made).reason == "FIFO_VIOLATION_SAFEGUARD_VIOLATION"
    assert types(account.place(order(999, STOP))) == [
        "MARKET_ORDER",
        "ORDER_FILL",
        "STOP_LOSS_ORDER",
    ]


def test_a_second_trade_of_a_size_cannot_open_beside_one_with_a_stop() -> None:
    account = PractisedAccount(US)
    account.place(order(1000, STOP))
    made = account.place(order(1000))
    assert only(OrderCancelled, made).reason == "FIFO_VIOLATION_SAFEGUARD_VIOLATION"


def test_trades_of_equal_size_cannot_get_a_stop_later() -> None:
    account = PractisedAccount(US)
    trade = account.trade("EUR_USD", 1000)
    account.trade("EUR_USD", 1000)
    made = account.do(SetDependents(specifier=str(trade.id), stop_loss=STOP))
    reason = only(DependentOrderRejected, made).reject_reason
    assert reason == "STOP_LOSS_ORDER_WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD"


def test_accounts_without_fifo_have_no_safeguard() -> None:
    account = PractisedAccount()
    account.place(order(1000, STOP))
    assert types(account.place(order(1000, STOP)))[1] == "ORDER_FILL"
