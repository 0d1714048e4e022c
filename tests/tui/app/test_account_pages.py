"""What the pages of the account read: bookings and hourly closes, whatever a record lacks."""

from collections.abc import AsyncIterator
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from keydesk.app.pages.account_pages import AccountPages, booking_of, closes_of
from keydesk_client.errors import OutOfRange, Unreachable
from keydesk_client.models import Transaction
from support.data.account_history import candle, fill, transaction
from support.data.desk_store import WALL_NS, example_store

if TYPE_CHECKING:
    from textual.app import App

    from keydesk.app.account_connection import Connection
    from keydesk.app.desk_account import DeskAccount

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


class Transactions:
    """The part of the client that bookings are read with: scripted, and cut off where told."""

    def __init__(self, *ids: int, error: Exception | None = None) -> None:
        self.ids, self.error = ids, error
        self.asked: list[str] = []

    async def iterate(self, **_filters: object) -> AsyncIterator[Transaction]:
        self.asked.append("from")
        async for each in self.after(0):
            yield each

    async def iterate_since(self, id_: int, **_filters: object) -> AsyncIterator[Transaction]:
        self.asked.append(f"since {id_}")
        async for each in self.after(int(id_)):
            yield each

    async def after(self, id_: int) -> AsyncIterator[Transaction]:
        for each in self.ids:
            if each > id_:
                yield fill(each, pl="1")
        if self.error is not None:
            raise self.error


async def read(readings: AccountPages, transactions: Transactions) -> tuple[int, str]:
    taken: list[tuple[int, str]] = []
    client = SimpleNamespace(transactions=transactions)
    connection = SimpleNamespace(commands=SimpleNamespace(client=client))
    await readings._fetch_bookings(
        cast("Connection", connection), lambda found, why: taken.append((len(found or ()), why))
    )
    [only] = taken
    return only


def new_readings() -> AccountPages:
    store = example_store()
    store.clock_ns = WALL_NS
    return AccountPages(cast("App[int]", None), cast("DeskAccount", None), store)


async def test_only_what_is_new_is_read_the_second_time() -> None:
    readings, transactions = new_readings(), Transactions(5, 7)
    assert await read(readings, transactions) == (2, "")
    transactions.ids = (5, 7, 9)
    assert await read(readings, transactions) == (3, "")
    assert transactions.asked == ["from", "since 7"]


async def test_a_silent_host_is_said_and_what_was_read_stays() -> None:
    readings = new_readings()
    found, why = await read(readings, Transactions(5, error=Unreachable("no answer")))
    assert found == 1
    assert why == "could not be read: no answer"
    assert await read(readings, Transactions(5, 7)) == (2, "")


async def test_a_history_that_began_anew_is_read_from_the_start() -> None:
    readings = new_readings()
    assert await read(readings, Transactions(5, 7)) == (2, "")
    gone = OutOfRange("unknown transaction", status=416)
    assert (await read(readings, Transactions(error=gone)))[1]
    again = Transactions(1)
    assert await read(readings, again) == (1, "")
    assert again.asked == ["from"]
