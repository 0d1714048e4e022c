"""A followed account at the practice broker: what it holds is what the broker holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_client import (
    AccountState,
    Client,
    Done,
    FileJournal,
    PriceUpdated,
    TransactionApplied,
)
from keydesk_client.errors import InvalidRequest, InvalidSettings, Refused, StreamNotOpen
from keydesk_client.models import (
    LimitOrderRequest,
    MarketOrderRequest,
    OrderFillTransaction,
    StopLossDetails,
    TakeProfitDetails,
)
from support.broker import PracticeServer

pytestmark = pytest.mark.e2e

LONG_S = 120.0  # between two prices of a quiet hour pass many seconds
PAIR = "EUR_USD"


def client_of(desk: PracticeServer, account_id: str = "") -> Client:
    return Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=account_id or desk.account_id,
    )


@pytest.fixture
async def client(desk_of_my_own: PracticeServer) -> AsyncIterator[Client]:
    async with client_of(desk_of_my_own) as client:
        yield client


@pytest.fixture
def journal(tmp_path: Path) -> FileJournal:
    return FileJournal(tmp_path / "private" / "orders.jsonl")


@asynccontextmanager
async def followed(client: Client, journal: FileJournal) -> AsyncIterator[AccountState]:
    async with client.follow(journal, instruments=[PAIR]) as account:
        yield account


def buy(units: int = 1000) -> MarketOrderRequest:
    return MarketOrderRequest(instrument=PAIR, units=units)


async def test_what_is_held_is_there_when_the_block_is_entered(
    client: Client, journal: FileJournal
) -> None:
    await client.orders.create(buy(1000))
    theirs = (await client.accounts.get()).account
    async with followed(client, journal) as account:
        assert account.balance == theirs.balance
        assert account.newest == theirs.last_transaction_id
        assert account.units(PAIR) == 1000
        assert account.prices[PAIR].bid < account.prices[PAIR].ask
        assert [trade.units for trade in account.trades.values()] == [1000]


async def test_after_an_outcome_the_account_has_its_position(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        outcome = await account.sender.create(buy(700))
        assert isinstance(outcome, Done)
        assert account.units(PAIR) == 700
        assert int(account.newest) >= int(outcome.last_transaction_id)
        assert outcome.trade_id is not None
        await account.sender.close_trade(outcome.trade_id, units=200)
        assert account.units(PAIR) == 500
        await account.sender.close_position(PAIR, long_units="ALL")
        assert account.units(PAIR) == 0
        assert not account.trades


async def test_dependent_orders_stand_on_their_trade_and_among_the_orders(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        ask = account.prices[PAIR].ask
        order = MarketOrderRequest(
            instrument=PAIR,
            units=1000,
            stop_loss_on_fill=StopLossDetails(price=ask - Decimal("0.01000")),
            take_profit_on_fill=TakeProfitDetails(price=ask + Decimal("0.02000")),
        )
        outcome = await account.sender.create(order)
        assert isinstance(outcome, Done)
        trade = account.trades[outcome.trade_id or ""]
        assert trade.stop_loss is not None
        assert trade.stop_loss.price == ask - Decimal("0.01000")
        assert {each.type for each in account.orders.values()} == {"STOP_LOSS", "TAKE_PROFIT"}


async def test_what_another_client_does_is_an_event_and_is_held(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        events = account.events()
        await client.orders.create(buy(300))
        async with asyncio.timeout(LONG_S):
            async for event in events:
                if isinstance(event, TransactionApplied) and isinstance(
                    event.transaction, OrderFillTransaction
                ):
                    break
        assert account.units(PAIR) == 300
        resting = LimitOrderRequest(instrument=PAIR, units=10, price="0.50000")
        created = await client.orders.create(resting)
        assert await account.wait_for(
            lambda: created.order_create_transaction.id in account.orders, LONG_S
        )


async def test_figures_follow_the_prices_and_agree_with_the_broker(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        await account.sender.create(buy(100_000))
        before = account.nav
        assert await account.wait_for(lambda: account.nav != before, LONG_S)
        trade = next(iter(account.trades.values()))
        price, units = account.prices[PAIR], Decimal(100_000)
        assert trade.unrealized_pl == _profit(account, units * (price.bid - trade.price))
        assert account.nav == account.balance + trade.unrealized_pl
        rate = account.instruments[PAIR].margin_rate
        assert account.margin.used == pytest.approx(units * rate * price.mid, rel=Decimal("1e-6"))
        assert account.margin.available == account.nav - account.margin.used


def _profit(account: AccountState, quote: Decimal) -> Decimal:
    factors = account.conversion("USD")
    return quote * (factors.gain if quote >= 0 else factors.loss)


async def test_the_margin_of_an_instrument_that_was_not_followed_counts_from_its_fill_on(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        await account.sender.create(MarketOrderRequest(instrument="GBP_USD", units=1000))
        [trade] = account.trades.values()
        used = account.margin.used
        assert used > 0
        assert used == pytest.approx(trade.initial_margin, rel=Decimal("0.001"))


async def test_prices_are_events_if_asked_for(client: Client, journal: FileJournal) -> None:
    async with followed(client, journal) as account, asyncio.timeout(LONG_S):
        async for event in account.events(prices=True):
            if isinstance(event, PriceUpdated):
                assert event.price.instrument == PAIR
                break


async def test_prices_of_what_is_held_come_without_being_named(client: Client) -> None:
    async with client.follow() as account:
        assert not account.prices
        await client.orders.create(MarketOrderRequest(instrument="USD_JPY", units=100))
        assert await account.wait_for(lambda: "USD_JPY" in account.prices, LONG_S)
        assert account.conversion("JPY").value > 0


async def test_orders_that_an_earlier_process_left_open_are_looked_up(
    client: Client, journal: FileJournal
) -> None:
    async with followed(client, journal) as account:
        outcome = await account.sender.create(buy(100))
    journal.write(outcome.intent)  # as if it had ended before the outcome was noted
    async with followed(client, journal) as account:
        (found,) = account.recovered
        assert isinstance(found, Done)
        assert found.intent.id == outcome.intent.id
        assert account.units(PAIR) == 100


async def test_without_a_journal_no_order_can_be_sent(client: Client) -> None:
    async with client.follow() as account:
        with pytest.raises(InvalidSettings, match="journal: give one"):
            _ = account.sender


async def test_an_account_that_the_token_may_not_use_is_an_error_at_the_door(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own, "101-001-9999999-001") as client:
        with pytest.raises(Refused):
            async with client.follow():
                pass


async def test_an_instrument_that_the_account_lacks_is_an_error_at_the_door(
    client: Client,
) -> None:
    with pytest.raises(InvalidRequest, match=r"instruments: .* 'EURUSD': did you mean .*EUR_USD"):
        async with client.follow(instruments=["EURUSD"]):
            pass


async def test_leaving_the_block_ends_every_iteration_and_wait(client: Client) -> None:
    async with client.follow() as account:
        events = account.events()
        waiting = asyncio.create_task(account.wait_for(lambda: False))
        await asyncio.sleep(0)
    assert [each async for each in events if not isinstance(each, TransactionApplied)] == []
    with pytest.raises(StreamNotOpen):
        await waiting
    with pytest.raises(StreamNotOpen, match="once"):
        async with account:
            pass


async def test_a_text_instead_of_a_list_is_refused(client: Client) -> None:
    with pytest.raises(InvalidSettings, match=r"instruments: give a list: \['EUR_USD'\]"):
        client.follow(instruments=PAIR)


async def test_two_accounts_of_a_token_are_followed_at_once_and_each_has_its_own(
    desk_of_my_own: PracticeServer, client: Client, tmp_path: Path
) -> None:
    one, two = (FileJournal(tmp_path / "private" / name) for name in ("one.jsonl", "two.jsonl"))
    other = desk_of_my_own.hedging_id
    async with (
        client.follow(one, instruments=[PAIR]) as first,
        client.follow(two, instruments=[PAIR], account_id=other) as second,
    ):
        outcomes = await asyncio.gather(first.sender.create(buy(100)), second.sender.create(buy(7)))
        assert [each.intent.account_id for each in outcomes] == [desk_of_my_own.account_id, other]
        assert [first.units(PAIR), second.units(PAIR)] == [100, 7]
        await second.sender.close_position(PAIR, long_units="ALL")
        assert [first.units(PAIR), second.units(PAIR)] == [100, 0]
        theirs = (await client.accounts.get(account_id=other)).account
        assert second.balance == theirs.balance
    assert client.account_id == desk_of_my_own.account_id


async def test_an_order_that_was_left_open_is_looked_up_in_the_account_that_it_was_sent_to(
    desk_of_my_own: PracticeServer, client: Client, journal: FileJournal
) -> None:
    async with client.follow(journal, account_id=desk_of_my_own.hedging_id) as account:
        outcome = await account.sender.create(buy(100))
    journal.write(outcome.intent)  # as if it had ended before the outcome was noted
    async with client.follow(journal) as another:
        (found,) = another.recovered
    assert isinstance(found, Done)
    assert found.intent.id == outcome.intent.id


async def test_instruments_are_added_and_removed_while_the_account_is_followed(
    client: Client,
) -> None:
    async with client.follow(instruments=[PAIR]) as account:
        await account.add("USD_JPY", "GBP_USD")
        assert account.prices.keys() == {PAIR, "USD_JPY", "GBP_USD"}
        account.remove("GBP_USD", PAIR)
        assert account.prices.keys() == {"USD_JPY"}
        before = account.prices["USD_JPY"]
        assert await account.wait_for(lambda: account.prices["USD_JPY"] != before, LONG_S)
        assert account.prices.keys() == {"USD_JPY"}
        with pytest.raises(InvalidRequest, match="did you mean EUR_USD"):
            await account.add("EURUSD")
        assert account.interrupted == {}
    with pytest.raises(StreamNotOpen):
        await client.follow().add(PAIR)


async def test_an_instrument_that_is_held_is_priced_after_it_was_removed(client: Client) -> None:
    await client.orders.create(buy())
    async with client.follow(instruments=[PAIR]) as account:
        account.remove(PAIR)
        before = account.prices[PAIR]
        assert await account.wait_for(lambda: account.prices[PAIR] != before, LONG_S)
