"""The market's time does not go back, also after `kill -9`: the ledger knows, ahead of need, what may have been shown."""

from pathlib import Path

import pytest

from keydesk_practice.broker.market_time import (
    AHEAD_SECONDS,
    OWN_TIME,
    SHOWN_UNTIL,
    ShownTime,
    time_shown,
)
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.broker import PracticeServer, practice_server
from support.controlled_broker import controlled_broker

WALL = 1_700_000_000 * SECOND
PAST = WALL - 10_000 * SECOND


def opened(folder: Path, **facts: str) -> SqliteLedger:
    ledger = SqliteLedger.open(folder)
    for name, value in facts.items():
        ledger.set_fact(name, value)
    return ledger


def test_one_write_covers_several_seconds_of_the_wall_clock(practice_folder: Path) -> None:
    ledger = opened(practice_folder, **{OWN_TIME: "1"})
    shown = ShownTime(ledger, lambda: WALL)
    writes = set()
    for step in range(40):  # ten seconds at four steps a second
        now = PAST + step * 60 * SECOND // 4
        shown.reserve(now, now + SECOND, speed=60.0)
        assert time_shown(ledger) >= now + SECOND
        writes.add(time_shown(ledger))
    assert len(writes) == 2
    ledger.close()


def test_a_market_that_follows_the_wall_clock_writes_nothing(practice_folder: Path) -> None:
    ledger = opened(practice_folder)
    shown = ShownTime(ledger, lambda: WALL)
    shown.reserve(WALL, WALL + SECOND, speed=1.0)
    shown.settle(WALL)
    assert ledger.fact(SHOWN_UNTIL) is None
    shown.reserve(WALL + 1, WALL + SECOND, speed=1.0)  # it ran ahead
    assert ledger.fact(SHOWN_UNTIL) == str(WALL + (1 + AHEAD_SECONDS) * SECOND)
    ledger.close()


def test_a_market_that_is_slower_now_takes_back_what_was_reserved_too_far(
    practice_folder: Path,
) -> None:
    ledger = opened(practice_folder, **{OWN_TIME: "1"})
    shown = ShownTime(ledger, lambda: WALL)
    shown.reserve(PAST, PAST, speed=10_000.0)
    shown.reserve(PAST + SECOND, PAST + SECOND, speed=1.0)
    assert time_shown(ledger) == PAST + (1 + AHEAD_SECONDS) * SECOND
    shown.settle(PAST + 2 * SECOND)
    assert time_shown(ledger) == PAST + 2 * SECOND
    ledger.close()


async def newest_time(practice: PracticeServer) -> str:
    """Return the latest time that the broker shows anywhere: of its prices, and of the answer itself."""
    priced = (await practice.get("{a}/pricing", instruments="EUR_USD,USD_JPY")).json()
    candles = await practice.get("/v3/instruments/EUR_USD/candles", granularity="S5", count="2")
    return str(max([priced["time"], *(one["time"] for one in candles.json()["candles"])]))


@pytest.mark.e2e
@pytest.mark.parametrize("again", [(), ("--start", "2019-06-03T12:00Z")], ids=["plain", "start"])
async def test_a_market_goes_on_after_a_kill_from_what_was_shown(
    practice_folder: Path, again: tuple[str, ...]
) -> None:
    begin = ("--start", "2019-06-03T12:00Z", "--speed", "600")
    async with practice_server(practice_folder, *begin) as practice:
        first = before = await newest_time(practice)
        while before[:16] == first[:16]:  # until a minute that no transaction of the ledger has
            before = await newest_time(practice)
        await practice.kill()
    async with practice_server(practice_folder, *again) as practice:
        after = await newest_time(practice)
    assert before <= after < "2019-06-03T14:00Z"


async def test_a_paused_replay_goes_on_after_a_kill_exactly_where_it_stood(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", start="2021-08-02T06:00:00Z", running=False)
        await market.control("POST", "/clock/step", candles=7)
        assert time_shown(market.broker.ledger) == market.broker.now()
        await market.control("POST", "/clock/jump", time="2021-08-03T06:00:00Z")
        assert time_shown(market.broker.ledger) == market.broker.now()


@pytest.mark.e2e
async def test_a_market_at_the_present_is_never_ahead_after_a_kill(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        await newest_time(practice)
        await practice.kill()
    ledger = SqliteLedger.open(practice.data)
    assert ledger.fact(SHOWN_UNTIL) is None
    ledger.close()
