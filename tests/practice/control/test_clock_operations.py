"""The market's time stops, runs, steps and jumps as told, and every order on the way is looked at."""

import asyncio
from decimal import Decimal
from pathlib import Path

from support.controlled_broker import controlled_broker

FRANC = "2015-01-15T09:27Z"


async def test_a_step_goes_to_the_end_of_the_candle_in_progress(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, "2019-06-05T10:00:30Z") as market:
        for granularity, candles, end in (
            ("M1", 1, "10:01:00"),
            ("M1", 4, "10:05:00"),
            ("S5", 2, "10:05:10"),
            ("H1", 1, "11:00:00"),
            ("D", 1, "21:00:00"),
        ):
            state = await market.control(
                "POST", "/clock/step", granularity=granularity, candles=candles
            )
            assert state["time"] == f"2019-06-05T{end}.000000000Z"
            assert state["running"] is False


async def test_after_a_step_the_last_candle_is_complete(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/clock/step", granularity="M5", candles=2)
        found = await market.v20("GET", "/v3/instruments/EUR_USD/candles", granularity="M5")
    complete = [one["time"] for one in found["candles"] if one["complete"]]
    assert complete[-1] == "2019-06-05T10:05:00.000000000Z"


async def test_a_stop_slips_through_the_franc_on_a_jump(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, FRANC) as market:
        await market.buy("EUR_CHF", "10000", stopLossOnFill={"price": "1.1900"})
        state = await market.control("POST", "/clock/jump", time="2015-01-15T09:33Z")
        assert state["accounts"][0]["openTrades"] == 0
        closed = (await market.v20("GET", "{a}/trades", state="CLOSED"))["trades"][0]
    assert closed["closeTime"] == "2015-01-15T09:30:00.000000000Z"
    assert Decimal(closed["averageClosePrice"]) < Decimal("1.15")


async def test_time_does_not_jump_back(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        refused = await market.control("POST", "/clock/jump", 409, time="2019-06-05T09:00Z")
        assert "begin a replay" in refused["errorMessage"]


async def test_financing_is_booked_on_the_way(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path, "2019-06-05T20:58Z") as market:
        await market.buy("EUR_USD")
        await market.control("POST", "/clock/jump", time="2019-06-05T21:02Z")
        found = await market.v20("GET", "{a}/transactions/sinceid", id="1", type="DAILY_FINANCING")
    assert [one["time"][:16] for one in found["transactions"]] == ["2019-06-05T21:00"]


async def test_a_paused_market_stands_still_and_a_playing_one_runs(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        running = asyncio.create_task(market.broker.run())
        first = await market.control("GET", "/state")
        await market.broker.advance(market.broker.clock())
        assert (await market.control("GET", "/state"))["time"] == first["time"]
        await market.control("POST", "/clock/play", speed=3600)
        async with asyncio.timeout(20):
            while (await market.control("GET", "/state"))["time"] == first["time"]:
                pass
        paused = await market.control("POST", "/clock/pause")
        assert paused["time"] > first["time"]
        assert (await market.control("GET", "/state"))["time"] == paused["time"]
        running.cancel()


async def test_the_speed_of_a_paused_market_may_be_chosen(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        state = await market.control("POST", "/clock/speed", speed=60)
        assert (state["speed"], state["running"]) == ("60", False)


WRONG: tuple[tuple[str, dict[str, object], str], ...] = (
    ("/clock/step", {"candles": 0}, "candles"),
    ("/clock/step", {"candles": "2"}, "candles"),
    ("/clock/step", {"granularity": "M7"}, "granularity"),
    ("/clock/step", {"minutes": 3}, "minutes"),
    ("/clock/speed", {}, "speed"),
    ("/clock/speed", {"speed": 0}, "speed"),
    ("/clock/speed", {"speed": 10**400}, "speed"),
    ("/clock/play", {"speed": -1}, "speed"),
    ("/clock/jump", {"time": "tomorrow"}, "time"),
    ("/clock/jump", {"time": "2031-01-01"}, "time"),
    ("/shocks", {"kind": "flood"}, "kind"),
    ("/shocks", {"kind": "gap"}, "instrument"),
    ("/shocks", {"kind": "gap", "instrument": "EUR_USD", "size": "-0.9"}, "size"),
    ("/shocks", {"kind": "halt", "seconds": 0}, "seconds"),
    ("/shocks", {"kind": "halt", "time": "9999-12-31T23:59:59Z"}, "time"),
    ("/replay", {"start": "2019-01-01", "random": True}, "exactly one of"),
    ("/replay", {"scenario": "flood"}, "scenario"),
    ("/replay", {"start": "1985-01-01"}, "start"),
    ("/replay", {"start": "2019-01-01", "blind": True}, "instrument"),
    ("/replay", {"random": True, "balance": "-5"}, "balance"),
    ("/replay", {"random": True, "speed": 0}, "speed"),
    ("/checkpoints", {"name": "../x"}, "name"),
    ("/accounts", {"currency": "XYZ"}, "currency"),
    ("/accounts", {"owner": 7}, "owner"),
    ("/accounts", {"marginRate": "2"}, "marginRate"),
    ("/tokens", {"token": "short"}, "token"),
)


async def test_a_wrong_request_is_refused_by_the_name_of_its_member(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        before = await market.control("GET", "/state")
        for path, body, named in WRONG:
            refused = await market.control("POST", path, 400, **body)
            assert named in refused["errorMessage"], (path, body)
        assert await market.control("GET", "/state") == before
