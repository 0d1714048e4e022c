"""The page of replays: what the typed date means, what was replayed last, and how to come back."""

from pathlib import Path
from typing import cast

import pytest

from keydesk.calc.market.market_state import ControlledMarket, MarketState, Replay, Scenario
from keydesk.feeds.market_control import MarketControl
from keydesk.forms.market.replay import StartReplayForm
from keydesk.forms.market.replay_page import ReplayPage
from keydesk.parse.replay import REPLAYED, VERBS, ReplayCommand
from keydesk.trading.audit import AuditLog
from keydesk.trading.desk_session import DeskLock
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled

HOUR = 3_600_000_000_000
FRANC = Scenario("franc", 1_421_312_400_000_000_000, "EUR_CHF", "the floor falls")


def opened(audit: Path | None = None) -> FormApp:
    store = example_store()
    store.set_market(ControlledMarket(scenarios=(FRANC,)))
    return FormApp(lambda: ReplayPage(store, lambda: 0.0, audit))


def started(app: FormApp) -> list[ReplayCommand]:
    return [each for each in app.results if isinstance(each, ReplayCommand)]


async def test_the_typed_date_is_shown_as_it_is_understood_before_enter_takes_it() -> None:
    app = opened()
    async with app.run_test(size=(120, 35)) as pilot:
        assert "A replay runs the practice market again from a past time" in app.words
        assert ";g goes back to it" in app.words
        await pilot.press(*"2015-13", "enter")
        assert "✗ neither a time of UTC such as" in app.words
        assert app.results == []
        await pilot.press("backspace", *"2-03", "space", *"09:30")
        assert "→ starts a replay at Thu 2015-12-03 09:30 UTC" in app.words
        await pilot.press("enter")
    assert [each.body for each in started(app)] == [{"start": "2015-12-03T09:30:00Z"}]


async def test_the_name_of_a_scenario_is_understood_and_the_last_replays_are_listed(
    tmp_path: Path,
) -> None:
    audit = tmp_path / "account.audit"
    AuditLog(audit).write(REPLAYED, "all instruments from 2019-06-05 10:00:00 UTC")
    app = opened(audit)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press(*"franc")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "→ starts a replay of franc: EUR/CHF" in app.words
        assert "all instruments from 2019-06-05 10:00:00 UTC" in app.words
        await pilot.press("enter")
    assert [each.body for each in started(app)] == [{"scenario": "franc"}]


async def test_each_scenario_is_a_row_with_its_range_as_a_bar_and_blind_is_the_last() -> None:
    store = example_store()
    brexit = Scenario("brexit", 1_466_712_000_000_000_000, "GBP_USD", "the count", 1, 1800)
    wide = Scenario("franc", FRANC.start_ns, "EUR_CHF", "the floor falls", 1, 3600)
    store.set_market(ControlledMarket(scenarios=(wide, brexit)))
    app = FormApp(lambda: ReplayPage(store, lambda: 0.0))
    async with app.run_test(size=(80, 24)) as pilot:
        rows = [line for line in app.words.splitlines() if "GBP/USD" in line or "EUR/CHF" in line]
        franc, count = (line for line in rows if "→" not in line)
        assert franc.count("━") == 2 * count.count("━")
        assert "3,600" in franc
        names = [
            line[3:].split()[0]
            for line in app.words.splitlines()
            if " any" in line or "hidden" in line
        ]
        assert names[-1] == "blind"
        await pilot.press("down")
        assert "→ starts a replay of brexit" in app.words
        await pilot.press(*"nothing")
        assert "✗ neither a time of UTC" in app.words
        await pilot.press(*["backspace"] * 7, "end", "enter")
    assert [each.body for each in started(app)] == [{"random": True, "blind": True}]


class Control:
    """Takes commands, and has no state to show."""

    def __init__(self) -> None:
        self.sent: list[ReplayCommand] = []

    async def send(self, command: ReplayCommand, _account_id: str) -> None:
        self.sent.append(command)

    async def state(self) -> MarketState:
        return MarketState()


async def test_a_replay_that_is_chosen_on_the_page_is_asked_about_and_begins(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    app.store.set_market(ControlledMarket(scenarios=(FRANC,)))
    control = Control()
    app.replay.control = cast("MarketControl", control)
    async with app.run_test(size=(120, 35)) as pilot:
        app.actions.perform("replay", "status")
        await pilot.pause()
        assert isinstance(app.screen, ReplayPage)
        await pilot.press("enter")
        assert isinstance(app.screen, StartReplayForm)
        assert control.sent == []
        await pilot.press("y")
        await app.workers.wait_for_complete()
    assert [each.body for each in control.sent] == [{"scenario": "franc"}]


def facts_of(*facts: str) -> list[Scenario]:
    return [
        Scenario(f"name-{n}", FRANC.start_ns, "EUR_CHF", each, 1, 900)
        for n, each in enumerate(facts)
    ]


@pytest.mark.parametrize("size", sampled([(80, 24), (80, 30), (120, 35), (200, 50)], 2))
async def test_a_text_below_the_table_stands_whole_or_not_at_all(size: tuple[int, int]) -> None:
    store = example_store()
    store.set_market(ControlledMarket(scenarios=tuple(facts_of(*"abcdefg"))))
    app = FormApp(lambda: ReplayPage(store, lambda: 0.0))
    async with app.run_test(size=size):
        lines = app.words.replace("│", " ").splitlines()
        name = "your own account"
        [at] = [line.index(name) for line in lines if name in line]  # beside the table
        words = " ".join(" ".join(line[at:] for line in lines).split())
        assert "Stays as it is while a replay runs; ;g goes back to it." in words
        assert "Its market then catches up: orders and stops may be filled." in words
        assert (":replay, then" in words) == (VERBS[-1] in words)


async def test_a_running_replay_has_one_date_and_how_far_it_is() -> None:
    began = FRANC.start_ns
    replay = Replay(scenario="franc", instrument="EUR_CHF", began_ns=began, real_ns=began + HOUR)
    store = example_store()
    state = MarketState(time_ns=began, speed=60, replay=replay)
    store.set_market(ControlledMarket(state, (FRANC, *facts_of("another"))))
    app = FormApp(lambda: ReplayPage(store, lambda: 0.0))
    async with app.run_test(size=(120, 35)) as pilot:
        [line] = [line for line in app.words.splitlines() if " now  " in line]
        assert "runs now: the floor falls" in app.words
        assert app.words.count("runs now") == 1
        await pilot.press("down")
        assert "→ ends the running replay, starts a replay of name-0" in app.words
    assert line.strip("│ ").split("replay of franc, ")[1] == (
        "EUR/CHF: 2015-01-15 10:00:00 UTC, 1h00 after its start; x60"
    )


async def test_the_bar_of_the_range_gives_way_to_a_long_sentence() -> None:
    long = "Two weeks of flight to the dollar, ranges ten times the usual"
    store = example_store()
    store.set_market(ControlledMarket(scenarios=tuple(facts_of("Short", long))))
    app = FormApp(lambda: ReplayPage(store, lambda: 0.0))
    async with app.run_test(size=(120, 35)) as pilot:
        assert f"{long}  ━━━━━━" in app.words
        assert "━" * 25 not in app.words.split("range")[1].split("random")[0]
        await pilot.press(*"short")
        assert "Short         " in app.words
        assert "━" * 24 in app.words


async def test_in_80_columns_the_date_stays_beside_a_long_name() -> None:
    store = example_store()
    long = Scenario("trending-quarter", FRANC.start_ns, "EUR_USD", "One direction", 92, 1150)
    store.set_market(ControlledMarket(scenarios=(long,)))
    app = FormApp(lambda: ReplayPage(store, lambda: 0.0))
    async with app.run_test(size=(80, 24)):
        assert "trending-quarter 2015-01-15 EUR/USD One direction" in " ".join(app.words.split())


async def test_the_page_is_as_high_as_its_lines_where_panes_above_it_keep_a_row() -> None:
    app = opened()
    async with app.run_test(size=(120, 26)):
        page = app.screen
        assert isinstance(page, ReplayPage)
        assert page.panel is not None
        assert page.panel.region.height == page.panel.line_count + 2 < 24
