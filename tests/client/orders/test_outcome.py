"""Outcomes as one line of a log."""

from decimal import Decimal

import pytest

from keydesk_client import (
    Done,
    NotSent,
    OrderResult,
    Outcome,
    OverflowPolicy,
    Rejected,
    Unconfirmed,
)
from keydesk_client.models import OrderFillTransaction, Reader
from keydesk_client.orders.outcome import Action
from support.data.outcomes import intent

INTENT = intent()

FILL = Reader(OrderFillTransaction).read(
    b'{"id":"7","instrument":"EUR_USD","units":"1000","fullVWAP":"1.11312","tradeOpened":{"tradeID":"7"}}'
)
BARE = Reader(OrderFillTransaction).read(b'{"id":"7","instrument":"EUR_USD"}')


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            Done(INTENT, OrderResult.FILLED, (FILL,), order_id="6"),
            "filled, 1000 EUR_USD at 1.11312, order 6, trade 7",
        ),
        (Done(INTENT, OrderResult.FILLED, (BARE,)), "filled, ? EUR_USD at None"),
        (Done(INTENT, OrderResult.RESTING, order_id="6"), "resting, order 6"),
        (
            Done(INTENT, OrderResult.CANCELLED, reason="INSUFFICIENT_MARGIN", order_id="6"),
            "cancelled, INSUFFICIENT_MARGIN, order 6",
        ),
        (Rejected(INTENT, "no", reject_reason="UNITS_INVALID"), "rejected, UNITS_INVALID, no"),
        (NotSent(INTENT, "no connection"), "not sent, no connection"),
        (Unconfirmed(INTENT, "not found"), f"unconfirmed {INTENT.id}, not found"),
    ],
)
def test_an_outcome_is_one_line(outcome: Outcome, said: str) -> None:
    assert str(outcome) == said


def test_a_done_outcome_has_its_fills_and_trade() -> None:
    assert Done(INTENT, OrderResult.FILLED, (FILL,)).fills == (FILL,)
    assert Done(INTENT, OrderResult.RESTING).fills == ()


def test_a_done_outcome_has_what_was_filled_and_at_which_price() -> None:
    done = Done(INTENT, OrderResult.FILLED, (FILL,))
    assert (done.units, done.price) == (Decimal(1000), Decimal("1.11312"))
    resting = Done(INTENT, OrderResult.RESTING)
    assert (resting.units, resting.price) == (Decimal(0), None)
    both_sides = Done(INTENT, OrderResult.FILLED, (FILL, FILL))
    assert (both_sides.units, both_sides.price) == (Decimal(2000), None)


def test_a_fill_without_the_newer_price_has_the_older_one() -> None:
    older = Reader(OrderFillTransaction).read(b'{"id":"7","units":"5","price":"1.2"}')
    assert Done(INTENT, OrderResult.FILLED, (older,)).price == Decimal("1.2")


def test_enumerations_print_as_their_words() -> None:
    assert f"{OrderResult.FILLED}, {Action.CLOSE_TRADE}, {OverflowPolicy.KEEP_LAST}" == (
        "filled, close_trade, keep last"
    )
    assert OrderResult("filled") is OrderResult.FILLED
