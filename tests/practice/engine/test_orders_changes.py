from decimal import Decimal

from keydesk_practice.engine.commands import (
    CancelOrder,
    ClientExtensions,
    LimitRequest,
    ReplaceOrder,
    SetOrderExtensions,
    SetTradeExtensions,
    StopRequest,
)
from keydesk_practice.engine.transactions import (
    LimitOrderCreated,
    LimitOrderRejected,
    OrderCancelled,
    OrderCancelRejected,
    OrderExtensionsModified,
    OrderExtensionsModifyRejected,
    OrderFilled,
    StopOrderRejected,
    TradeExtensionsModified,
    TradeExtensionsModifyRejected,
    to_wire,
)
from support.practised_account import PractisedAccount, only, types

D = Decimal
LABELS = ClientExtensions(id="mine", tag="swing", comment="first")


def limit(price: str = "1.084", **members: object) -> LimitRequest:
    return LimitRequest(instrument="EUR_USD", units=D(1000), price=D(price), **members)  # type: ignore[arg-type]


def test_a_replace_cancels_and_creates_in_one_batch_and_keeps_the_extensions() -> None:
    account = PractisedAccount()
    old = account.place(limit(client_extensions=LABELS))[0]
    made = account.do(ReplaceOrder(specifier="@mine", order=limit("1.083"), request_id="9"))
    assert types(made) == ["ORDER_CANCEL", "LIMIT_ORDER"]
    gone, new = only(OrderCancelled, made), only(LimitOrderCreated, made)
    assert gone.reason == "CLIENT_REQUEST_REPLACED"
    assert (gone.replaced_by_order_id, gone.client_order_id) == (new.id, "mine")
    assert (new.reason, new.replaces_order_id) == ("REPLACEMENT", old.id)
    assert (new.cancelling_transaction_id, new.client_extensions) == (gone.id, LABELS)
    assert {one.batch_id for one in made} == {gone.id}


def test_a_replacement_that_is_marketable_fills_at_once() -> None:
    account = PractisedAccount()
    order = account.place(limit())[0]
    made = account.do(ReplaceOrder(specifier=str(order.id), order=limit("1.09")))
    assert types(made) == ["ORDER_CANCEL", "LIMIT_ORDER", "ORDER_FILL"]


def test_a_rejected_replacement_leaves_the_old_order() -> None:
    account = PractisedAccount()
    order = account.place(limit())[0]
    made = account.do(ReplaceOrder(specifier=str(order.id), order=limit("1.0812345")))
    reject = only(LimitOrderRejected, made)
    assert (reject.reject_reason, reject.intended_replaces_order_id) == (
        "PRICE_PRECISION_EXCEEDED",
        order.id,
    )
    assert list(account.state.orders) == [order.id]


def test_a_replacement_has_the_type_of_what_it_replaces() -> None:
    account = PractisedAccount()
    order = account.place(limit())[0]
    stop = StopRequest(instrument="EUR_USD", units=D(1000), price=D("1.09"))
    made = account.do(ReplaceOrder(specifier=str(order.id), order=stop))
    assert only(StopOrderRejected, made).reject_reason == "REPLACING_ORDER_INVALID"


def test_what_is_not_pending_cannot_be_cancelled_or_replaced() -> None:
    account = PractisedAccount()
    for command in (CancelOrder(specifier="99"), ReplaceOrder(specifier="99", order=limit())):
        reject = only(OrderCancelRejected, account.do(command))
        assert (reject.order_id, reject.reject_reason) == (99, "ORDER_DOESNT_EXIST")
    by_client_id = to_wire(account.do(CancelOrder(specifier="@nobody"))[0])
    assert by_client_id["clientOrderID"] == "nobody"
    assert "orderID" not in by_client_id


def test_extensions_that_are_given_replace_and_others_stay() -> None:
    account = PractisedAccount()
    account.place(limit(client_extensions=LABELS))
    change = ClientExtensions(id="yours", comment="second")
    made = account.do(SetOrderExtensions(specifier="@mine", client_extensions=change))
    assert only(OrderExtensionsModified, made).client_order_id == "mine"
    order = account.last_order()
    assert order.client_extensions == ClientExtensions(id="yours", tag="swing", comment="second")
    nobody = account.do(SetOrderExtensions(specifier="@mine", client_extensions=change))
    assert only(OrderExtensionsModifyRejected, nobody).reject_reason == "ORDER_DOESNT_EXIST"
    assert types(account.do(CancelOrder(specifier="@yours"))) == ["ORDER_CANCEL"]


def test_the_extensions_of_the_future_trade_can_be_changed_on_its_order() -> None:
    account = PractisedAccount()
    order = account.place(limit())[0]
    account.do(SetOrderExtensions(specifier=str(order.id), trade_client_extensions=LABELS))
    fill = only(OrderFilled, account.price("EUR_USD", "1.08390", "1.08400"))
    assert fill.trade_opened is not None
    assert fill.trade_opened.client_extensions == LABELS
    assert account.state.trade_ids == {"mine": fill.id}


def test_extensions_of_a_trade_change_by_id_or_client_id_and_are_rejected_with_a_reason() -> None:
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    nothing = account.do(SetTradeExtensions(specifier=str(trade.id)))
    reject = only(TradeExtensionsModifyRejected, nothing)
    assert reject.reject_reason == "CLIENT_EXTENSIONS_DATA_MISSING"
    made = account.do(SetTradeExtensions(specifier=str(trade.id), client_extensions=LABELS))
    assert only(TradeExtensionsModified, made).trade_id == trade.id
    again = account.do(SetTradeExtensions(specifier="@mine", client_extensions=LABELS))
    assert only(TradeExtensionsModified, again).client_trade_id == "mine"
    missing = account.do(SetTradeExtensions(specifier="99", client_extensions=LABELS))
    assert only(TradeExtensionsModifyRejected, missing).reject_reason == "TRADE_DOESNT_EXIST"


def test_a_change_without_members_is_rejected() -> None:
    account = PractisedAccount()
    order = account.place(limit())[0]
    made = account.do(SetOrderExtensions(specifier=str(order.id)))
    reason = only(OrderExtensionsModifyRejected, made).reject_reason
    assert reason == "CLIENT_EXTENSIONS_DATA_MISSING"
