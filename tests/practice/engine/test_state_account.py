from decimal import Decimal
from itertools import product
from typing import get_args

import pytest
from msgspec.structs import replace

from keydesk_practice.engine.commands import CancelOrder, LimitRequest, ReplaceOrder, TimeInForce
from keydesk_practice.engine.state.account import (
    ORDER_TRANSITIONS,
    TIMES_IN_FORCE,
    TRADE_TRANSITIONS,
    ImpossibleTransition,
    OrderEvent,
    OrderState,
    TradeEvent,
    TradeState,
    order_after,
    trade_after,
)
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import OrderCancelled, OrderFilled
from support.practised_account import PractisedAccount

D = Decimal


def test_every_pair_of_state_and_event_is_in_the_table_or_impossible() -> None:
    for state, event in product(get_args(OrderState), get_args(OrderEvent)):
        if (state, event) in ORDER_TRANSITIONS:
            assert order_after(state, event) == ORDER_TRANSITIONS[state, event]
        else:
            with pytest.raises(ImpossibleTransition):
                order_after(state, event)
    for trade_state, trade_event in product(get_args(TradeState), get_args(TradeEvent)):
        if (trade_state, trade_event) in TRADE_TRANSITIONS:
            assert (
                trade_after(trade_state, trade_event) == TRADE_TRANSITIONS[trade_state, trade_event]
            )
        else:
            with pytest.raises(ImpossibleTransition):
                trade_after(trade_state, trade_event)


def test_filled_and_cancelled_are_final_and_nothing_ends_triggered() -> None:
    assert not [state for state, _ in ORDER_TRANSITIONS if state != "PENDING"]
    assert "TRIGGERED" not in ORDER_TRANSITIONS.values()
    assert not [state for state, _ in TRADE_TRANSITIONS if state == "CLOSED"]


@pytest.mark.parametrize("life", sorted(TIMES_IN_FORCE["LIMIT"]))
@pytest.mark.parametrize("reached", [True, False])
def test_orders_follow_the_table_from_creation_to_their_end(
    life: TimeInForce, reached: bool
) -> None:
    account = PractisedAccount()
    order = LimitRequest(
        instrument="EUR_USD",
        units=D(1000),
        price=D("1.09") if reached else D("1.08"),
        time_in_force=life,
        gtd_time=account.market.now + 1,
    )
    created = account.place(order)[0]
    ended = account.state.ended.order(created.id)
    if reached:
        assert ended is not None
        assert (ended.state, ended.filling_transaction_id) == ("FILLED", created.id + 1)
        assert ended.trade_opened_id == created.id + 1
    elif life in {"FOK", "IOC"}:
        assert ended is not None
        assert (ended.state, ended.cancelling_transaction_id) == ("CANCELLED", created.id + 1)
    else:
        assert ended is None
        account.do(ReplaceOrder(specifier=str(created.id), order=replace(order, units=D(2000))))
        replaced = account.state.ended.order(created.id)
        assert replaced is not None
        assert (replaced.state, replaced.replaced_by_order_id) == ("CANCELLED", created.id + 2)
        account.do(CancelOrder(specifier=str(created.id + 2)))
        cancelled = account.state.ended.order(created.id + 2)
        assert cancelled is not None
        assert cancelled.state == "CANCELLED"
    assert not account.state.orders


def test_an_ended_order_cannot_be_filled_or_cancelled_again() -> None:
    account = PractisedAccount()
    account.place(LimitRequest(instrument="EUR_USD", units=D(1000), price=D("1.09")))
    fill = next(one for one in account.transactions if isinstance(one, OrderFilled))
    with pytest.raises(KeyError):
        apply(account.state, replace(fill, id=account.state.last_transaction_id + 1))
    cancel = OrderCancelled(
        id=account.state.last_transaction_id + 1,
        account_id=fill.account_id,
        user_id=fill.user_id,
        batch_id=fill.batch_id,
        time=fill.time,
        order_id=fill.order_id,
        reason="CLIENT_REQUEST",
    )
    with pytest.raises(KeyError):
        apply(account.state, cancel)


def test_ids_must_follow_each_other() -> None:
    account = PractisedAccount()
    with pytest.raises(ValueError, match="does not follow"):
        apply(account.state, account.transactions[0])
