"""Watchlists by keys alone, on the desk with its forms: build, switch, rename, reorder, filter, delete; nothing is lost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.screen import ModalScreen

from keydesk.calc.market import watchlists
from keydesk.calc.market.watchlists import ALL
from keydesk.config.watchlists import FILE, WatchlistFile, load_watchlists
from keydesk.store.watchlists import active_list
from keydesk.trading.desk_session import DeskLock
from support.data.hostile_text import FRAGMENTS
from support.fakes.working_desk import WorkingDesk
from support.resizing import resize


@asynccontextmanager
async def desk(folder: Path, shown: str = "") -> AsyncIterator[Pilot[int]]:
    app = WorkingDesk(DeskLock.of(folder, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.watchlists.load(shown)
        app.draw()
        yield pilot


def app_of(pilot: Pilot[int]) -> WorkingDesk:
    assert isinstance(pilot.app, WorkingDesk)
    return pilot.app


async def press(pilot: Pilot[int], keys: str) -> None:
    """Press keys by their names, words letter by letter; then one beat of the desk."""
    for key in keys.split():
        await pilot.press(*([key] if key in {"enter", "escape", "space", "down"} else key))
    await pilot.pause()
    app_of(pilot).draw()
    await pilot.pause()


def rows(pilot: Pilot[int]) -> list[str]:
    return app_of(pilot).window.screen.watchlist.keys


def last_notice(pilot: Pilot[int]) -> str:
    return str(app_of(pilot).store.notices[-1].text)


async def build(pilot: Pilot[int]) -> None:
    await press(pilot, "wn Mine enter")
    for letters in ("eu", "gj", "uchf"):
        await press(pilot, f"wa {letters} enter")


@asynccontextmanager
async def desk_with_mine(folder: Path) -> AsyncIterator[Pilot[int]]:
    """Show the list that `build` makes, from the file."""
    WatchlistFile(folder).change(watchlists.new("Mine", "EUR_USD", "GBP_JPY", "USD_CHF"))
    async with desk(folder, shown="Mine") as pilot:
        yield pilot


async def test_a_list_is_built_row_by_row_and_kept_in_the_file(tmp_path: Path) -> None:
    async with desk(tmp_path) as pilot:
        await build(pilot)
        assert rows(pilot) == ["EUR_USD", "GBP_JPY", "USD_CHF"]
        assert "Watch Mine" in str(app_of(pilot).window.screen.watchlist.heading().tabs[0].text)
    kept = load_watchlists(tmp_path).by_name("Mine")
    assert kept is not None
    assert kept.instruments == ("EUR_USD", "GBP_JPY", "USD_CHF")


async def test_rows_are_moved_and_taken_off(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        await press(pilot, "wj")
        assert rows(pilot) == ["GBP_JPY", "EUR_USD", "USD_CHF"]
        await press(pilot, "wj wj")
        assert rows(pilot) == ["GBP_JPY", "USD_CHF", "EUR_USD"]
        await press(pilot, "wk")
        assert rows(pilot) == ["GBP_JPY", "EUR_USD", "USD_CHF"]
        await press(pilot, "wx enter")
        assert rows(pilot) == ["GBP_JPY", "USD_CHF"]
        assert last_notice(pilot) == "EUR/USD is off Mine; w a adds it again"
        await press(pilot, "wx enter escape")
        assert rows(pilot) == ["GBP_JPY", "USD_CHF"], "no row is selected: nothing goes"


async def test_sorted_rows_are_not_moved(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        await press(pilot, "l wj")
        assert "The rows are sorted; v shows your own order" in last_notice(pilot)
        assert load_watchlists(tmp_path).by_name("Mine") is not None
        await press(pilot, "v v")
        assert rows(pilot) == ["EUR_USD", "GBP_JPY", "USD_CHF"]


async def test_lists_are_switched_by_name_and_number_and_the_ticket_stays(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        store = app_of(pilot).store
        for keys, name in (("ww", ALL), ("w2", "Mine"), ("w1", ALL), ("w7", ALL), ("ww", "Mine")):
            await press(pilot, keys)
            assert active_list(store).name == name
            assert store.focus == "EUR_USD"
        assert "There is no list 7: there are 2 watchlists" in [
            str(notice.text) for notice in store.notices
        ]


async def test_a_list_is_renamed_and_deleted_once_that_is_confirmed(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        await press(pilot, "wr mines enter")
        assert active_list(app_of(pilot).store).name == "mines"
        await press(pilot, "wx escape")
        assert load_watchlists(tmp_path).by_name("mines") is not None
        await press(pilot, "wx x")
        assert load_watchlists(tmp_path).by_name("mines") is None
        assert active_list(app_of(pilot).store).name == ALL
        assert len(rows(pilot)) == 20


async def test_the_list_of_everything_is_not_changed_and_says_what_to_do(tmp_path: Path) -> None:
    async with desk(tmp_path) as pilot:
        for keys in ("wa", "wx", "wj", "wr"):
            await press(pilot, keys)
            assert (
                last_notice(pilot) == "All always holds every instrument: w n makes a list of yours"
            )
            assert not isinstance(pilot.app.screen, ModalScreen)
    assert not (tmp_path / FILE).exists()


async def test_columns_are_chosen_in_a_form(tmp_path: Path) -> None:
    async with desk(tmp_path) as pilot:
        await press(pilot, "wc space j space down space enter")
        assert "bid" not in active_list(app_of(pilot).store).columns
        pane = app_of(pilot).window.screen.watchlist
        assert [column.key for column in pane.fitted][:3] == ["pair", "day", "own"]
        await press(pilot, "wc space escape")
        assert "bid" not in active_list(app_of(pilot).store).columns


async def test_rows_are_filtered_by_letters(tmp_path: Path) -> None:
    async with desk(tmp_path) as pilot:
        await press(pilot, "wf jpy enter")
        assert rows(pilot) == ["USD_JPY", "EUR_JPY", "GBP_JPY", "AUD_JPY"]
        await press(pilot, "wo")
        assert rows(pilot) == ["USD_JPY"]
        await press(pilot, "we")
        assert len(rows(pilot)) == 20


async def test_a_name_that_is_taken_or_hostile_is_refused_in_the_form(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        await press(pilot, "wn mine enter")
        assert isinstance(pilot.app.screen, ModalScreen), "it stays open for correction"
        await press(pilot, "escape")
    assert [each.name for each in load_watchlists(tmp_path).lists] == [ALL, "Mine"]


async def test_a_bad_file_is_named_stays_as_it_is_and_the_list_lives_until_the_end(
    tmp_path: Path,
) -> None:
    (tmp_path / FILE).write_text("[[lists]\n", encoding="utf-8")
    async with desk(tmp_path) as pilot:
        assert f"{tmp_path / FILE}:1 is not valid TOML" in last_notice(pilot)
        await build(pilot)
        assert rows(pilot) == ["EUR_USD", "GBP_JPY", "USD_CHF"]
    assert (tmp_path / FILE).read_text(encoding="utf-8") == "[[lists]\n"


async def test_names_from_a_file_reach_no_terminal_as_they_are(tmp_path: Path) -> None:
    async with desk(tmp_path) as pilot:
        for number, text in enumerate(FRAGMENTS[::54]):
            name = "".join(each for each in text if each.isprintable()).strip()[:15]
            lists = "".join(f'[[lists]]\nname = "{number}{name}"\n' if '"' not in name else "")
            (tmp_path / FILE).write_text(lists, encoding="utf-8")
            app_of(pilot).watchlists.load(f"{number}{name}")
            await press(pilot, "wx")
            text_shown = "".join(
                segment.text
                for strip in pilot.app.screen._compositor.render_strips()
                for segment in strip
            )
            assert all(each.isprintable() for each in text_shown)
            await press(pilot, "escape")


SMALL = ((80, 24), (40, 12), (20, 5))


async def test_forms_of_the_lists_stand_at_small_sizes(tmp_path: Path) -> None:
    async with desk_with_mine(tmp_path) as pilot:
        for number, keys in enumerate(("wn", "wx", "wc")):
            await press(pilot, keys)
            for size in (SMALL[number % len(SMALL)], (120, 35)):
                await resize(pilot, *size)
                await pilot.pause()
                lines = pilot.app.screen._compositor.render_strips()
                assert {strip.cell_length for strip in lines} == {size[0]}
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, ModalScreen)
