import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from keydesk_practice.engine import views, wire_form
from keydesk_practice.engine.commands import (
    ClientExtensions,
    CloseTrade,
    GuaranteedStopLossDetails,
    LimitRequest,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.transactions import TYPES, from_wire, to_wire
from support.fakes.still_market import NOON
from support.practised_account import PractisedAccount
from support.wire import wire

D = Decimal
PRECISIONS = {"EUR_USD": 5, "USD_JPY": 3, "EUR_GBP": 5}


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("id", "id"),
        ("account_id", "accountID"),
        ("trade_ids", "tradeIDs"),
        ("pl", "pl"),
        ("quote_pl", "quotePL"),
        ("full_vwap", "fullVWAP"),
        ("order_fill_transaction_id", "orderFillTransactionID"),
        ("take_profit_on_fill", "takeProfitOnFill"),
    ],
)
def test_names_are_spelled_as_on_the_wire(field: str, name: str) -> None:
    assert wire_form.wire_name(field) == name


def sample(hint: Any, draw: Iterator[int]) -> Any:  # noqa: ANN401 - any member of a record
    """Return a value of a type."""
    number = next(draw)
    if hint == wire_form.Id:
        return number
    if hint == wire_form.Timestamp:
        return NOON + number
    inner = [part for part in get_args(hint) if part is not type(None)]
    if get_origin(hint) is tuple:
        return (sample(inner[0], draw), sample(inner[0], draw))
    if inner and type(None) in get_args(hint):
        return sample(inner[0], draw)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return record_of(hint, draw, whole=True)
    simple = {Decimal: D(number).scaleb(-5), int: number, bool: True, str: f"text {number}"}
    return simple.get(hint, "GTC")


def record_of(kind: type[Struct], draw: Iterator[int], *, whole: bool) -> Any:  # noqa: ANN401
    """Return a record with every member, or only with those that must be there."""
    hints = get_type_hints(kind, include_extras=True)
    return kind(
        **{one.name: sample(hints[one.name], draw) for one in fields(kind) if whole or one.required}
    )


def test_every_type_goes_over_the_wire_and_back_unchanged() -> None:
    for whole in [True, False]:
        for kind in TYPES.values():
            made = record_of(kind, iter(range(1, 1000)), whole=whole)
            carried = json.loads(json.dumps(to_wire(made)))
            assert from_wire(carried) == made
            assert to_wire(from_wire(carried)) == carried


class Amount(Struct, frozen=True):
    amount: Decimal


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9
    )
)
def test_a_number_keeps_the_digits_it_carries(number: Decimal) -> None:
    shown = wire_form.to_wire(Amount(number))
    assert str(wire_form.read_record(Amount, shown).amount) == format(number, "f")


def account_with_everything() -> PractisedAccount:
    """An account with one of everything."""
    account = PractisedAccount()
    labels = ClientExtensions(id="core", tag="t", comment="c")
    trade = account.trade(
        "EUR_USD",
        50000,
        stop_loss_on_fill=StopLossDetails(price=D("1.083")),
        take_profit_on_fill=TakeProfitDetails(distance=D("0.004")),
        trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=D("0.002")),
        trade_client_extensions=labels,
    )
    account.trade(
        "USD_JPY",
        -3000,
        guaranteed_stop_loss_on_fill=GuaranteedStopLossDetails(price=D("157")),
    )
    account.place(
        LimitRequest(instrument="EUR_GBP", units=D(10), price=D("0.8"), client_extensions=labels)
    )
    account.do(CloseTrade(specifier=str(trade.id), units=D(20000)))
    account.price("EUR_USD", "1.08290", "1.08300")
    return account


def test_transactions_have_the_members_of_the_reference() -> None:
    checker = wire(PRECISIONS)
    for one in account_with_everything().transactions:
        assert checker.item_problems("Transaction", to_wire(one)) == []


def test_views_have_the_members_of_the_reference() -> None:
    account = account_with_everything()
    last = str(account.state.last_transaction_id)
    shown = views.account(account.state, account.market)
    body = {"account": shown, "lastTransactionID": last}
    assert wire(PRECISIONS).problems("get_account", 200, body) == []
    changed = {
        "changes": views.changes(account.state, account.transactions, account.market),
        "state": views.state(account.state, account.market),
        "lastTransactionID": last,
    }
    assert wire(PRECISIONS).problems("poll_changes", 200, changed) == []
