"""A workspace is saved and shown again by keys; a bookmark turns to its instrument; a bad file is named."""

from pathlib import Path

from textual.pilot import Pilot

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


async def command(pilot: Pilot[int], line: str) -> None:
    await pilot.press("colon", *["space" if each == " " else each for each in line], "enter")
    await pilot.pause()


def told(app: WorkingDesk) -> str:
    return app.store.notices[-1].text


async def test_a_workspace_is_shown_again_and_the_instrument_stays(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        screen = app.window.screen
        app.store.set_granularity("M1")
        app.store.set_indicators("EUR_USD", parse_indicators(["ema 20"]))
        screen.action_go("orders")
        screen._side_charts[0].choose("H4", "GBP_USD")
        await command(pilot, "layout save scalping")
        assert told(app) == "Layout scalping is saved: 's shows it again"

        app.store.set_granularity("D")
        app.store.set_indicators("EUR_USD", ())
        screen.action_go("positions")
        screen._side_charts[0].choose("", "")
        app.store.set_focus("GBP_USD")
        await pilot.press("apostrophe", "s")
        await pilot.pause()
        assert told(app) == "Layout scalping"
        assert app.store.granularity == "M1"
        assert app.store.focus == "GBP_USD"
        assert [each.text for each in app.store.indicators_of("GBP_USD")] == ["ema 20"]
        assert screen.focused is screen.pane("orders")
        assert screen._side_charts[0].granularity == "H4"
        assert screen._side_charts[0].pinned == "GBP_USD"

        await command(pilot, "layout delete scalping")
        await command(pilot, "layout scalping")
        assert "There is no layout scalping. No layout is saved yet" in told(app)


async def test_a_letter_turns_to_the_instrument_bookmarked_there(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("apostrophe", "g")
        assert told(app) == "'g is free: mg bookmarks EUR/USD there"
        app.store.set_focus("GBP_USD")
        await pilot.press("m", "g")
        assert told(app) == "'g turns to GBP/USD from now on"
        app.store.set_focus("USD_JPY")
        await pilot.press("apostrophe", "g")
        await pilot.pause()
        assert app.store.focus == "GBP_USD"
        await command(pilot, "layout save g")
        assert told(app) == "Layout g is saved: 'a shows it again"
        await pilot.press("m", "a")
        assert told(app) == "'a is the layout g: choose another letter"


async def test_a_bad_file_is_named_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "workspaces.toml").write_text("[workspaces.x]\nkey = 5\n", encoding="utf-8")
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        for line in ("layout save x", "layout x"):
            await command(pilot, line)
            assert "workspaces.toml:2: workspaces.x.key must be a small letter" in told(app)
        await pilot.press("apostrophe", "g")
        assert "workspaces.toml:2: workspaces.x.key must be a small letter" in told(app)
    assert (tmp_path / "workspaces.toml").read_text() == "[workspaces.x]\nkey = 5\n"


async def test_a_chart_is_pinned_and_follows_again_and_has_its_own_timeframe(
    tmp_path: Path,
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(250, 70)) as pilot:
        await pilot.pause()
        app.draw()
        screen = app.window.screen
        chart = screen._side_charts[1]
        chart.focus()
        await pilot.press("c", "p")
        app.store.set_focus("GBP_USD")
        app.draw()
        await pilot.pause()
        assert chart.shown == ("EUR_USD", "D")
        assert chart.heading().tabs[0].text.endswith("pinned")
        await pilot.press("f")
        assert chart.shown == ("EUR_USD", "W")
        assert app.store.granularity == "M5"
        await pilot.press("c", "p")
        assert chart.shown == ("GBP_USD", "W")
        assert screen.workspace().charts == (("", ""), ("", "W"), ("", ""))
