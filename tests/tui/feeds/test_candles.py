"""Going back through the history of the practice broker: every candle once, in order, in bounded memory."""

from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from unittest.mock import Mock, patch

import pytest

from keydesk.chart.position import Position
from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.candles import load_candles, load_older, load_past
from keydesk.store.candles import MAX_CANDLES, WINDOW, show_prices, want_date, want_history
from keydesk.store.prices import apply_price
from keydesk.store.state import Candle, CandleSeries, PastCandles
from keydesk.store.store import Store
from keydesk_client.client import Client
from support.broker import PracticeServer
from support.fakes.scripted_broker import ScriptedBroker, link_to
from support.walks import sampled

SHOWN = 400  # candles in sight
HOUR_NS = 3600 * 1_000_000_000
THREE_YEARS_NS = 1096 * 24 * HOUR_NS
YEAR_1990_NS = int(datetime(1990, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
FRANC_NS = int(datetime(2015, 1, 15, tzinfo=UTC).timestamp()) * 1_000_000_000


def link_of(client: Client) -> AccountFeed:
    return AccountFeed(client=client, store=Store())


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
        candles = position.candles(series, SHOWN)
        wants = position.missing_side(series, candles, SHOWN, 0)
        if not wants:
            break
        of_series = candles is series.candles
        want_history(feed.store, series.instrument, series.granularity, wants, of_series=of_series)
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


@pytest.mark.e2e
async def test_three_years_of_hours_are_gone_through_candle_by_candle(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "H1")
        position, newest = Position(), series.candles[-1].time_ns
        seen = series.candles[-SHOWN:]
        while seen[0].time_ns > newest - THREE_YEARS_NS:
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


@pytest.mark.parametrize("days", sampled([3, 4000], 1))
async def test_back_from_a_date_the_candles_before_now_are_gone_through_without_a_gap(
    desk_of_my_own: PracticeServer, days: int
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "M5")
        newest = series.candles[-1].time_ns
        position, date_ns = Position(), newest - days * 24 * HOUR_NS
        position.go_to(date_ns, series)
        want_date(feed.store, "EUR_USD", "M5", date_ns)
        await load_candles(feed, series, "EUR_USD", "M5")
        assert position.arrive(series, SHOWN)
        position.reset()
        seen = series.candles[-SHOWN:]
        while seen[0].time_ns > newest - 40 * 24 * HOUR_NS:  # more than the series ever holds
            page = await turned(feed, series, position, SHOWN)
            assert page[-1].time_ns < seen[0].time_ns
            seen = [*page, *seen]
        times = [each.time_ns for each in seen]
        assert {after - before for before, after in pairwise(times)} == {HOUR_NS // 12}


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
        assert position.missing_side(series, candles, 100, 0) == ""


async def test_a_date_before_all_history_is_reported_with_the_first_day_and_nothing_as_unreadable(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "M5")
        want_date(feed.store, "EUR_USD", "M5", YEAR_1990_NS)
        await load_candles(feed, series, "EUR_USD", "M5")
    assert [each.text for each in feed.store.notices] == [
        "No candles of EUR/USD M5 before 4 Jan 1999: the chart shows the first ones"
    ]
    assert (series.error, series.history_error, feed.store.health.unreadable) == ("", "", 0)


async def test_candles_of_a_date_are_not_given_up_for_those_before_the_last_window(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        series = await opened(feed, "EUR_USD", "M5")
        for date_ns in (YEAR_1990_NS, FRANC_NS):
            want_date(feed.store, "EUR_USD", "M5", date_ns)
            want_history(feed.store, "EUR_USD", "M5", "older")
            await load_candles(feed, series, "EUR_USD", "M5")
    past = series.past
    assert past is not None
    assert past.candles[0].time_ns < FRANC_NS < past.candles[-1].time_ns
    assert (series.error, series.history_error, feed.store.health.unreadable) == ("", "", 0)


def without_candles() -> tuple[AccountFeed, CandleSeries]:
    """A chart of one candle, at a broker that has none of any date."""
    empty = {"instrument": "EUR_USD", "granularity": "M5", "candles": []}
    feed = link_to(ScriptedBroker(answers={"/candles": empty}))
    feed.store.focus = "EUR_USD"
    series = CandleSeries("EUR_USD", "M5", candles=[Candle(10**18, 1, 1, 1, 1, complete=True)])
    feed.store.series["EUR_USD", "M5"] = series
    return feed, series


async def test_a_broker_without_candles_of_a_date_leaves_the_chart_where_it_is_and_says_so() -> (
    None
):
    feed, series = without_candles()
    position = Position(until=7)
    for direction in ("older", "newer", "older"):
        position.go_to(FRANC_NS, series)
        want_date(feed.store, "EUR_USD", "M5", FRANC_NS)
        await load_candles(feed, series, "EUR_USD", "M5")
        assert position.arrive(series, 100)
        assert (position.until, position.goal) == (7, None)
        want_history(feed.store, "EUR_USD", "M5", direction)
        await load_candles(feed, series, "EUR_USD", "M5")
    assert {each.text for each in feed.store.notices} == {
        "No candles of EUR/USD M5 at 15 Jan 2015: the chart stays where it is"
    }
    assert (series.error, series.history_error, feed.store.health.unreadable) == ("", "", 0)


async def test_an_empty_window_that_is_to_be_extended_asks_for_nothing() -> None:
    feed, series = without_candles()
    for direction in ("older", "newer"):
        series.past = PastCandles(wants=direction)
        assert await load_past(feed, series, series.past)
    assert (series.error, series.history_error, feed.store.health.unreadable) == ("", "", 0)


async def test_a_date_that_cannot_be_loaded_leaves_the_chart_where_it_is_and_the_next_one_clears_why() -> (
    None
):
    broker = ScriptedBroker(statuses={"/candles": 503})
    feed = link_to(broker)
    feed.store.focus = "EUR_USD"
    shown = [Candle(10**18, 1, 1, 1, 1, complete=True)]
    series = CandleSeries("EUR_USD", "M5", candles=list(shown))
    series.past = PastCandles([Candle(FRANC_NS, 1, 1, 1, 1, complete=True)])
    feed.store.series["EUR_USD", "M5"] = series
    position = Position(until=FRANC_NS)
    position.go_to(YEAR_1990_NS, series)
    assert not position.arrive(series, 100), "the window before is not the one asked for"
    want_date(feed.store, "EUR_USD", "M5", YEAR_1990_NS)
    await load_candles(feed, series, "EUR_USD", "M5")
    assert position.arrive(series, 100)
    assert position.candles(series, 100) == series.past.candles
    assert "503" in series.history_error
    assert not series.error, "its newest candles are not old"
    assert [each.text for each in feed.store.notices] == [
        f"Candles of EUR/USD M5 at 1 Jan 1990 could not be loaded: {series.history_error}"
    ]
    broker.statuses.clear()
    broker.answers["/candles"] = {"instrument": "EUR_USD", "granularity": "M5", "candles": []}
    want_date(feed.store, "EUR_USD", "M5", YEAR_1990_NS)
    await load_candles(feed, series, "EUR_USD", "M5")
    assert not series.history_error


async def test_candles_of_a_size_are_those_that_so_many_units_trade_at_and_prices_move_them_so(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        feed = link_of(client)
        store = feed.store
        store.set_candle_prices("A")
        first = [each.close for each in (await opened(feed, "EUR_USD", "H1")).candles[:-2]]
        store.set_candle_prices("SA", Decimal(50_000_000))
        series = await load_candles(
            feed, store.series["EUR_USD", "H1"], store.focus, store.granularity
        )
        assert series is not None
        deep = [each.close for each in series.candles[:-2]]
        assert all(large > small for small, large in zip(first, deep, strict=True))
        [price] = (await client.pricing.get(["EUR_USD"])).prices
        apply_price(store, price, 0.0)
        [before, now] = (float(price.asks[0].price), series.candles[-1].close)
        assert 0 < now - before < 0.01


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
    assert not series.history_error


async def test_history_that_cannot_be_read_says_why_and_leaves_the_candles() -> None:
    broker = ScriptedBroker(statuses={"/candles": 503})
    feed = link_to(broker)
    feed.store.focus = "EUR_USD"
    series = CandleSeries("EUR_USD", "M5", candles=[Candle(10**18, 1, 1, 1, 1, complete=True)])
    feed.store.series["EUR_USD", "M5"] = series
    want_history(feed.store, "EUR_USD", "M5", "older")
    await load_candles(feed, series, feed.store.focus, "M5")
    assert "503" in series.history_error
    assert len(series.candles) == 1
    assert not series.loading_history
