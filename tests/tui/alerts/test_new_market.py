"""Alerts while the practice market begins anew: a jump of the prices between two markets crosses nothing."""

import asyncio
from pathlib import Path

import pytest

from keydesk.alerts.alert_list import set_alert_state
from keydesk.alerts.alert_records import AlertRecords
from keydesk.calc.alerts.fact_conditions import ClockTime, TradeResult
from keydesk.feeds.alerts import NextReads, fill_gap
from keydesk.feeds.instruments import restart_market
from keydesk.records.desk_records import DeskRecords
from support.alert_watch import ABOVE, SECOND, TEN, D, Watching, known_market, watching
from support.data.desk_store import example_account, long_euro
from support.fakes.scripted_broker import ScriptedBroker, link_to

YEARS = 4000 * 86_400 * SECOND


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return folder / "101.sqlite"


async def another_market(desk: Watching, later_ns: int, created_ns: int = 5) -> None:
    """Show the account of another market, whose time is so much later."""
    desk.store.account = example_account()
    desk.store.account.created_time_ns = created_ns
    desk.store.clock_ns = TEN + later_ns
    desk.watch.check(1.0)
    await desk.watch.settled()


async def at_home(desk: Watching) -> None:
    desk.store.account = example_account()
    desk.store.clock_ns = TEN
    desk.watch.check(0.0)
    await desk.watch.settled()


@pytest.mark.parametrize("later", [-YEARS, YEARS])
async def test_prices_of_another_market_need_a_fresh_crossing(path: Path, later: int) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        await desk.add(ABOVE)
        await desk.price("1.09")
        await another_market(desk, later)
        await desk.price("1.18", 1)
        assert desk.told == []
        await desk.price("1.09", 2)
        await desk.price("1.11", 3)
        assert len(desk.told) == 1


async def test_a_day_that_is_played_again_is_told_again_also_by_an_alert_that_was_done(
    path: Path,
) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        await desk.add(ABOVE, repeat_s=0)
        await desk.add(ABOVE)
        for _ in range(2):
            await desk.price("1.09", 7)
            await desk.price("1.11", 8)
            desk.store.clock_ns = TEN - 60 * SECOND
            desk.store.quotes.clear()
            desk.watch.restart_market()
            desk.watch.change(set_alert_state("2", "on"))
            await desk.watch.settled()
    assert [each.alert_id for each in desk.store.alert_history] == ["1", "2"] * 2


async def test_while_the_market_begins_anew_nothing_is_judged(path: Path) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        await desk.add(ABOVE)
        await desk.price("1.09")
        feed = link_to(ScriptedBroker(), store=desk.store)
        feed.alerts = desk.watch
        beginning = asyncio.create_task(restart_market(feed, TEN - YEARS))
        await asyncio.sleep(0)
        await desk.price("1.18", 1)
        feed.follower.ready.set()
        await beginning
        await desk.watch.settled()
        await desk.price("1.18", 2)
        await feed.client.close()
    assert desk.told == []


async def test_a_gap_between_two_markets_is_not_worked_out_from_candles(path: Path) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        await desk.add(ABOVE)
        await desk.price("1.09", 59)
        broker = ScriptedBroker()
        feed = link_to(broker, store=desk.store)
        feed.alerts = desk.watch
        desk.watch.note_interruption()
        desk.store.health.unchecked = True
        await desk.price("1.18", 59)
        due = NextReads()
        await fill_gap(feed, desk.watch, due)
        assert desk.watch.gap is not None  # the account was not compared yet
        desk.store.health.unchecked = False
        desk.store.clock_ns = TEN - YEARS
        await fill_gap(feed, desk.watch, due)
        await desk.watch.settled()
        await desk.price("1.18", 59)
        await feed.client.close()
    assert desk.told == []


async def test_alerts_on_a_trade_or_a_time_of_the_market_before_expire(path: Path) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        trade = long_euro()
        desk.store.trades = {trade.id: trade}
        await desk.add(
            TradeResult(trade_id=trade.id, unit="money", direction="down", level=D(-1000))
        )
        await desk.add(ClockTime(typed="14:30", level=D(TEN + 60 * SECOND)))
        await another_market(desk, YEARS)
        trade.unrealized_pl = D(-2000)
        desk.watch.check(2.0)
        await desk.watch.settled()
        assert desk.told == []
        assert {each.state for each in desk.store.alerts.values()} == {"expired"}


async def test_a_desk_that_opens_on_another_market_tells_nothing_of_the_time_between(
    path: Path,
) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        await desk.add(ABOVE)
        await desk.add(ClockTime(typed="14:30", level=D(TEN + 60 * SECOND)))
        await desk.price("1.09")
        desk.store.health.prices_at = 0.0
        desk.watch.close(0.0)
    async with watching(path, known_market()) as back:
        back.store.clock_ns = TEN + YEARS
        back.watch.check(0.5)  # the account is not known yet
        await back.watch.settled()
        assert back.watch.gap
        await another_market(back, YEARS)
        assert not back.watch.gap
        await back.price("1.18", 1)
    assert back.told == []
    kept = AlertRecords(DeskRecords(path))
    kept.load()
    assert kept.alert_list.seen_ns == TEN + YEARS
    assert kept.alert_list.account_ns == 5


async def test_alerts_of_the_account_that_was_left_for_a_replay_come_back_as_they_were(
    path: Path,
) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        assert desk.store.account is not None
        created = desk.store.account.created_time_ns
        await desk.add(ABOVE)
        await desk.price("1.09", 1)
        before = dict(desk.store.alerts)
        await another_market(desk, -YEARS)
        desk.store.quotes.clear()
        await desk.price("1.09", 2)
        await desk.price("1.11", 3)
        assert [each.alert_id for each in desk.store.alert_history] == ["1"]  # fired in the replay

        await another_market(desk, 3600 * SECOND, created)
        assert desk.store.alerts == before
        assert desk.store.alert_history == []
        assert desk.watch.gap is not None  # what was missed is worked out from candles
        assert desk.watch.gap <= TEN + SECOND
        desk.watch.end_gap()
        desk.store.quotes.clear()
        for second, mid in ((4, "1.09"), (5, "1.11")):
            await desk.price(mid, second)
        assert [mine for _, mine in desk.told] == [True, True]  # the first one of each account
    kept = AlertRecords(DeskRecords(path))
    kept.load()
    assert [each.history[-1].alert_id for each in kept.alert_list.others.values()] == ["1"]


async def test_a_desk_that_opens_in_a_replay_does_not_show_again_what_fired_before_it(
    path: Path,
) -> None:
    async with watching(path) as desk:
        await at_home(desk)
        assert desk.store.account is not None
        created = desk.store.account.created_time_ns
        await desk.add(ABOVE, repeat_s=0)
        await desk.price("1.09", 1)
        await desk.price("1.11", 2)
        await another_market(desk, -YEARS)
    async with watching(path, known_market()) as back:
        await another_market(back, -YEARS)
        await another_market(back, 3600 * SECOND, created)
        assert [each.number for each in back.store.alert_history] == [1]
    assert back.told == []
