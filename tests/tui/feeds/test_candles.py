"""Going back through the history of the practice broker: every candle once, in order, in bounded memory."""

from datetime import UTC, datetime
from itertools import pairwise
from unittest.mock import Mock, patch

from keydesk.chart.position import Position
from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.candles import load_candles, load_older
from keydesk.store.candles import MAX_CANDLES, WINDOW, show_prices, want_date, want_history
from keydesk.store.state import Candle, CandleSeries
from keydesk.store.store import Store
from keydesk_client.client import Client
from support.broker import PracticeServer
from support.fakes.scripted_broker import ScriptedBroker, link_to

SHOWN = 400  # candles in sight
HOUR_NS = 3600 * 1_000_000_000
TEN_YEARS_NS = 3653 * 24 * HOUR_NS
FRANC_NS = int(datetime(2015, 1, 15, tzinfo=UTC).timestamp()) * 1_000_000_000


def link_of(client: Client) -> AccountFeed:
    return AccountFeed(client=client, store=Store(), streams=link_to(ScriptedBroker()).streams)


def client_of(server: PracticeServer) -> Client:
    return Client(
        token=server.token,
        rest_url=server.rest_url,
        stream_url=server.stream_url,
        account_id=server.account_id,
    )


async def opened(feed: AccountFeed, instrument: str, granularity: str) -> CandleSeries:
    feed.store.focus, feed.store.granularity = instrument, granularity
    series = await load_candles(feed, None, feed.store.focus, granularity)
    assert series is not None
    return series


async def turned(
    feed: AccountFeed, series: CandleSeries, position: Position, count: int
) -> list[Candle]:
    """Go some candles back or forth, loading what is wanted on the way; return those in sight."""
    for _ in range(8):
        wants = position.lacking_end(series, position.candles(series, SHOWN), SHOWN, 0)
        if not wants:
            break
        want_history(feed.store, series.instrument, series.granularity, wants)
        await load_candles(feed, series, feed.store.focus, series.granularity)
    else:
        raise AssertionError("it asks for the same candles again and again")
    candles = position.candles(series, SHOWN)
    position.move(series, candles, count, SHOWN)
    candles = position.candles(series, SHOWN)
    end = position.end(candles)
    assert len(series.candles) <= MAX_CANDLES
    assert series.past is None or len(series.past.candles) <= WINDOW
    return list(candles[max(0, end - SHOWN) : end])


async def test_ten_years_of_hours_are_gone_through_candle_by_candle(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "H1")
        position, newest = Position(), series.candles[-1].time_ns
        seen = series.candles[-SHOWN:]
        while seen[0].time_ns > newest - TEN_YEARS_NS:
            page = await turned(feed, series, position, SHOWN)
            assert page[-1].time_ns < seen[0].time_ns
            seen = [*page, *seen]
        times = [each.time_ns for each in seen]
        assert {after - before for before, after in pairwise(times)} == {HOUR_NS}
        there = position.until
        assert there is not None
        page = []
        while not page or page[-1].time_ns < there + 2 * WINDOW * HOUR_NS:  # and on again
            before = page[-1].time_ns if page else there
            page = await turned(feed, series, position, -SHOWN)
            assert [each.time_ns for each in page] == [
                before + i * HOUR_NS for i in range(1, SHOWN + 1)
            ]


async def test_a_date_is_gone_to_and_the_jump_of_that_day_is_in_sight(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_CHF", "M15")
        position = Position(goal=FRANC_NS)
        want_date(feed.store, "EUR_CHF", "M15", FRANC_NS)
        assert not position.arrive(series, 120), "the old candles stay until the new ones are there"
        await load_candles(feed, series, feed.store.focus, "M15")
        assert position.arrive(series, 120)
        candles = position.candles(series, 120)
        end = position.end(candles)
        page = candles[end - 120 : end]
        assert page[0].time_ns < FRANC_NS < page[-1].time_ns
        assert max(each.high for each in page) - min(each.low for each in page) > 0.1


async def test_a_date_before_all_history_shows_its_beginning(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "D")
        position = Position(goal=1)
        want_date(feed.store, "EUR_USD", "D", 1)
        await load_candles(feed, series, feed.store.focus, "D")
        position.arrive(series, 100)
        candles = position.candles(series, 100)
        assert position.end(candles) == 100
        assert position.lacking_end(series, candles, 100, 0) == ""


async def test_candles_of_bid_prices_do_not_come_before_those_of_mid_prices() -> None:
    feed = link_to(ScriptedBroker(statuses={}))
    series = CandleSeries("EUR_USD", "W", candles=[Candle(10**18, 1, 1, 1, 1, complete=True)])
    series.prices = "B"

    async def turned_meanwhile(*_: object) -> Mock:
        show_prices(series, "M")
        return Mock()

    with (
        patch("keydesk.feeds.candles._page", turned_meanwhile),
        patch("keydesk.feeds.candles.apply_older_candles") as taken,
    ):
        assert await load_older(feed, series)
    taken.assert_not_called()
    assert series.candles == []
    assert not series.loading_history


async def test_nothing_is_asked_for_before_a_series_without_candles() -> None:
    broker = ScriptedBroker(statuses={"/candles": 503})
    series = CandleSeries("EUR_USD", "W", wants_older=True)
    assert await load_older(link_to(broker), series)
    assert not series.error


async def test_history_that_cannot_be_read_says_why_and_leaves_the_candles() -> None:
    broker = ScriptedBroker(statuses={"/candles": 503})
    feed = link_to(broker)
    feed.store.focus = "EUR_USD"
    series = CandleSeries("EUR_USD", "M5", candles=[Candle(10**18, 1, 1, 1, 1, complete=True)])
    feed.store.series["EUR_USD", "M5"] = series
    want_history(feed.store, "EUR_USD", "M5", "older")
    await load_candles(feed, series, feed.store.focus, "M5")
    assert "503" in series.error
    assert len(series.candles) == 1
    assert not series.loading_history
