"""Watching: each crossing of the prices that come is told once, over restarts, interruptions and a second desk."""

from dataclasses import replace
from pathlib import Path

import pytest

from keydesk.alerts.alert_list import ClaimFirings, add_alert, set_alert_state
from keydesk.alerts.alert_records import AlertRecords
from keydesk.calc.alerts.alert import Alert, Firing
from keydesk.calc.alerts.candle_conditions import RsiLevel
from keydesk.calc.alerts.engine import PriceHistory, PriceRange
from keydesk.calc.alerts.fact_conditions import AccountResult, ClockTime, StreamSilence, TradeResult
from keydesk.calc.alerts.price_conditions import DayHighLow, SpreadLevel
from keydesk.feeds.alerts import NextReads, fill_gap, read_candles
from keydesk.records.desk_records import DeskRecords
from keydesk.store.candles import candle_of, period_end
from keydesk.store.prices import apply_price
from keydesk.store.state import Candle
from keydesk.values import Day
from support.alert_watch import ABOVE, SECOND, TEN, D, Watching, watching
from support.data.account_history import candle, price
from support.data.desk_store import long_euro
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return folder / "101.sqlite"


async def test_a_crossing_is_told_once_and_the_next_only_after_a_fresh_one(path: Path) -> None:
    async with watching(path) as desk:
        await desk.add(ABOVE, repeat_s=0)
        for second, mid in enumerate(("1.09", "1.11", "1.12", "1.09", "1.10", "1.10")):
            await desk.price(mid, second)
    assert desk.told == [("EUR/USD mid crosses up 1.1", True)] * 2
    assert [each.delivered for each in desk.store.alert_history] == [True, True]


async def test_a_price_that_comes_and_goes_between_two_frames_is_not_missed(path: Path) -> None:
    async with watching(path) as desk:
        await desk.add(ABOVE)
        await desk.price("1.09")
        for second, (bid, ask) in enumerate((("1.1100", "1.1102"), ("1.0900", "1.0902")), 1):
            time = f"2026-03-02T10:00:0{second}.000000000Z"
            apply_price(desk.store, price("EUR_USD", bid, ask, time), 1.0)
        await desk.watch.settled()
    assert len(desk.told) == 1


async def test_the_prices_of_an_instrument_with_an_alert_are_wanted(path: Path) -> None:
    async with watching(path) as desk:
        await desk.add(ABOVE)
        feed = link_to(ScriptedBroker(), clock=Clock())
        feed.store.instruments = desk.store.instruments
        feed.store.alert_instruments = desk.store.alert_instruments
        feed.instruments_known.set()
        assert feed.wanted() == ("EUR_USD",)
        await feed.client.close()
        desk.watch.change(set_alert_state("1", "paused"))
        await desk.watch.settled()
    assert desk.store.alert_instruments == ()
    assert desk.store.price_watch == {}


async def test_a_claimed_firing_that_was_not_told_is_told_at_the_next_start_and_only_then(
    path: Path,
) -> None:
    killed = AlertRecords(DeskRecords(path))
    alert = killed.change(add_alert(Alert("", ABOVE))).alerts[0]
    killed.change(ClaimFirings([Firing(alert, TEN, D("1.1"), TEN - 1, TEN)], 0))
    async with watching(path) as desk:
        assert desk.told == [("EUR/USD mid crosses up 1.1", True)]
    async with watching(path) as again:
        await again.price("1.09")
        await again.price("1.12", 1)
    assert again.told == []


async def test_of_two_desks_one_delivers_and_the_other_shows_it(path: Path) -> None:
    async with watching(path) as ours, watching(path) as theirs:
        await ours.add(ABOVE)
        theirs.watch.check(1.0)
        await theirs.watch.settled()
        for desk in (ours, theirs):
            await desk.price("1.09")
        for desk in (ours, theirs):
            await desk.price("1.12", 1)
        for now in (5.0, 6.0):
            ours.watch.check(now)
            theirs.watch.check(now)
            await theirs.watch.settled()
    assert ours.told == [("EUR/USD mid crosses up 1.1", True)]
    assert theirs.told == [("EUR/USD mid crosses up 1.1", False)]


async def test_a_damaged_file_is_said_and_the_watch_goes_on(path: Path) -> None:
    path.write_bytes(b"{" * 5000)
    path.chmod(0o600)
    async with watching(path) as desk:
        assert "damaged" in desk.words[0]
        await desk.add(ABOVE)
    assert len(desk.store.alerts) == 1


async def test_spread_and_day_extremes(path: Path) -> None:
    async with watching(path) as desk:
        desk.store.days["EUR_USD"] = Day(D("1.1"), D("1.1050"), D("1.0950"))
        await desk.add(DayHighLow(instrument="EUR_USD", extreme="high"), repeat_s=0)
        await desk.add(SpreadLevel(instrument="EUR_USD", direction="up", level=D(5)))
        for second, mid in enumerate(("1.1", "1.1049", "1.1051", "1.1052", "1.1050", "1.1053")):
            await desk.price(mid, second)
        assert [text for text, _ in desk.told] == ["EUR/USD makes a new high of the day"] * 2
        wide = price("EUR_USD", "1.1000", "1.1006", "2026-03-02T10:00:09.000000000Z")
        apply_price(desk.store, wide, 9.0)
        await desk.watch.settled()
    assert desk.told[-1][0] == "EUR/USD spread >= 5 pips"


async def test_results_of_trades_and_account_silence_and_the_clock(path: Path) -> None:
    async with watching(path) as desk:
        store = desk.store
        store.trades["6411"] = replace(long_euro(), id="6411")
        await desk.add(TradeResult(trade_id="6411", unit="R", direction="up", level=D(1)))
        await desk.add(AccountResult(of="open", unit="R", direction="down", level=D(-1)))
        await desk.add(StreamSilence(stream="prices", level=D(10)))
        await desk.add(ClockTime(typed="10:05", level=D(TEN + 300 * SECOND)))
        store.clock_ns, store.health.prices_at = TEN, 0.0
        for now, result in ((0.5, "0.5"), (1.0, "1.2"), (2.0, "0")):
            store.trades["6411"].r_multiple = D(result)
            desk.watch.check(now)
            await desk.watch.settled()
        assert [text for text, _ in desk.told] == ["trade #6411 P/L >= +1 R"]
        desk.watch.check(10.5)
        await desk.watch.settled()
        assert desk.told[-1][0] == "the price stream is silent for 10 s"
        store.clock_ns = TEN + 301 * SECOND
        desk.watch.check(11.0)
        await desk.watch.settled()
    assert desk.told[-1][0] == "time 10:05"
    assert len(desk.told) == 3


async def test_the_clock_goes_on_while_the_streams_are_silent(path: Path) -> None:
    async with watching(path) as desk:
        await desk.add(ClockTime(typed="10:05", level=D(TEN + 5 * SECOND)))
        desk.store.clock_ns = TEN
        desk.watch.check(100.0)
        desk.store.health.prices = "DOWN"
        desk.watch.check(104.0)
        await desk.watch.settled()
        assert desk.told == []
        desk.watch.check(105.5)
        await desk.watch.settled()
    assert [text for text, _ in desk.told] == ["time 10:05"]


# What was missed.


def answers(*prices: str) -> dict[str, object]:
    """Candles of five seconds from ten o'clock on, as mid, bid and ask."""
    wire = []
    for at, ohlc in enumerate(prices):
        said = candle(f"2026-03-02T10:00:{5 * at:02}.000000000Z", ohlc).to_wire()
        said["bid"] = said["ask"] = said["mid"]
        wire.append(said)
    return {"instrument": "EUR_USD", "granularity": "S5", "candles": wire}


async def restarted(path: Path, now: str, *prices: str) -> Watching:
    """A desk that left at ten o'clock with the price below the level, and comes back with candles of the time."""
    async with watching(path) as desk:
        await desk.add(ABOVE, repeat_s=0)
        await desk.price("1.09")
        desk.store.health.prices_at = 0.0
        desk.watch.close(0.0)
    broker, clock = ScriptedBroker(answers={"/candles": answers(*prices)}), Clock()
    async with watching(path) as back:
        feed = link_to(broker, clock=clock, store=back.store)
        feed.alerts = back.watch
        await back.price(now, 30)
        assert back.told == []
        await fill_gap(feed, back.watch, NextReads())
        await back.watch.settled()
        await feed.client.close()
        await back.price(now, 31)
    return back


async def test_a_crossing_while_the_desk_was_away_is_told_once_with_its_time(path: Path) -> None:
    back = await restarted(path, "1.095", "1.09 1.095 1.09 1.09", "1.09 1.105 1.09 1.095")
    assert len(back.told) == 1
    assert back.late[0].time_ns == TEN + 5 * SECOND


async def test_a_price_that_stayed_beyond_the_level_is_told_once_as_well(path: Path) -> None:
    back = await restarted(path, "1.12", "1.09 1.095 1.09 1.09", "1.11 1.12 1.11 1.12")
    assert len(back.told) == len(back.late) == 1


async def test_a_crossing_after_the_last_candle_is_told_as_it_is_seen(path: Path) -> None:
    back = await restarted(path, "1.12", "1.09 1.095 1.09 1.09")
    assert len(back.told) == 1
    assert back.late == []


async def test_nothing_missed_is_nothing_told(path: Path) -> None:
    back = await restarted(path, "1.09", "1.09 1.095 1.09 1.09")
    assert back.told == []


async def test_prices_wait_while_the_stream_was_lost_and_are_judged_after_its_candles(
    path: Path,
) -> None:
    broker, clock = ScriptedBroker(answers={"/candles": answers("1.09 1.11 1.09 1.09")}), Clock()
    async with watching(path) as desk:
        feed = link_to(broker, clock=clock, store=desk.store)
        feed.alerts = desk.watch
        await desk.add(ABOVE)
        await desk.price("1.09")
        desk.watch.note_interruption()
        desk.store.health.prices = "DOWN"
        await fill_gap(feed, desk.watch, NextReads())
        assert desk.watch.gap is not None
        desk.store.health.prices = "OK"
        await desk.price("1.09", 20)
        await fill_gap(feed, desk.watch, NextReads())
        await desk.watch.settled()
        await feed.client.close()
    assert len(desk.late) == 1


async def test_without_candles_prices_are_judged_again_after_ten_seconds(path: Path) -> None:
    clock = Clock()
    async with watching(path) as desk:
        feed = link_to(ScriptedBroker(), clock=clock, store=desk.store)
        await desk.add(ABOVE)
        await desk.price("1.09")
        desk.watch.note_interruption()
        await desk.price("1.12", 20)
        due = NextReads()
        await fill_gap(feed, desk.watch, due)
        assert desk.watch.gap is not None
        await clock.pause(11)
        await fill_gap(feed, desk.watch, due)
        await desk.watch.settled()
        await feed.client.close()
    assert len(desk.told) == 1


async def test_an_indicator_is_judged_at_the_close_of_its_candles(path: Path) -> None:
    closes = [1.10 - 0.001 * n for n in range(40)] + [1.07 + 0.004 * n for n in range(6)]
    hours = []
    for at, close in enumerate(closes):
        day, hour = divmod(at, 24)
        time = f"2026-02-{10 + day:02}T{hour:02}:00:00.000000000Z"
        hours.append(candle(time, f"{close} {close} {close} {close}").to_wire())
    first = {"instrument": "EUR_USD", "granularity": "H1", "candles": hours[:41]}
    broker, clock = ScriptedBroker(answers={"/candles": first}), Clock()
    async with watching(path) as desk:
        feed = link_to(broker, clock=clock, store=desk.store)
        desk.store.clock_ns = TEN
        rsi = RsiLevel(
            instrument="EUR_USD", granularity="H1", period=14, direction="up", level=D(50)
        )
        await desk.add(rsi, made_ns=0)
        due = NextReads()
        await read_candles(feed, desk.watch, due)
        await desk.watch.settled()
        assert desk.told == []
        broker.answers["/candles"] = {**first, "candles": hours}
        await clock.pause(5)
        await read_candles(feed, desk.watch, due)
        await desk.watch.settled()
        await feed.client.close()
    assert [text for text, _ in desk.told] == ["EUR/USD H1 RSI 14 crosses up 50"]


# Late and fresh firings together.


def hours(*closes: float) -> list[Candle]:
    made = []
    for at, close in enumerate(closes):
        day, hour = divmod(at, 24)
        time = f"2026-02-{20 + day}T{hour:02}:00:00.000000000Z"
        read = candle_of(candle(time, f"{close} {close} {close} {close}"))
        assert read is not None
        made.append(read)
    return made


async def test_candles_that_come_together_after_a_pause_leave_a_repeated_alert_alive(
    path: Path,
) -> None:
    closes = [1.10 - 0.001 * n for n in range(30)]
    up_and_down = [1.20, 1.00] * 6
    candles = hours(*closes, *up_and_down)
    rsi = RsiLevel(instrument="EUR_USD", granularity="H1", period=2, direction="up", level=D(50))
    async with watching(path) as desk:
        await desk.add(rsi, repeat_s=0, made_ns=0)
        for count in (30, 35, 36, 37, 38, 39, 40, 41, 42):
            desk.store.clock_ns = period_end(candles[count - 1].time_ns, "H1") or 0
            desk.watch.apply_candles([rsi], candles[:count])
            await desk.watch.settled()
    assert [each.time_ns for each in desk.store.alert_history] == [
        period_end(each.time_ns, "H1") for each in candles[30::2]
    ]
    assert [each.late for each in desk.store.alert_history] == [True, True, *[False] * 4]
    assert len(desk.told) == desk.store.alerts["1"].count == 6


async def test_a_crossing_of_a_gap_and_a_fresh_one_that_wait_together_are_both_told(
    path: Path,
) -> None:
    async with watching(path) as desk:
        await desk.add(ABOVE, repeat_s=0)
        await desk.price("1.09")
        desk.watch.note_interruption()
        await desk.price("1.09", 20)
        times = (TEN + 5 * SECOND, TEN + 10 * SECOND)
        periods = [
            PriceRange(times[0], times[1], D("1.09"), D("1.11"), D("1.09"), D("1.09")),
            PriceRange(times[1], times[1] + 5 * SECOND, *[D("1.09")] * 4),
        ]
        history = PriceHistory.of(periods)
        desk.watch.evaluate_periods(list(desk.store.alerts.values()), {"mid": history})
        desk.watch.end_gap()
        fresh = price("EUR_USD", "1.1100", "1.1102", "2026-03-02T10:00:21.000000000Z")
        apply_price(desk.store, fresh, 21.0)
        await desk.watch.settled()
        for second, mid in enumerate(("1.09", "1.11") * 3, 22):
            await desk.price(mid, second)
    assert [each.time_ns for each in desk.store.alert_history] == [
        TEN + each * SECOND for each in (5, 21, 23, 25, 27)
    ]
    assert len(desk.told) == 5
    assert len(desk.late) == 1


async def test_a_crossing_that_another_program_saw_live_is_not_told_from_the_candles_of_a_gap(
    path: Path,
) -> None:
    async with watching(path) as live, watching(path) as cut:
        await live.add(ABOVE, repeat_s=0)
        cut.watch.check(1.0)
        await cut.watch.settled()
        for desk in (live, cut):
            await desk.price("1.09")
        cut.watch.note_interruption()
        for second, mid in ((7, "1.11"), (9, "1.09")):
            await live.price(mid, second)
        await cut.price("1.09", 9)
        prices = (D(each) for each in ("1.09", "1.11", "1.09", "1.09"))
        history = PriceHistory.of([PriceRange(TEN + 5 * SECOND, TEN + 10 * SECOND, *prices)])
        cut.watch.evaluate_periods(list(cut.store.alerts.values()), {"mid": history})
        cut.watch.end_gap()
        await cut.watch.settled()
        for desk in (cut, live):
            await desk.price("1.11", 12)
    assert [mine for _, mine in live.told] == [True, False]
    assert [(text.rpartition(" ")[2], mine) for text, mine in cut.told] == [
        ("1.1", False),
        ("1.1", True),
    ]


async def test_what_fires_within_a_step_of_the_market_is_not_told_as_of_an_absence(
    path: Path,
) -> None:
    """A running watch said "while you were away" of its own firings."""
    candles = hours(*[1.10 - 0.001 * n for n in range(30)], 1.20, 1.20, 1.20)
    ends = [period_end(each.time_ns, "H1") or 0 for each in candles]
    rsi = RsiLevel(instrument="EUR_USD", granularity="H1", period=2, direction="up", level=D(50))
    async with watching(path) as desk:
        desk.store.clock_ns = ends[29]
        await desk.add(rsi, made_ns=0)
        await desk.add(ClockTime(typed="10:05", level=D(ends[30])))
        desk.watch.apply_candles([rsi], candles[:30])
        desk.watch.check(0.0)
        desk.store.clock_ns = ends[-1]  # a step of three hours
        desk.watch.apply_candles([rsi], candles)
        desk.watch.check(2.0)
        await desk.watch.settled()
    assert len(desk.told) == 2
    assert desk.late == []
