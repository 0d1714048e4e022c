"""The list beneath the command line: what is in it, what is found, and what Enter, Tab and the arrows do with it."""

import pytest
from textual.widgets import Input

from keydesk.calc.market.market_state import ControlledMarket, MarketState, Scenario
from keydesk.config.command_history import CommandHistory
from keydesk.forms.command_line import CommandForm
from keydesk.forms.command_list import CommandList, RunKey, SetOption, matching_entries
from keydesk.keys.keymap import CHART, DESK, KEYMAP, KEYS, ON_THE_DESK, WATCHLIST
from keydesk.parse.pages import PAGES, ShowPage
from keydesk.parse.parsed_commands import QuitDesk, ShowInstrument
from keydesk.parse.replay import ReplayCommand
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.walks import sampled

ENTRIES = CommandList(context=CHART).entries()
MOVES = {"command", "back", "row-down", "row-up", "page-down", "page-up", "top", "bottom"}


def form_app(text: str = "", commands: CommandList | None = None) -> FormApp:
    return FormApp(lambda: CommandForm(example_store(), text, commands=commands))


def test_every_page_and_every_key_of_the_desk_is_listed_with_its_key() -> None:
    names = {entry.name for entry in ENTRIES}
    assert set(PAGES) - names == {"hours"}, "another name of the sessions"
    keys = {str(entry.key) for entry in ENTRIES}
    lost = [
        key.id
        for key in KEYS
        if key.context in ON_THE_DESK and key.context != "crosshair" and key.id not in names | MOVES
        if key.shown.split(" ")[0] not in keys
    ]
    assert lost == []


def test_names_are_unique() -> None:
    names = [entry.name for entry in ENTRIES]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("flat", "flatten"),
        ("stat", "statistics"),
        ("break", "break-even"),
        ("market hours", "sessions"),
        ("exp", "exposure"),
        ("bkev", "break-even"),
        ("swap", "instrument"),
    ],
)
def test_some_letters_find_the_command(typed: str, first: str) -> None:
    assert matching_entries(typed, ENTRIES)[0].name == first


def test_a_key_of_another_pane_is_run_there() -> None:
    here, there = CommandList(context=CHART), CommandList(context=WATCHLIST)
    assert here.run("crosshair") == RunKey("crosshair", "", "Crosshair on the chart")
    assert there.run("crosshair") == RunKey("crosshair", "chart", "Crosshair on the chart")


@pytest.mark.parametrize(
    ("line", "action"),
    [("preset 3", "preset(3)"), ("jump g", "jump('g')"), ("preset", None), ("preset x", None)],
)
def test_a_key_of_several_needs_the_one_that_is_meant(line: str, action: str | None) -> None:
    found = CommandList(context=DESK).run(line)
    assert (found.action if isinstance(found, RunKey) else None) == action


async def test_the_best_match_of_what_is_no_command_runs_with_enter_and_says_so_before() -> None:
    app = form_app()
    async with app.run_test(size=(80, 24)) as pilot:
        assert "Candle length" in app.words, "everything is listed before anything is typed"
        await pilot.press(*"flatt")
        assert "Close all, cancel entries" in app.words
        await pilot.press("enter")
    assert app.results == [RunKey("flatten", "", "Close all, cancel entries")]


@pytest.mark.parametrize(
    ("line", "command"),
    [("q", QuitDesk()), ("eurusd", ShowInstrument("EUR_USD")), ("week", ShowPage("week"))],
)
async def test_what_is_a_command_runs_as_typed_whatever_the_list_finds(
    line: str, command: object
) -> None:
    app = form_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*line, "enter")
    assert app.results == [command]


async def test_an_arrow_chooses_another_line_and_one_that_takes_words_goes_on() -> None:
    app = form_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter")  # of the empty line: the first of the list
        field = app.screen.query_one(Input)
        assert field.value.endswith(" "), "more is to be typed"
        assert app.results == []
        field.value = "st"
        await pilot.press("down", "tab")
        assert field.value == "statistics"
        await pilot.press("enter")
    assert app.results == [ShowPage("statistics")]


async def test_the_reason_why_a_command_cannot_be_used_now_is_beside_it() -> None:
    commands = CommandList(KEYMAP, DESK, lambda id_: "no trade selected" if id_ == "close" else "")
    app = form_app("close", commands)
    async with app.run_test(size=(80, 24)):
        [line] = [each for each in app.words.splitlines() if "C     Close the trade" in each]
    assert "no trade selected" in line


async def test_up_from_the_empty_line_goes_back_through_what_was_run() -> None:
    commands = CommandList(history=CommandHistory(lines=["tf h4", "week"]))
    app = form_app("", commands)
    async with app.run_test(size=(80, 24)) as pilot:
        field = app.screen.query_one(Input)
        seen = []
        for key in ("up", "up", "up", "down", "down", "up", "up"):
            await pilot.press(key)
            seen.append(field.value)
        assert seen == ["tf h4", "week", "week", "tf h4", "", "tf h4", "week"]
        await pilot.press("enter")
    assert app.results == [ShowPage("week")]
    assert commands.history.lines == ["week", "tf h4"]


async def test_what_is_no_command_is_not_kept() -> None:
    commands = CommandList()
    app = form_app("", commands)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"zq7x-0f3c-token", "enter", "escape")
    assert commands.history.lines == []
    assert app.results == [None]


def options() -> CommandList:
    return CommandList(choices=lambda name: {"theme": ("dark", "light")}.get(name, ()))


async def test_a_theme_is_shown_while_it_is_chosen_and_taken_back_by_esc() -> None:
    app = form_app("", options())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"theme ", "down")
        assert "Command  2 of 2" in app.words
        await pilot.press("down", "up", "escape")
        await pilot.pause()
    assert app.themes_shown == ["dark", "light", "dark", ""]
    assert app.results == [None]


async def test_an_option_is_set_by_the_value_that_was_typed_or_chosen() -> None:
    app = form_app("", options())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"theme LIGHT", "enter")
    assert app.results == [SetOption("theme", "light")]
    assert options().run("theme pink") is None


def test_a_zone_is_found_by_its_town() -> None:
    commands = CommandList(choices=lambda _: ("system", "America/Port_of_Spain", "Asia/Tokyo"))
    [found] = matching_entries("zone tokyo", commands.entries_behind("zone tokyo"))
    assert commands.run(found.name) == SetOption("zone", "Asia/Tokyo")


@pytest.mark.parametrize("size", sampled([(40, 12), (24, 8), (200, 50)], 1))
async def test_the_list_has_room_at_every_size(size: tuple[int, int]) -> None:
    app = form_app()
    async with app.run_test(size=size) as pilot:
        for _ in range(30):
            await pilot.press("down")
        assert "▶" in app.words
        assert app.screen.query_one("Panel").region.bottom <= size[1]


FRANC = Scenario("franc", 1_421_312_400_000_000_000, "EUR_CHF", "the floor goes", 1, 3_500)
QUIET = Scenario("quiet-august", 1_470_000_000_000_000_000, "EUR_USD", "")


async def test_scenarios_are_listed_behind_the_words_that_replay_one_and_enter_takes_the_first() -> (
    None
):
    store = example_store()
    store.market = ControlledMarket(MarketState(0, running=True, speed=1.0), (FRANC, QUIET), ())
    app = FormApp(lambda: CommandForm(store, "replay scenario "))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "franc 15 Jan 2015 EUR/CHF ████████ 3,500 pips in 1 day" in app.said
        assert "the floor goes" in app.said
        assert "quiet-august 31 Jul 2016 EUR/USD │" in app.said  # how far it went is not known
        assert app.said.index("quiet-august") < app.said.index("blind a scenario of a random day")
        await pilot.press("enter")
        [command] = app.results
    assert isinstance(command, ReplayCommand)
    assert command.body == {"scenario": "franc"}


async def test_without_a_practice_market_no_scenario_is_listed() -> None:
    app = form_app("replay scenario ")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "franc" not in app.said
