"""Transactions in plain words."""

from decimal import Decimal
from typing import get_args

import pytest

from keydesk.store.transactions.fold import apply
from keydesk.words.log_lines import line_of
from keydesk.words.log_names import LogNames
from keydesk_client.models import UnknownTransaction
from keydesk_client.models.transactions.unions import KnownTransaction
from support.data.account_history import fill, fresh_store, opening, reduction, transaction

USUAL = 46  # columns for the words in a log of 80
EURUSD = {"instrument": "EUR_USD", "units": "-1000", "timeInForce": "GTC", "reason": "CLIENT_ORDER"}


def log_text(id_: int, type_: str, **members: object) -> str:
    return line_of(transaction(id_, type_, **members), {}, {}).text


def test_an_opening_fill() -> None:
    line = line_of(opening(5, "50000", "1.08500"), {}, {})
    assert line.text == "Bought 50,000 at 1.08500 #5"
    assert (line.kind, line.instrument, line.pl, line.amount) == ("FILL", "EUR_USD", None, None)


def test_a_stop_that_was_hit() -> None:
    part = reduction(5, "-50000", "1.08300", "-100.0000", "-0.5000")
    hit = fill(
        9, reason="STOP_LOSS_ORDER", tradesClosed=[part], pl="-100.0000", financing="-0.5000"
    )
    line = line_of(hit, {}, {})
    assert line.text == "Closed long 50,000 at 1.08300 #5, stop hit"
    assert (line.kind, line.pl, line.amount) == ("CLOSE", Decimal(-100), Decimal("-100.5"))


def test_a_reduced_trade() -> None:
    part = reduction(5, "500", "1.08300", "1.0000")
    line = line_of(fill(9, tradeReduced=part, pl="1.0000"), {}, {})
    assert line.text == "Closed 500 of short at 1.08300 #5"


@pytest.mark.parametrize(
    ("type_", "members", "text"),
    [
        ("MARKET_ORDER", EURUSD, "Market sell 1,000"),
        (
            "MARKET_ORDER",
            EURUSD | {"reason": "MARGIN_CLOSEOUT"},
            "Market sell 1,000, MARGIN CLOSEOUT",
        ),
        (
            "LIMIT_ORDER",
            EURUSD | {"price": "1.09", "stopLossOnFill": {"distance": "0.002"}},
            "Limit sell 1,000 at 1.09 stop 0.002 away",
        ),
        (
            "STOP_LOSS_ORDER",
            {"tradeID": "5", "price": "1.08300", "timeInForce": "GTC", "reason": "ON_FILL"},
            "Stop 1.08300 for #5",
        ),
        (
            "TRAILING_STOP_LOSS_ORDER",
            {"tradeID": "5", "distance": "0.0015", "timeInForce": "GTC", "reason": "REPLACEMENT"},
            "Trailing stop 0.0015 behind for #5, moved",
        ),
        (
            "MARKET_ORDER_REJECT",
            EURUSD | {"rejectReason": "UNITS_LIMIT_EXCEEDED"},
            "Market sell 1,000 refused: too many units for one order (UNITS_LIMIT_EXCEEDED)",
        ),
        (
            "ORDER_CANCEL",
            {"orderID": "7", "reason": "BOUNDS_VIOLATION"},
            "Order #7 cancelled: the price moved past the bound",
        ),
        (
            "ORDER_CANCEL_REJECT",
            {"orderID": "7", "rejectReason": "ORDER_DOESNT_EXIST"},
            "Not cancelled, order 7: the order does not exist",
        ),
        (
            "TRANSFER_FUNDS",
            {"amount": "-1250.5000", "fundingReason": "CLIENT_FUNDING", "accountBalance": "1.0"},
            "Paid out 1,250.50: client funding",
        ),
        ("MARGIN_CALL_ENTER", {}, "MARGIN CALL: add funds or close positions"),
        (
            "DELAYED_TRADE_CLOSURE",
            {"reason": "TRADE_CLOSE", "tradeIDs": ["4", "5"]},
            "To be closed when the market opens: trade 4, 5",
        ),
        ("CLIENT_CONFIGURE", {"alias": "Swing"}, "Account settings: alias Swing"),
    ],
)
def test_each_kind_reads_as_a_sentence(type_: str, members: dict[str, object], text: str) -> None:
    assert log_text(5, type_, **members) == text


BRACKET = {"stopLossOnFill": {"price": "1.11105"}, "takeProfitOnFill": {"price": "1.11705"}}
BUY = {"instrument": "EUR_USD", "units": "10000", "timeInForce": "FOK", "reason": "CLIENT_ORDER"}
OF_FIVE = {"tradeID": "54321", "timeInForce": "GTC"}


@pytest.mark.parametrize(
    ("type_", "members"),
    [
        ("MARKET_ORDER", BUY | BRACKET),
        ("LIMIT_ORDER", BUY | {"price": "1.11250", "stopLossOnFill": {"price": "1.11105"}}),
        ("STOP_LOSS_ORDER", OF_FIVE | {"price": "1.11105", "reason": "ON_FILL"}),
        ("TAKE_PROFIT_ORDER", OF_FIVE | {"price": "1.11105", "reason": "REPLACEMENT"}),
        ("TRAILING_STOP_LOSS_ORDER", OF_FIVE | {"distance": "0.00200", "reason": "CLIENT_ORDER"}),
        ("ORDER_CANCEL", {"orderID": "54321", "reason": "LINKED_TRADE_CLOSED"}),
        ("TRANSFER_FUNDS", {"amount": "100000.0000", "fundingReason": "CLIENT_FUNDING"}),
    ],
)
def test_usual_lines_fit_beside_time_kind_and_pair(type_: str, members: dict[str, object]) -> None:
    assert len(log_text(54322, type_, **({"accountBalance": "1.0"} | members))) <= USUAL


def test_usual_fills_fit_as_well() -> None:
    part = reduction(54321, "-50000", "1.08300", "-100.0000", "-0.5000")
    hit = fill(54399, reason="TAKE_PROFIT_ORDER", tradesClosed=[part], pl="-100.0000")
    assert len(line_of(hit, {}, {}).text) <= USUAL
    half = fill(54399, reason="MARKET_ORDER_TRADE_CLOSE", tradeReduced=part, pl="-100.0000")
    assert len(line_of(half, {}, {}).text) <= USUAL


def test_a_cancelled_order_is_named_while_it_is_known() -> None:
    store = fresh_store()
    apply(store, transaction(5, "LIMIT_ORDER", price="1.09", **EURUSD))
    line = line_of(
        transaction(6, "ORDER_CANCEL", orderID="5", reason="CLIENT_REQUEST"),
        store.orders,
        store.trades,
    )
    assert line.text == "Limit 1.09 #5 cancelled: requested by you"
    assert line.instrument == "EUR_USD"


def test_a_hostile_text_can_not_act_on_the_terminal() -> None:
    line = log_text(5, "CLIENT_CONFIGURE", alias="\x1b]0;owned\x07")
    assert "\x1b" not in line
    assert "\x07" not in line


def test_an_unknown_kind_is_named() -> None:
    assert log_text(5, "MOON_ADJUSTMENT").startswith(
        "MOON_ADJUSTMENT: an unknown type of transaction"
    )


LEAST: dict[str, object] = {
    "reason": "CLIENT_ORDER",
    "rejectReason": "INTERNAL_SERVER_ERROR",
    "orderID": "1",
    "tradeID": "1",
    "instrument": "EUR_USD",
    "units": "1",
    "price": "1.1",
    "distance": "0.1",
    "timeInForce": "GTC",
    "amount": "1.0000",
    "fundingReason": "ADJUSTMENT",
    "accountBalance": "1.0000",
    "pl": "0.0000",
    "financing": "1.0000",
    "commission": "0.0000",
    "positionFinancings": [],
    "tradeIDs": ["1"],
    "extensionNumber": 1,
    "homeCurrency": "USD",
    "dividendAdjustment": "1.0000",
    "tradeState": "OPEN",
    "openTradeDividendAdjustments": [],
    "guaranteedExecutionPremium": "0.1",
    "divisionID": 1,
    "siteID": 1,
    "accountUserID": 1,
    "accountNumber": 1,
    "tradeClientExtensionsModify": {},
}


def test_every_kind_of_transaction_has_words_of_its_own() -> None:
    for kind in get_args(KnownTransaction):
        type_ = kind.model_fields["type"].default
        told = transaction(5, type_, **LEAST)
        assert not isinstance(told, UnknownTransaction)
        line = line_of(told, {}, {})
        assert line.text
        assert line.kind != "NOTE"
        assert "does not know" not in line.text


def test_a_cancelled_trailing_stop_reads_the_same_before_and_after_a_restart() -> None:
    created = transaction(
        10,
        "TRAILING_STOP_LOSS_ORDER",
        tradeID="5",
        distance="0.0015",
        timeInForce="GTC",
        reason="CLIENT_ORDER",
    )
    cancelled = transaction(11, "ORDER_CANCEL", orderID="10", reason="CLIENT_REQUEST")
    store, names = fresh_store(), LogNames()
    for each in (opening(5, "1000", "1.09"), created):
        apply(store, each)
        names.remember(each)
    store.orders["10"].price = Decimal("1.13187")  # as the broker sends it while the order is held
    held = line_of(cancelled, store.orders, store.trades)
    assert held.text == "Trailing stop #10 cancelled: requested by you"
    assert line_of(cancelled, {}, {}, names) == held
