"""The columns of the watchlist: what each shows, that each is whole or not there, and that numbers of any size stay in it."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.market.trading_day import day_start
from keydesk.calc.market.watchlists import ALL, COLUMN_NAMES, Watchlist, Watchlists
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables import watchlist as panes
from keydesk.tables.watch_columns import BY_KEY, WATCH_COLUMNS
from keydesk.values import Day, DayLine, PositionRow, Quote
from support.data.desk_data import NOW, WALL_NS, desk_store, frame_of, instrument
from support.fakes.pane_app import heard, shown, text_of
from support.walks import sampled

D = Decimal
EVERY = COLUMN_NAMES
HOSTILE = ("\x1b[2J\x07EUR_USD", "\uff25\uff35\uff32_USD", "EUR\u202e_USD", "A" * 60, "a\nb_c")
EXTREMES = {
    "USD_JPY": ("151.322", "151.331"),
    "USD_TRY": ("34.12345", "45.08645"),
    "XAU_USD": ("2314.55000", "2424.18000"),
    "BTC_IDR": ("1234567890.12345", "1234567999.99999"),
    "NOK_SEK": ("0.00001", "0.00002"),
    "GBP_USD": ("1.26710", "99999999.00000"),
    **dict.fromkeys(HOSTILE, ("1.08431", "1.08443")),
}


def store_with(*columns: str) -> Store:
    """The made-up desk with these columns in the list of everything."""
    store = desk_store()
    store.lists = Watchlists((Watchlist(ALL, (), columns),))
    store.day_lines["USD_JPY"] = DayLine(day_start(WALL_NS), (1.0, 2.0))
    return store


def extreme_store() -> Store:
    """Prices, units and profits of every size, unknown ones, and names that no terminal should see."""
    store = store_with(*EVERY)
    for number, (name, (bid, ask)) in enumerate(EXTREMES.items()):
        store.instruments[name] = replaced = instrument("EUR_USD")
        store.quotes[name] = Quote(name, D(bid), D(ask), WALL_NS, True, NOW - 0.4)
        low = D(bid) / (1 + number)
        store.days[name] = Day(low or D(1), D(ask) * 3, low)
        store.day_lines[name] = DayLine(day_start(WALL_NS), (1e-12, 9e14, float(bid)))
        store.daily_ranges[name] = 1e-9 if number % 2 else None
        units = D(123_456_789) * (-1) ** number
        profit = (None, D("-987654321.09"), D("0.004"), D("123456.78"))[number % 4]
        store.positions[name] = PositionRow(
            name, max(units, D(0)), None, min(units, D(0)), None, profit, None, ("1",)
        )
        assert replaced
    store.watchlist = [*EXTREMES, "EUR_USD", "USD_CHF", "AUD_USD"]
    del store.quotes["USD_CHF"]
    del store.days["AUD_USD"]
    store.quotes["EUR_USD"] = replace(store.quotes["EUR_USD"], tradeable=False)
    return store


def spans(pane: panes.Watchlist) -> list[tuple[str, int, int]]:
    """Title, first cell and end of every column on the screen."""
    found, at = [], 1
    for column in pane.fitted:
        found.append((column.title, at, at + column.width))
        at += column.width + pane.gap
    return found


@pytest.mark.parametrize("width", sampled([20, 33, 41, 56, 90, 199], 2))
async def test_numbers_of_any_size_keep_their_column_at_every_width(width: int) -> None:
    pane, store = panes.Watchlist(), extreme_store()
    async with shown(pane, store, size=(width, 16)) as pilot:
        await pilot.pause()
        header, *rows = text_of(pane)
        columns = spans(pane)
    assert {len(line) for line in (header, *rows)} == {width}
    assert all(header[first:end].strip() == title for title, first, end in columns)
    outside = set(range(width)) - {x for _, first, end in columns for x in range(first, end)}
    assert all(line[x] == " " for line in (header, *rows) for x in outside)
    assert all("…" not in line[columns[0][2] :] for line in rows)
    assert not any(character < " " or "\x7f" <= character < "\xa0" for character in "".join(rows))


def test_the_columns_that_a_list_may_choose_are_those_that_its_file_may_name() -> None:
    assert tuple(column.key for column in WATCH_COLUMNS if column.meaning) == COLUMN_NAMES


async def test_a_wide_pane_shows_every_column_and_a_narrow_one_drops_the_least_missed() -> None:
    seen = []
    for width in (160, 60, 45, 34, 26):
        pane = panes.Watchlist()
        async with shown(pane, store_with(*EVERY), size=(width, 12)):
            seen.append([column.key for column in pane.fitted])
    assert seen[0] == ["pair", *EVERY]
    assert seen[1] == ["pair", "bid", "ask", "spread", "day", "own", "spark"]
    assert seen[2:] == [
        ["pair", "bid", "ask", "spread", "day"],
        ["pair", "bid", "spread", "day"],
        ["pair", "bid", "spread"],
    ]


async def cell(store: Store, column: str, *, row: int = 1) -> str:
    """What a row shows in a column."""
    pane = panes.Watchlist()
    async with shown(pane, store, size=(160, 12)):
        title, first, end = next(each for each in spans(pane) if each[0] == BY_KEY[column].title)
        header, line = text_of(pane)[0], text_of(pane)[row]
    assert header[first:end].strip() == title
    return line[first:end].strip()


async def test_the_day_in_pips_counts_from_17_00_new_york() -> None:
    store = store_with("pips")
    store.quotes["EUR_USD"] = replace(store.quotes["EUR_USD"], bid=D("1.08490"), ask=D("1.08500"))
    store.days["EUR_USD"] = Day(D("1.08320"), D("1.08730"), D("1.08210"))
    assert await cell(store, "pips") == "+17.5"
    del store.days["EUR_USD"]
    assert await cell(store, "pips") == "–"


async def test_the_range_of_the_day_is_measured_by_the_average_range() -> None:
    store = store_with("atr")
    store.days["EUR_USD"] = Day(D("1.08"), D("1.09"), D("1.08"))
    assert await cell(store, "atr") == "?"
    store.daily_ranges["EUR_USD"] = None
    assert await cell(store, "atr") == "?"
    store.daily_ranges["EUR_USD"] = 0.016
    assert await cell(store, "atr") == "62"


async def test_the_spread_stands_against_its_usual_size_once_that_is_known() -> None:
    store = store_with("usual")
    assert await cell(store, "usual") == "?"
    for i in range(12):
        store.spreads.note("EUR_USD", D("0.00008"), i * 10.0)
    assert await cell(store, "usual") == "1.5"


async def test_the_line_of_the_day_ends_with_the_price_of_now() -> None:
    store = store_with("spark")
    assert await cell(store, "spark") == "–"
    store.day_lines["EUR_USD"] = DayLine(day_start(WALL_NS), (1.0, 2.0))
    assert await cell(store, "spark") == "▁▇▂"
    store.day_lines["EUR_USD"] = DayLine(day_start(WALL_NS) - 1, (1.0, 2.0))
    assert await cell(store, "spark") == "–", "it is yesterday's"


async def test_lines_of_the_day_have_a_column_once_there_is_one() -> None:
    store, pane = store_with("bid", "spark"), panes.Watchlist()
    store.day_lines.clear()
    async with shown(pane, store, size=(60, 12)) as pilot:
        assert [each.key for each in pane.fitted] == ["pair", "bid"]
        [asked] = heard(pilot, panes.Watchlist.DayLinesWanted)
        assert "EUR_USD" in asked.lines, "they are read although their column is not there"
        store.day_lines["EUR_USD"] = DayLine(day_start(WALL_NS), (1.0, 2.0))
        store.mark(Topic.DAY_LINES, "EUR_USD")
        pane.on_frame(frame_of(store))
        assert [each.key for each in pane.fitted] == ["pair", "bid", "spark"]


async def test_the_profit_of_a_position_is_there_signed_or_unknown() -> None:
    store = store_with("pl")
    assert await cell(store, "pl") == "+5.10"
    store.positions["EUR_USD"].unrealized_pl = None
    assert await cell(store, "pl") == "?"
    del store.positions["EUR_USD"]
    assert await cell(store, "pl") == ""


async def test_the_session_is_the_centres_of_the_pair_or_closed() -> None:
    store = store_with("session")
    assert await cell(store, "session") == "LDN NY"
    assert await cell(store, "session", row=2) == "LDN NY"
    assert await cell(store, "session", row=3) == "NY"
    store.quotes["EUR_USD"].tradeable = False
    assert await cell(store, "session") == "closed"


async def test_an_instrument_without_a_price_makes_up_nothing() -> None:
    store = store_with(*EVERY)
    del store.quotes["EUR_USD"], store.positions["EUR_USD"]
    pane = panes.Watchlist()
    async with shown(pane, store, size=(160, 12)):
        assert set(text_of(pane)[1].split()) == {"EUR/USD", "–"}


async def test_another_list_has_other_columns() -> None:
    pane, store = panes.Watchlist(), store_with("bid", "ask")
    store.lists = Watchlists((*store.lists.lists, Watchlist("Mine", ("EUR_USD",), ("atr",))))
    async with shown(pane, store):
        store.list_name, store.watchlist = "Mine", ["EUR_USD"]
        pane.on_frame(frame_of(store))
        assert text_of(pane)[0].split() == ["pair", "ATR", "%"]
        assert pane.heading().tabs[0].text == "Watch Mine"


async def test_figures_are_asked_for_only_for_the_rows_and_columns_in_sight() -> None:
    pane, store = panes.Watchlist(), store_with("bid", "spark")
    async with shown(pane, store, size=(60, 5)) as pilot:
        await pilot.press("space")
        pane.on_frame(frame_of(store))
        pane.on_frame(frame_of(store))
        await pilot.pause()
        asked = heard(pilot, panes.Watchlist.DayLinesWanted)
    assert [(len(each.lines), each.averages) for each in asked] == [(4, ()), (4, ())]
    assert asked[0].lines[0] == "EUR_USD" != asked[1].lines[0]


async def test_a_loaded_line_redraws_its_row_alone() -> None:
    pane, store = panes.Watchlist(), store_with("bid", "spark")
    async with shown(pane, store):
        pane.on_frame(frame_of(store))
        before = {y: pane.render_line(y) for y in range(12)}
        store.mark(Topic.DAY_LINES, "USD_JPY")
        store.mark(Topic.DAY_LINES)  # the screen shows other rows now
        pane.on_frame(frame_of(store))
        drawn = [y for y in range(12) if pane.render_line(y) is not before[y]]
    assert drawn == [3]
