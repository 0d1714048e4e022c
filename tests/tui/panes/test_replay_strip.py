"""The replay strip and what the header says of a practice market, at every width and with hostile texts."""

import pytest
from msgspec.structs import replace

from keydesk.calc.market.market_state import ControlledMarket, MarketState, Replay
from keydesk.keys.keymap import DESK, KEYMAP
from keydesk.panes.strips.health import HealthLine
from keydesk.panes.strips.keys import KeyFooter
from keydesk.panes.strips.replay import ReplayStrip
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from support.data.desk_data import NOW, desk_store
from support.fakes.desk_app import DeskApp
from support.fakes.pane_app import shown, text_of
from support.resizing import resize
from support.walks import sampled

MORNING = 1_421_314_200_000_000_000  # 2015-01-15 09:30
FRANC = Replay(scenario="franc", instrument="EUR_CHF", began_ns=MORNING, real_ns=MORNING)
PAUSED = MarketState(MORNING, running=False, replay=FRANC, read_at=NOW)
HOSTILE = "\x1b[2J\u202e" + "x" * 500


def store_with(state: MarketState, working: str = "") -> Store:
    store = desk_store()
    store.set_market(ControlledMarket(state, working=working))
    return store


async def strip_text(
    state: MarketState, width: int = 160, now: float = NOW, working: str = ""
) -> str:
    pane = ReplayStrip()
    async with shown(pane, store_with(state, working), size=(width, 1), now=now):
        return text_of(pane)[0]


async def test_a_paused_replay_shows_time_scenario_and_keys() -> None:
    line = await strip_text(PAUSED)
    assert line.split()[:9] == [
        *("Thu", "15", "Jan", "2015", "09:30:00", "UTC", "PAUSED", "franc", "EUR/CHF")
    ]
    assert ";p play" in line
    assert ";n candle" in line


async def test_the_time_of_a_fast_market_runs_on_between_two_looks() -> None:
    line = await strip_text(replace(PAUSED, running=True, speed=60.0), now=NOW + 1.5)
    assert "09:31:30" in line
    assert "x60" in line
    assert ";p pause" in line


async def test_a_blind_replay_shows_neither_instrument_nor_scenario() -> None:
    line = await strip_text(replace(PAUSED, replay=Replay(blind=True)))
    assert "BLIND REPLAY" in line
    finished = replace(FRANC, blind=True, finished=True)
    assert "franc EUR/CHF, finished" in await strip_text(replace(PAUSED, replay=finished))


async def test_faults_and_shocks_are_named() -> None:
    line = await strip_text(replace(PAUSED, faults=("latency 200 ms", "lost 1 %"), shocks=("a",)))
    assert "FAULTS 2 on" in line
    assert "latency 200 ms, lost 1 %" in line
    assert "1 shock" in line


@pytest.mark.parametrize("width", [1, 12, 20, 40, 60, 79, 80, 119, 120, 200])
async def test_time_and_pace_stay_longest_at_every_width(width: int) -> None:
    replay = Replay(scenario=HOSTILE, instrument=HOSTILE)
    state = replace(PAUSED, replay=replay, faults=(HOSTILE,) * 9, shocks=(HOSTILE,) * 9)
    line = await strip_text(state, width, working=HOSTILE)
    assert line.isprintable()
    assert len(line) <= width + 1
    if width >= 40:
        assert "2015-01-15 09:30:00" in line or "Thu 15 Jan 2015" in line
        assert "PAUSED" in line


async def test_the_strip_takes_a_line_only_while_it_has_something_to_say() -> None:
    store = desk_store()
    app = DeskApp(store)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        strip = app.screen.query_one(ReplayStrip)
        for state, is_shown in (
            (None, False),
            (MarketState(), False),
            (PAUSED, True),
            (replace(PAUSED, running=True, replay=None, faults=("lost 1 %",)), True),
            (MarketState(), False),
        ):
            store.market = None if state is None else ControlledMarket(state)
            app.draw()
            await pilot.pause()
            assert strip.display is is_shown
            assert strip.region.height == (1 if is_shown else 0)


@pytest.mark.parametrize("size", sampled([(40, 12), (200, 50)], 1))
async def test_the_strip_stays_through_resizes(size: tuple[int, int]) -> None:
    app = DeskApp(store_with(PAUSED))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await resize(pilot, *size)
        await pilot.pause()
        app.draw()
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        strip = screen.query_one(ReplayStrip)
        assert (strip.region.width, strip.region.height) == (size[0], 1)
        assert "PAUSED" in strip.render_line(0).text
        assert max(each.region.bottom for each in screen.children) <= size[1]
        await resize(pilot, 20, 6)
        await pilot.pause()
        assert not strip.display
        await resize(pilot, *size)
        await pilot.pause()
        assert strip.display


async def test_the_health_line_shows_the_markets_time_and_no_difference_of_years() -> None:
    store = store_with(PAUSED)
    store.health.clock_offset_ms = -374_000_000_000.0
    pane = HealthLine()
    async with shown(pane, store, size=(160, 1)):
        line = text_of(pane)[0]
    assert "clock" not in line
    assert line.rstrip().endswith("09:30:00 UTC")


async def test_the_footer_names_the_replay_only_where_there_is_one() -> None:
    for store, is_there in ((desk_store(), False), (store_with(MarketState()), True)):
        pane = KeyFooter(KEYMAP)
        pane.show_context(DESK)
        async with shown(pane, store, size=(160, 1)):
            assert (";; replay" in text_of(pane)[0]) is is_there
