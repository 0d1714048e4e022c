"""What pages read from the broker: bookings and hourly closes, whatever a record lacks."""

from decimal import Decimal

import pytest

from keydesk.app.page_readings import booking_of, closes_of
from keydesk_client.models import Transaction
from support.data.account_history import candle, fill, transaction
from support.data.desk_store import example_store

D = Decimal


def test_a_fill_books_its_profit_financing_and_fees() -> None:
    booked = booking_of(
        fill(7, pl="12.5", financing="-0.4", commission="0.1", guaranteedExecutionFee="0.2")
    )
    assert booked is not None
    assert booked.transaction_id == 7
    assert (booked.realized, booked.financing, booked.fees) == (D("12.5"), D("-0.4"), D("0.3"))


def test_financing_and_dividends_are_booked_by_themselves() -> None:
    booked = booking_of(transaction(9, "DAILY_FINANCING", financing="-3.2"))
    assert booked is not None
    assert (booked.realized, booked.financing) == (D(0), D("-3.2"))
    booked = booking_of(transaction(9, "DIVIDEND_ADJUSTMENT", dividendAdjustment="1.5"))
    assert booked is not None
    assert booked.financing == D("1.5")


@pytest.mark.parametrize(
    "odd",
    [
        transaction(9, "DAILY_FINANCING"),
        transaction(9, "ORDER_FILL"),
        transaction(9, "DAILY_FINANCING", financing="1", time="soon"),
        transaction(9, "DAILY_FINANCING", financing="NaN"),
        transaction(9, "DAILY_FINANCING", financing="1", id="x"),
        transaction(9, "TRANSFER_FUNDS", amount="5"),
        transaction(9, "NEW_KIND"),
    ],
    ids=lambda each: str(each.type),
)
def test_a_record_that_books_nothing_readable_books_nothing(odd: Transaction) -> None:
    assert booking_of(odd) is None


def test_only_complete_and_readable_candles_have_a_close() -> None:
    store = example_store()
    candles = [
        candle("2026-03-02T01:00:00Z", "1 1 1 1.1"),
        candle("2026-03-02T02:00:00Z", "1 1 1 NaN"),
        candle("2026-03-02T03:00:00Z", "1 1 1 1.2", complete=False),
    ]
    assert list(closes_of(candles, store).values()) == [1.1]
