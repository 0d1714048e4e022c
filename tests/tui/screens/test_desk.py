"""The desk screen at its sizes: what stands where, which pane has the keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from rich.console import RenderableType
from textual.geometry import Region, Size
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen

from keydesk.forms.info_form import HelpForm
from keydesk.keys.keymap import KEYMAP
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.screens.placement import (
    EXTRA_LARGE,
    LARGE,
    MEDIUM,
    MINI,
    SMALL,
    STANDARD,
    TIERS,
    tier_for,
)
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.table_pane import TablePane
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.widgets.lines import LinePane
from keydesk.widgets.ruled_grid import RuledGrid
from keydesk.widgets.terminal_app import TerminalApp
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.desk_app import DeskApp
from support.fakes.pane_app import text_of
from support.fakes.quick_pilot import QuickTests
from support.resizing import resize
from support.walks import crossed, sampled

SIZES = (
    *((40, 12), (79, 60), (80, 24), (99, 30), (119, 40), (120, 35), (140, 40), (179, 50)),
    *((200, 50), (250, 70)),
)


@asynccontextmanager
async def desk(
    size: tuple[int, int], store: Store | None = None
) -> AsyncIterator[tuple[Pilot[None], DeskScreen]]:
    app = DeskApp(store or desk_store())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, DeskScreen)
        yield pilot, app.screen


def visible_panes(screen: DeskScreen) -> set[str]:
    return {pane.id or "" for pane in screen.query(LinePane) if pane.display}


def picture(screen: DeskScreen) -> list[str]:
    return [strip.text for strip in screen._compositor.render_strips()]


@pytest.mark.parametrize(
    ("size", "tier"),
    [
        ((39, 12), None),
        ((40, 11), None),
        ((40, 12), MINI),
        ((79, 60), MINI),
        ((250, 23), MINI),
        ((80, 24), SMALL),
        ((119, 60), SMALL),
        ((120, 24), STANDARD),
        ((200, 39), STANDARD),
        ((140, 40), MEDIUM),
        ((179, 70), MEDIUM),
        ((180, 44), LARGE),
        ((240, 59), LARGE),
        ((240, 60), EXTRA_LARGE),
    ],
)
def test_the_size_chooses_the_layout(size: tuple[int, int], tier: object) -> None:
    assert tier_for(Size(*size)) is tier


def test_every_pane_of_the_mission_has_a_place_in_every_layout() -> None:
    for tier in set(TIERS) - {MINI}:
        places = {name for slot in tier.slots for name in slot}
        assert places >= {"watchlist", "chart", "trades", "positions", "orders", "log", "books"}


@pytest.mark.parametrize("size", sampled(SIZES, 4))
async def test_no_line_is_too_long_and_panes_never_overlap(size: tuple[int, int]) -> None:
    async with desk(size) as (_, screen):
        lines = picture(screen)
        regions = [pane.region for pane in screen.query(LinePane) if pane.display]
    assert len(lines) == size[1]
    assert {len(line) for line in lines} == {size[0]}
    assert not any(a.overlaps(b) for a in regions for b in regions if a is not b)
    assert all(region.right <= size[0] and region.bottom <= size[1] for region in regions)


async def test_neighbours_share_one_line() -> None:
    async with desk((80, 24)) as (_, screen):
        lines = picture(screen)
    assert lines[2].startswith("─ Watch ─")
    assert "┬─ EUR/USD M5" in lines[2]
    assert all(line.count("│") >= 1 for line in lines[3:13])


async def test_rules_join_where_they_meet() -> None:
    async with desk((200, 50)) as (_, screen):
        rules = "".join(picture(screen))
    for joint in "┬├┤┴":
        assert joint in rules


async def test_g_and_a_letter_bring_a_pane_to_the_front_and_focus_it() -> None:
    async with desk((80, 24)) as (_, screen):
        assert "trades" in visible_panes(screen)
        for name in ("orders", "positions", "log", "books", "trades"):
            screen.action_go(name)
            assert name in visible_panes(screen)
            assert screen.focused is screen.pane(name)
        assert len(visible_panes(screen) & {"trades", "orders", "positions", "log", "books"}) == 1


async def test_every_pane_has_keys_in_force() -> None:
    async with desk((80, 24)) as (_, screen):
        panes = [pane for pane in screen.query(LinePane) if pane.can_focus]
        assert panes
        assert [pane.id for pane in panes if not KEYMAP.in_force(pane.KEY_CONTEXT)] == []


async def test_tab_walks_the_panes() -> None:
    async with desk((80, 24)) as (pilot, screen):
        walked = []
        for _ in range(4):
            walked.append(screen.focused.id if screen.focused else "")
            await pilot.press("tab")
    assert walked == ["watchlist", "chart", "trades", "watchlist"]


async def test_z_shows_a_pane_alone_and_all_again() -> None:
    async with desk((120, 35)) as (pilot, screen):
        before = visible_panes(screen)
        screen.action_go("chart")
        await pilot.press("z")
        panes = {"watchlist", "chart", "ticket", "trades"}
        assert visible_panes(screen) & panes == {"chart"}
        await pilot.press("z")
        assert visible_panes(screen) == before


async def test_the_footer_follows_the_focus() -> None:
    async with desk((80, 24)) as (pilot, screen):
        assert "v sort" in picture(screen)[-1]
        screen.action_go("chart")
        await pilot.pause()
        assert "e indicators" in picture(screen)[-1]


async def test_the_layout_follows_the_terminal() -> None:
    async with desk((80, 24)) as (pilot, screen):
        for size, there in pairwise([(80, 24), (200, 50), (30, 10), (120, 35)]):
            await resize(pilot, *there)
            await pilot.pause()
            assert size
            too_small = "needs 80×24" in picture(screen)[0]
            assert too_small == (there == (30, 10))


async def test_a_hidden_pane_shows_what_happened_meanwhile() -> None:
    store = desk_store()
    async with desk((80, 24), store) as (_, screen):
        del store.orders["6415"]
        screen.action_go("orders")
        assert "6415" not in "\n".join(picture(screen))


async def test_beneath_a_dialog_the_desk_draws_less_often_and_forgets_nothing() -> None:
    store = desk_store()
    async with desk((80, 24), store) as (pilot, screen):
        await pilot.app.push_screen(ModalScreen())
        prices = []
        for beat in range(7):
            store.quotes["GBP_USD"].bid = Decimal("1.2680") + Decimal(beat) / 10_000
            store.mark(Topic.PRICES, "GBP_USD")
            screen.on_frame(frame_of(store, now=NOW + 1 + beat * 0.12))
            prices.append(text_of(screen.pane("watchlist"))[2].split()[1])
    assert prices == [*["1.26800"] * 5, *["1.26850"] * 2]


async def test_an_open_form_is_told_by_a_dark_focus_and_a_silent_footer() -> None:
    async with desk((80, 24)) as (pilot, screen):
        grid = screen.query_one(RuledGrid)
        assert grid.has_keys(screen.pane("watchlist"))
        await pilot.app.push_screen(ModalScreen())
        await pilot.pause()
        assert not grid.has_keys(screen.pane("watchlist"))
        assert "The form has the keys" in text_of(screen.pane("keys"))[0]
        pilot.app.pop_screen()
        await pilot.pause()
        assert grid.has_keys(screen.pane("watchlist"))
        assert "v sort" in text_of(screen.pane("keys"))[0]


@pytest.mark.parametrize(
    ("size", "focus"),
    crossed([(80, 24), (200, 50)], ["GBP_USD", "EUR_USD"]),
)
async def test_a_glance_at_every_pane_turns_the_desk_to_no_other_instrument(
    size: tuple[int, int], focus: str
) -> None:
    store = desk_store()
    store.focus = focus
    turned: list[str] = []

    def hear(message: Message) -> None:
        if isinstance(message, InstrumentRows.Chosen | Watchlist.Chosen):
            turned.append(message.instrument)

    async with DeskApp(store).run_test(size=size, message_hook=hear) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, DeskScreen)
        for name in ("trades", "positions", "orders", "log", "books", "chart", "watchlist"):
            screen.action_go(name)
            await pilot.pause()
        await pilot.press(*["tab"] * 6, "shift+tab")
        await pilot.press("z", "z")
        assert turned == []
        screen.action_go("positions")
        await pilot.press("j")
    assert turned


async def test_the_watchlist_has_no_cursor_when_the_desk_shows_what_it_does_not_list() -> None:
    store = desk_store()
    store.watchlist.remove("USD_JPY")
    async with desk((80, 24), store) as (_, screen):
        watchlist = screen.pane("watchlist")
        lit = [y for y in range(watchlist.outer_size.height) if watchlist.is_selected(y)]
        assert len(lit) == 1
        store.set_focus("USD_JPY")
        screen.on_frame(frame_of(store))
        assert not any(watchlist.is_selected(y) for y in range(watchlist.outer_size.height))
        assert "USD/JPY M5" in "\n".join(picture(screen))


async def test_the_second_chart_wants_its_candles_only_while_it_is_shown() -> None:
    store = desk_store()
    wanted: list[str] = []

    def hear(message: Message) -> None:
        if isinstance(message, Chart.SeriesWanted) and message.place == 2:
            wanted.append(message.granularity)

    async with DeskApp(store).run_test(size=(200, 50), message_hook=hear) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, DeskScreen)
        assert set(wanted) == {"H1"}
        for size, then in (((120, 35), ""), ((200, 50), "H1")):
            await resize(pilot, *size)
            await pilot.pause()
            screen.on_frame(frame_of(store, everything=True))
            await pilot.pause()
            assert wanted[-1] == then


async def test_the_footer_stays_the_forms_however_the_terminal_changes() -> None:
    async with desk((200, 50)) as (pilot, screen):
        await pilot.app.push_screen(ModalScreen())
        for size in ((80, 24), (60, 20), (120, 35)):
            await resize(pilot, *size)
            await pilot.pause()
        assert "The form has the keys" in text_of(screen.pane("keys"))[0]


async def test_the_footer_beneath_help_is_blank_for_its_frame_names_its_keys() -> None:
    async with desk((80, 24)) as (pilot, screen):
        await pilot.app.push_screen(HelpForm(KEYMAP, "desk"))
        await pilot.pause()
        assert not text_of(screen.pane("keys"))[0].strip()


@pytest.mark.parametrize("size", sampled([(39, 24), (80, 11), (40, 10)], 1))
async def test_a_screen_too_small_says_that_exits_work_and_no_trade_can_be_opened(
    size: tuple[int, int],
) -> None:
    async with desk(size) as (_, screen):
        assert screen.is_too_small
        text = " ".join(" ".join(picture(screen)).split())
        assert "No trade can be opened at this size. Exits work: C closes, X flattens." in text


async def test_a_pane_that_only_a_larger_window_shows_says_so() -> None:
    told: list[str] = []

    def hear(message: Message) -> None:
        if isinstance(message, DeskScreen.PaneWithoutRoom) and message.text not in told:
            told.append(message.text)

    async with DeskApp(desk_store()).run_test(size=(40, 12), message_hook=hear) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, DeskScreen)
        for name in ("log", "trades", "watchlist"):
            screen.action_go(name)
        await pilot.press("f")
        await resize(pilot, 80, 24)
        screen.action_go("log")
        await pilot.pause()
    names = ("log", "watchlist", "chart")
    assert told == [f"No {name} below 80×24 cells. Enlarge the window" for name in names]


async def test_eighty_by_twenty_four_shows_five_trades() -> None:
    store = desk_store()
    trade = store.trades["6411"]
    store.trades = {str(number): replace(trade, id=str(number)) for number in range(6411, 6416)}
    app = DeskApp(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        trades = screen.pane("trades")
        assert isinstance(trades, Trades)
        assert len(trades.keys) == 5
        assert trades.hidden_text() == ""


def with_rows(trades: int, orders: int) -> Store:
    store = desk_store()
    [trade, *_], [order, *_] = store.trades.values(), store.orders.values()
    store.trades = {str(i): replace(trade, id=str(i)) for i in range(6500, 6500 + trades)}
    store.orders = {str(i): replace(order, id=str(i)) for i in range(6900, 6900 + orders)}
    return store


async def test_the_list_in_front_has_rows_for_what_it_holds_and_those_behind_it_take_none() -> None:
    async with desk((80, 24), with_rows(trades=2, orders=5)) as (pilot, screen):
        few = screen.chart.outer_size.height
        screen.action_go("orders")
        await pilot.pause()
        assert screen.chart.outer_size.height == few - 2
        assert rows_for(screen, "orders") >= 5
        screen.action_go("trades")
        await pilot.pause()
        assert screen.chart.outer_size.height == few
        assert rows_for(screen, "trades") == 3


@pytest.mark.parametrize(
    ("size", "rows"),
    crossed([(140, 40), (179, 50), (200, 50), (250, 70)], [(6, 1), (7, 5), (2, 5), (12, 2)]),
)
async def test_no_row_of_trades_is_hidden_while_rows_of_orders_are_blank(
    size: tuple[int, int], rows: tuple[int, int]
) -> None:
    trades, orders = rows
    async with desk(size, with_rows(trades, orders)) as (_, screen):
        assert rows_for(screen, "trades") >= min(trades, 7)
        assert rows_for(screen, "orders") >= orders
        assert rows_for(screen, "orders") <= max(4, orders) + 1


async def test_a_single_trade_moves_nothing_to_and_fro() -> None:
    store = with_rows(trades=6, orders=1)
    async with desk((200, 50), store) as (pilot, screen):
        for count, rows in ((6, 6), (5, 6), (6, 6), (4, 4), (5, 5)):
            store.trades = with_rows(count, 1).trades
            screen.on_frame(frame_of(store))
            await pilot.pause()
            assert rows_for(screen, "trades") == rows


def rows_for(screen: DeskScreen, name: str) -> int:
    pane = screen.pane(name)
    assert isinstance(pane, TablePane)
    return pane.room


async def test_the_name_in_front_is_bold_and_the_sign_of_a_missing_stop_has_the_colour_of_danger() -> (
    None
):
    async with desk((80, 24)) as (_, screen):
        grid, trades = screen.query_one(RuledGrid), screen.pane("trades")
        rule = grid.render_line(trades.region.y - grid.region.y - 1)
        styles = {segment.text: segment.style for segment in rule if segment.style}
        assert styles["Trades 2 "].bold
        assert not styles["Positions 2"].bold
        assert styles["!"].color == trades.palette["danger"].color


class StartedDesk(TerminalApp[None], QuickTests[None]):
    """The main screen as it starts, and where the watchlist stands in each of its pictures."""

    CSS_PATH = DeskScreen.CSS_PATH

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Region] = []
        self.apply_theme("dark", "truecolor")

    def get_default_screen(self) -> DeskScreen:
        return DeskScreen()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(screen, DeskScreen):
            self.places.append(screen.watchlist.region)
        super()._display(screen, renderable)


async def test_the_first_picture_is_laid_out_for_the_size_of_the_terminal() -> None:
    desk = StartedDesk()
    async with desk.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        assert set(desk.places) == {desk.places[-1]}
