"""The feeds against the real practice broker: opened, traded on, killed, restarted, its history lost."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import run
from keydesk.store.candles import want_history
from keydesk.store.store import Store
from keydesk.store.valuation import revalue
from keydesk_client.account.snapshot import compare
from keydesk_client.client import Client
from keydesk_client.models import DateTime, MarketOrderRequest, StopLossDetails, TakeProfitDetails
from support.broker import PracticeServer, practice_server
from support.fakes.scripted_broker import until
from support.folded_account import picture

pytestmark = pytest.mark.e2e


@contextlib.asynccontextmanager
async def desk(server: PracticeServer, account_id: str = "") -> AsyncIterator[AccountFeed]:
    """A desk without a screen on an account of the broker."""
    async with Client(
        token=server.token,
        rest_url=server.rest_url,
        stream_url=server.stream_url,
        account_id=account_id or server.account_id,
    ) as client:
        feed = AccountFeed(client=client, store=Store(), check_every_s=0.2)
        running = asyncio.create_task(run(feed))
        try:
            await until(lambda: feed.follower.ready.is_set() and "EUR_USD" in feed.store.quotes)
            yield feed
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def is_connected(feed: AccountFeed) -> bool:
    """Whether both streams are open; on a busy machine round trips take long, and the line is SLOW then."""
    return {feed.store.health.events, feed.store.health.prices} <= {"OK", "SLOW"}


def bracket(feed: AccountFeed, units: str) -> MarketOrderRequest:
    quote = feed.store.quotes["EUR_USD"]
    away = Decimal("0.00500")
    return MarketOrderRequest(
        instrument="EUR_USD",
        units=Decimal(units),
        stop_loss_on_fill=StopLossDetails(price=quote.bid - away),
        take_profit_on_fill=TakeProfitDetails(price=quote.ask + away),
    )


async def test_the_desk_opens_with_prices_account_chart_and_days(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own) as feed:
        store = feed.store
        assert store.watchlist[:3] == ["EUR_USD", "USD_JPY", "GBP_USD"]
        assert store.account is not None
        assert store.account.balance == Decimal(100000)
        await until(lambda: len(store.quotes) == len(store.watchlist))
        await until(lambda: len(store.series["EUR_USD", "M5"].candles) > 100)
        await until(lambda: len(store.days) == len(store.watchlist))
        await until(lambda: store.today is not None)
        await until(lambda: "JPY" in store.conversions)
        assert [line.kind for line in store.log][:3] == ["CONFIG", "CONFIG", "FUNDS"]


async def test_the_day_is_of_an_account_that_was_asked_for_after_a_snapshot_was_wanted(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own) as feed:
        store = feed.store
        await until(lambda: store.today is not None)
        wanted, reads = feed.now(), store.clock_reads
        assert store.day_asked_at < wanted
        feed.follower.snapshot_wanted.set()
        await until(lambda: store.day_asked_at > wanted and store.clock_reads > reads)
        assert store.event_ns == 0
        done = await feed.client.orders.create(bracket(feed, "1000"))
        await until(lambda: store.event_ns > 0)
        assert abs(store.event_ns - store.clock_ns) < MINUTE, str(done)


HELD = {
    "EUR_USD": 20_000,
    "USD_JPY": -30_000,
    "EUR_GBP": 40_000,
    "AUD_CAD": -10_000,
    "GBP_CHF": 5_000,
}
FIVE_IN_NEW_YORK = DateTime("2024-03-05T22:00:00Z").ns
MINUTE = 60_000_000_000


async def frames(feed: AccountFeed, until_ns: int) -> list[tuple[int, Decimal]]:
    """Revalue as the desk's frames do until the market's clock shows a time; return clock and NAV of each."""
    store, seen = feed.store, list[tuple[int, Decimal]]()
    while store.clock_ns < until_ns:
        revalue(store, feed.now())
        store.pop_dirty()
        if store.account is not None:
            seen.append((store.clock_ns, store.account.nav))
        await asyncio.sleep(0.02)
    return seen


async def day_start_of(feed: AccountFeed) -> Decimal:
    """Return the NAV at the day's start once it is counted to the end."""
    store = feed.store

    def counted() -> Decimal | None:
        revalue(store, feed.now())
        today, account = store.today, store.account
        is_read = today is not None and not today.wants_count and not feed.history_wanted.is_set()
        return account.day_start_nav if is_read and account is not None else None

    await until(lambda: counted() is not None)
    found = counted()
    assert found is not None
    return found


async def test_a_restart_changes_nothing_of_the_day_that_began_with_positions(
    practice_folder: Path,
) -> None:
    """Five positions are held over 17:00 New York, two of them closed in part or in full since then."""
    start = ("--start", "2024-03-05T21:58:00Z", "--speed", "20")
    async with practice_server(practice_folder, *start) as practice:
        async with desk(practice) as feed:
            for name, units in HELD.items():
                await feed.client.orders.create(
                    MarketOrderRequest(instrument=name, units=Decimal(units))
                )
            seen = await frames(feed, FIVE_IN_NEW_YORK + MINUTE)
            for name, units in (("USD_JPY", 30_000), ("EUR_GBP", -15_000)):
                await feed.client.orders.create(
                    MarketOrderRequest(instrument=name, units=Decimal(units))
                )
            await frames(feed, FIVE_IN_NEW_YORK + 4 * MINUTE)
            running = await day_start_of(feed)
        async with desk(practice) as feed:
            restarted = await day_start_of(feed)
    # A busy machine draws few frames: the value of five o'clock lies between those around it.
    last = max(clock for clock, _ in seen if clock < FIVE_IN_NEW_YORK)
    around = [nav for clock, nav in seen if clock >= last]
    assert abs(running - restarted) < Decimal("0.01")
    assert min(around) - 5 < restarted < max(around) + 5, "but for the financing and the last price"


async def test_a_trade_from_fill_to_close_is_the_brokers_to_the_cent(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own) as feed:
        store, client = feed.store, feed.client
        answer = await client.orders.create(bracket(feed, "10000"))
        await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
        (trade_id,) = store.trades
        trade = store.trades[trade_id]
        assert trade.stop_loss is not None
        assert trade.take_profit is not None
        assert trade.initial_stop == trade.stop_loss.price
        await client.trades.close(trade_id, units=Decimal(4000))
        closed = await client.trades.close(trade_id)
        await until(lambda: feed.follower.gate.applied == int(closed.last_transaction_id))
        assert not store.trades
        assert not store.orders
        assert store.account is not None
        booked = [line.amount for line in store.log if line.kind == "CLOSE"]
        assert store.account.balance == 100000 + sum((each or 0 for each in booked), Decimal(0))
        theirs = await client.accounts.get()
        assert store.account.balance == theirs.account.balance
        await until(lambda: feed.follower.synchronizer.checked >= int(closed.last_transaction_id))
        await until(lambda: not store.health.warning)  # of a poll that met the fill half applied


async def test_the_desk_survives_the_brokers_death_and_sees_what_it_missed(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder) as first, desk(first) as feed:
        answer = await feed.client.orders.create(bracket(feed, "10000"))
        await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
        await first.kill()
        await until(lambda: feed.store.health.events == feed.store.health.prices == "DOWN")
        (practice_folder / "s").unlink(missing_ok=True)
        async with practice_server(practice_folder, "--token", first.token):
            await until(lambda: is_connected(feed))
            answer = await feed.client.orders.create(bracket(feed, "-2000"))
            await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
            theirs = await feed.client.accounts.changes(1)
            assert compare(feed.store, theirs.changes, theirs.state).differences == ()


async def test_a_broker_that_lost_its_history_is_shown_as_it_is(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as first, desk(first) as feed:
        for _ in range(3):
            answer = await feed.client.orders.create(bracket(feed, "1000"))
        await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
        await first.kill()
        shutil.rmtree(practice_folder / "data")
        (practice_folder / "s").unlink(missing_ok=True)
        async with practice_server(practice_folder, "--token", first.token):
            await until(lambda: not feed.store.trades)
            assert any("a new account under this id" in line.text for line in feed.store.log)
            answer = await feed.client.orders.create(bracket(feed, "1000"))
            await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
            await until(lambda: is_connected(feed))
            assert len(feed.store.trades) == 1


async def test_profit_moves_locally_and_agrees_with_the_broker(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own, desk_of_my_own.hedging_id) as feed:
        store, client = feed.store, feed.client
        for units in ("10000", "-6000"):
            request = MarketOrderRequest(instrument="USD_JPY", units=Decimal(units))
            answer = await client.orders.create(request)
        await until(lambda: feed.follower.gate.applied == int(answer.last_transaction_id))
        await until(lambda: store.trades.keys() and "JPY" in store.conversions)
        await until(lambda: feed.follower.synchronizer.checked == feed.follower.gate.applied)
        revalue(store, feed.now())
        assert store.account is not None
        assert store.account.hedging
        before = store.account.unrealized_pl
        moved_at = store.quotes["USD_JPY"].moved_at
        await until(lambda: store.quotes["USD_JPY"].moved_at > moved_at)
        revalue(store, feed.now())
        assert store.account.unrealized_pl != before
        assert all(trade.pips is not None for trade in store.trades.values())
        assert picture(store)[3][3] == feed.follower.gate.applied


async def test_scrolling_back_loads_older_candles_from_the_broker(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own) as feed:
        store = feed.store
        await until(lambda: len(store.series["EUR_USD", "M5"].candles) > 100)
        series = store.series["EUR_USD", "M5"]
        before = len(series.candles)
        want_history(store, "EUR_USD", "M5", "older")
        await until(lambda: len(series.candles) > before + 100)
        times = [each.time_ns for each in series.candles]
        assert times == sorted(set(times))
        assert not series.history_error


async def test_the_practice_broker_has_books_of_majors_and_none_of_others(
    desk_of_my_own: PracticeServer,
) -> None:
    async with desk(desk_of_my_own) as feed:
        store = feed.store
        await until(lambda: len(store.books) == 2)
        for book in store.books.values():
            snapshot = book.snapshot
            assert snapshot is not None
            assert Decimal(0) < snapshot.long_percent < Decimal(100)
            assert len(snapshot.buckets) > 20  # how many depends on the rates of the hour
        assert {name for name, _ in store.books} == {"EUR_USD"}
        store.set_focus("EUR_HUF")
        await until(lambda: ("EUR_HUF", "positions") in store.books)
        assert store.books["EUR_HUF", "orders"].snapshot is None
