"""Trades, positions, orders and the log say what is at stake."""

import dataclasses
from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.market.market_state import ControlledMarket, MarketState
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.column import Column, fit
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.log import Log
from keydesk.tables.orders import Orders
from keydesk.tables.positions import Positions
from keydesk.tables.table_pane import TablePane
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.text.format import age
from keydesk.text.sanitize import safe
from keydesk.values import DependentOrder
from keydesk.widgets.lines import LinePane
from keydesk.words.log_line import LogLine
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.walks import crossed, sampled


async def test_a_trade_shows_its_profit_with_its_sign_and_its_stop() -> None:
    pane = Trades()
    async with shown(pane, desk_store()):
        newest = text_of(pane)[1].split()
    assert newest[:4] == ["6411", "EUR/USD", "LONG", "10,000"]
    assert {"+5.1", "+5.10", "1.08200", "1.08650"} <= set(newest)


async def test_a_trade_without_a_stop_raises_an_alarm_in_row_tab_and_total() -> None:
    pane = Trades()
    async with shown(pane, desk_store()):
        lines = text_of(pane)
        assert "none !" in lines[2]
        assert pane.heading().tabs[0].text == "Trades 2 !"
        assert "1 without a stop !" in lines[-1]


async def test_the_totals_add_up_to_the_account_strip() -> None:
    pane = Trades()
    async with shown(pane, desk_store()):
        foot = text_of(pane)[-1]
    assert "2 trades" in foot
    assert "+0.90 USD" in foot
    assert "open risk UNLIMITED (27.78 to the stops)" in foot, "one trade has no stop"


async def test_the_total_of_open_risk_has_its_share_of_nav_once_every_trade_has_a_stop() -> None:
    pane, store = Trades(), desk_store()
    assert store.account is not None
    store.account = replace(store.account, unprotected_trades=0)
    async with shown(pane, store):
        assert "27.78 (0.27% of NAV)" in text_of(pane)[-1]


async def test_rows_out_of_sight_are_counted_in_the_heading_above_and_below() -> None:
    pane, store = Orders(), desk_store()
    async with shown(pane, store, size=(100, 3)):
        assert pane.heading().right == "1 below, 1 entry, 2 on trades"
        pane.move_to(2)
        assert pane.heading().short == "1 above"


async def test_only_the_trade_that_moved_is_drawn_again() -> None:
    pane, store = Trades(), desk_store()
    async with shown(pane, store):
        before = {y: pane.render_line(y) for y in range(12)}
        store.trades["6398"].unrealized_pl = Decimal("-5.00")
        store.mark(Topic.TRADES, "6398")
        pane.on_frame(frame_of(store))
        drawn = [y for y in range(12) if pane.render_line(y) is not before[y]]
        assert "−5.00" in text_of(pane)[2]
    assert drawn == [2, 11]


async def test_the_cursor_stays_with_its_trade_when_another_comes() -> None:
    pane, store = Trades(), desk_store()
    async with shown(pane, store) as pilot:
        await pilot.press("j")
        assert pane.selected == "6398"
        newer = dataclasses.replace(store.trades["6411"], id="6420")
        store.trades["6420"] = newer
        store.mark(Topic.TRADES)
        pane.on_frame(frame_of(store))
        assert pane.selected == "6398"
        assert pane.cursor == 2


async def test_orders_that_come_while_another_pane_has_the_keys_open_at_the_top() -> None:
    pane, store = Orders(), desk_store()
    async with shown(pane, store, size=(100, 5)) as pilot:
        pane.screen.set_focus(None)
        for number in range(6420, 6428):
            store.orders[str(number)] = replace(store.orders["6415"], id=str(number))
            store.mark(Topic.ORDERS)
            pane.on_frame(frame_of(store))
        pane.focus()
        await pilot.pause()
        pane.entered()
        assert pane.selected == "6427"
        assert pane.hidden_text() == "7 below"
        store.orders["6428"] = replace(store.orders["6415"], id="6428")
        store.mark(Topic.ORDERS)
        pane.on_frame(frame_of(store))
        assert pane.selected == "6427", "the row that keys act on stays under the cursor"


async def test_positions_tell_the_sides_apart() -> None:
    pane = Positions()
    async with shown(pane, desk_store()):
        euro, yen = (line.split() for line in text_of(pane)[1:3])
    assert euro[:6] == ["EUR/USD", "LONG", "+10,000", "1.08380", "+5.1", "+5.10"]
    assert yen[:6] == ["USD/JPY", "SHORT", "−5,000", "151.204", "−12.7", "−4.20"]


async def test_entry_orders_stand_above_what_hangs_on_trades() -> None:
    pane = Orders()
    async with shown(pane, desk_store()):
        rows = [line.split() for line in text_of(pane)[1:4]]
        assert pane.heading().tabs[0].text == "Orders 3"
        assert pane.heading().right == "1 entry, 2 on trades"
    assert rows[0][:5] == ["6415", "EUR/USD", "BUY", "LIMIT", "20,000"]
    assert [row[2:5] for row in rows[1:]] == [
        ["stop", "trade", "6411"],
        ["target", "trade", "6411"],
    ]


async def test_a_protective_order_of_a_trade_with_a_long_id_shows_it_whole() -> None:
    pane, store = Orders(), desk_store()
    store.orders = {"6413": replace(store.orders["6413"], trade_id="1234567")}
    async with shown(pane, store):
        assert " #1234567 " in text_of(pane)[1]


async def test_a_reduce_only_order_says_so_in_its_kind_and_leaves_no_column_out() -> None:
    pane, store = Orders(), desk_store()
    store.orders = {"6415": replace(store.orders["6415"], reduces=True, stop_loss=None)}
    async with shown(pane, store, size=(80, 5)):
        head, row = text_of(pane)[:2]
        assert " LIMIT reduce " in row
        assert " stop " in head


async def test_the_tab_counts_every_order_that_the_pane_lists() -> None:
    pane, store = Orders(), desk_store()
    del store.orders["6415"]
    async with shown(pane, store):
        assert pane.heading().tabs[0].text == "Orders 2"
        assert pane.heading().right == "2 on trades"
        assert len([line for line in text_of(pane)[1:] if line.strip()]) == 2


async def test_the_log_has_the_newest_line_first() -> None:
    pane = Log()
    async with shown(pane, desk_store()):
        lines = text_of(pane)
    assert "FILL" in lines[1]
    assert "CLOSE" in lines[6]
    assert lines[6].rstrip().endswith("+33.00")


async def test_a_line_without_a_profit_has_that_room_for_its_words() -> None:
    pane, store = Log(), desk_store()
    text = "Market buy 10,000 SL 1.11105 TP 1.11705"
    store.write_log(LogLine("6500", WALL_NS, "ORDER", "EUR_USD", text))
    async with shown(pane, store, size=(74, 12)):
        lines = text_of(pane)
    assert lines[1].rstrip().endswith(text)
    assert "…" in lines[7]
    assert lines[7].rstrip().endswith("+33.00")
    assert {len(line) for line in lines} == {74}


async def test_a_new_line_does_not_push_away_what_is_being_read() -> None:
    pane, store = Log(), desk_store()
    async with shown(pane, store) as pilot:
        await pilot.press("j", "j")
        reading = pane.selected
        store.write_log(LogLine("6500", WALL_NS, "FILL", "EUR_USD", "SELL 5,000 EUR/USD"))
        pane.on_frame(frame_of(store))
        assert pane.selected == reading


async def test_who_reads_the_newest_line_goes_on_to_read_the_newest() -> None:
    pane, store = Log(), desk_store()
    async with shown(pane, store, size=(100, 5)):
        for number in range(20):
            store.write_log(LogLine(str(6500 + number), WALL_NS, "NOTE", "", f"line {number}"))
            pane.on_frame(frame_of(store))
        assert "line 19" in text_of(pane)[1]
        assert pane.heading().right == ""


async def test_ten_thousand_lines_are_scrolled_by_row() -> None:
    pane, store = Log(), desk_store()
    store.log = [LogLine(str(i), WALL_NS, "NOTE", "", f"line {i}") for i in range(10_000)]
    async with shown(pane, store) as pilot:
        await pilot.press("end")
        assert "line 0 " in text_of(pane)[-1]
        await pilot.press("home")
        assert "line 9999" in text_of(pane)[1]


async def test_a_narrow_log_cuts_no_word_and_gives_a_line_without_a_pair_its_room() -> None:
    """As beside a docked ticket at 200x50."""
    pane, store = Log(), desk_store()
    store.log = []
    store.write_log(LogLine("3", WALL_NS, "FUNDS", "", safe("Paid in 100,000.00: client funding")))
    bought = safe("Market buy 10,000 SL 1.13312 TP 1.13912")
    store.write_log(LogLine("4", WALL_NS, "ORDER", "EUR_USD", bought))
    async with shown(pane, store, size=(53, 6)):
        _, order, funds, *_ = text_of(pane)
    assert "EUR/USD Market buy 10,000 SL …" in order
    assert funds.rstrip().endswith("Paid in 100,000.00: client funding")


@pytest.mark.parametrize("pane", [Trades(), Positions(), Orders(), Log()], ids=lambda pane: pane.id)
async def test_an_empty_pane_says_how_it_fills(pane: LinePane) -> None:
    store = desk_store()
    store.trades, store.positions, store.orders, store.log = {}, {}, {}, []
    async with shown(pane, store):
        text = " ".join(text_of(pane)[1].split())
    assert text.endswith(".")
    assert len(text) > 20


@pytest.mark.parametrize("kind", [Trades, Positions])
async def test_an_empty_pane_names_the_instrument_that_an_order_key_would_trade(
    kind: type[InstrumentRows],
) -> None:
    pane, store = kind(), desk_store()
    store.trades, store.positions = {}, {}
    async with shown(pane, store):
        assert "sells EUR/USD" in text_of(pane)[1]
        store.set_focus("USD_JPY")
        pane.on_frame(frame_of(store))
        assert "sells USD/JPY" in text_of(pane)[1]


@pytest.mark.parametrize("kind", [Trades, Positions])
async def test_the_words_of_an_empty_pane_that_is_narrow_go_on_below_and_follow_the_focus(
    kind: type[InstrumentRows],
) -> None:
    pane, store = kind(), desk_store()
    store.trades, store.positions = {}, {}
    async with shown(pane, store, size=(36, 8)):
        assert " ".join(" ".join(text_of(pane)[1:3]).split()).endswith("sells EUR/USD.")
        store.set_focus("USD_JPY")
        pane.on_frame(frame_of(store))
        assert " ".join(" ".join(text_of(pane)[1:3]).split()).endswith("sells USD/JPY.")


@pytest.mark.parametrize(
    ("kind", "width"),
    crossed([Watchlist, Trades, Positions, Orders], [24, 40, 52, 60, 78, 100, 130, 200]),
)
async def test_columns_are_whole_at_every_width(kind: type[LinePane], width: int) -> None:
    pane = kind()
    async with shown(pane, desk_store(), size=(width, 8)):
        assert all(len(line) == width and "…" not in line for line in text_of(pane)[:3])


def test_the_highest_rank_leaves_first() -> None:
    columns = (Column("a", "a", 5), Column("b", "b", 5, rank=2), Column("c", "c", 5, rank=1))
    assert [column.key for column in fit(columns, 17)] == ["a", "b", "c"]
    assert [column.key for column in fit(columns, 16)] == ["a", "c"]
    assert [column.key for column in fit(columns, 3)] == ["a"]


@pytest.mark.parametrize("pane", [Trades(), Positions(), Orders()])
async def test_nothing_is_counted_before_the_account_was_read(pane: LinePane) -> None:
    async with shown(pane, Store()):
        text = "\n".join(text_of(pane))
        assert "The account is being read" in text
        assert not any(letter.isdigit() for letter in pane.heading().tabs[0].text)


@pytest.mark.parametrize("key", ["j", "k", "g", "end"])
async def test_a_key_that_moves_chooses_the_row_even_where_there_is_no_other(key: str) -> None:
    pane, store = Positions(), desk_store()
    del store.positions["EUR_USD"]
    async with shown(pane, store) as pilot:
        pane.entered()
        await pilot.press(*("home",) if key == "g" else (key,))
        assert [each.instrument for each in heard(pilot, InstrumentRows.Chosen)] == ["USD_JPY"]


async def test_coming_to_the_trades_finds_the_one_of_the_instrument_on_the_desk() -> None:
    pane, store = Trades(), desk_store()
    store.focus = "USD_JPY"
    async with shown(pane, store) as pilot:
        assert pane.selected == "6411"
        pane.entered()
        await pilot.pause()
        assert pane.selected == "6398"
        assert heard(pilot, InstrumentRows.Chosen) == []


async def test_a_row_that_comes_or_goes_turns_nothing() -> None:
    pane, store = Trades(), desk_store()
    async with shown(pane, store) as pilot:
        del store.trades["6411"]
        store.mark(Topic.TRADES)
        pane.on_frame(frame_of(store))
        await pilot.pause()
        assert heard(pilot, InstrumentRows.Chosen) == []


@pytest.mark.parametrize(
    ("trailing", "shown_stop"), [("1.08300", "1.08300 t"), ("1.08100", "1.08200  ")]
)
async def test_the_stop_of_a_trade_is_the_one_that_fires_first(
    trailing: str, shown_stop: str
) -> None:
    pane, store = Trades(), desk_store()
    store.trades["6411"].trailing_stop = DependentOrder("6414", Decimal(trailing), Decimal("0.001"))
    async with shown(pane, store, size=(80, 8)):
        row = next(line for line in text_of(pane) if "EUR/USD" in line)
    assert shown_stop in row


HUGE = Decimal("123456789012.5")


class OfManyTrades(tuple[str, ...]):
    """The ids of a position's trades, of which only a few are in the list: each frame would add up a million."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1_234_567


def huge_store() -> Store:
    """Numbers of any size in one row of every list, usual ones in the others."""
    store = desk_store()
    euro = store.trades["6411"]
    euro.units = euro.initial_units = HUGE
    euro.unrealized_pl, euro.pips, euro.r_multiple = -HUGE, -HUGE, -HUGE
    euro.risk = euro.financing = euro.margin_used = HUGE
    euro.price = euro.now = HUGE
    position = store.positions["EUR_USD"]
    position.long_units, position.short_units = HUGE, -HUGE / 3
    position.long_average = position.short_average = HUGE
    position.unrealized_pl, position.margin_used = -HUGE, HUGE
    position.trade_ids = OfManyTrades(("6411",))
    order = store.orders["6415"]
    order.units, order.price, order.pips_away = -HUGE, HUGE, HUGE
    order.stop_loss = order.take_profit = HUGE
    return store


def column_ends(pane: TablePane) -> list[int]:
    """Where each right-aligned column ends, counted from the left edge."""
    ends, at = [], 1
    for column in pane.fitted:
        at += column.width
        if column.right:
            ends.append(at)
        at += pane.gap
    return ends


@pytest.mark.parametrize(
    ("kind", "width"), crossed([Trades, Positions, Orders], [60, 80, 100, 120, 200])
)
async def test_numbers_of_any_size_keep_their_column(kind: type[TablePane], width: int) -> None:
    pane = kind()
    async with shown(pane, huge_store(), size=(width, 8)) as pilot:
        await pilot.pause()
        lines = text_of(pane)
        ends = column_ends(pane)
        rows = [line for line in lines[: 1 + len(pane.keys)] if line.strip()]
    assert len(rows) == 1 + len(pane.keys)
    assert all(len(line) == width and "…" not in line for line in rows)
    for end in ends:
        after = {line[end : end + 1] for line in rows if end < width}
        assert after <= {" "}, (end, rows)


async def test_a_number_that_grows_between_two_frames_keeps_its_column() -> None:
    pane, store = Trades(), desk_store()
    async with shown(pane, store, size=(80, 8)) as pilot:
        store.trades["6411"].unrealized_pl = Decimal("-12345678.90")
        store.mark(Topic.TRADES, "6411")
        pane.on_frame(frame_of(store))
        await pilot.pause()
        header, first, second = text_of(pane)[:3]
    assert "−12,345,678.90" in first
    end = first.index("−12,345,678.90") + len("−12,345,678.90")
    assert header[:end].endswith("P/L")
    assert second[:end].endswith("−4.20")


@pytest.mark.parametrize("width", sampled([40, 60, 78, 80, 90, 100, 120, 150, 200], 3))
async def test_the_headers_of_positions_name_each_side_once_and_in_pairs(width: int) -> None:
    pane = Positions()
    async with shown(pane, desk_store(), size=(width, 8)):
        header = text_of(pane)[0]
        titles = [column.title for column in pane.fitted]
    assert len(set(titles)) == len(titles), "two columns of one name say nothing"
    assert ("long avg" in titles) == ("short avg" in titles)
    assert ("long" in titles) == ("short" in titles)
    assert [each for each in titles if each not in header] == []
    assert "…" not in header


async def test_a_wider_row_that_scrolls_into_view_keeps_its_column() -> None:
    pane, store = Trades(), desk_store()
    for number in range(6500, 6530):
        store.trades[str(number)] = dataclasses.replace(store.trades["6411"], id=str(number))
    store.trades["6398"].unrealized_pl = Decimal("-123456789.00")  # the oldest: at the very end
    async with shown(pane, store, size=(80, 8)) as pilot:
        await pilot.press("end")
        await pilot.pause()
        header, *rows = text_of(pane)
    row = next(row for row in rows if "USD/JPY" in row)
    end = row.index("−123,456,789.00") + len("−123,456,789.00")
    assert header[:end].endswith("P/L")
    assert all(len(line) == 80 and "…" not in line for line in (header, *rows[:4]))


async def test_the_age_of_trades_and_orders_in_a_replay_is_counted_in_the_markets_time() -> None:
    """It was that of the machine's clock: 995d02h."""
    store = desk_store()
    opened = 1_421_312_400 * 10**9  # 2015-01-15 09:00
    store.clock_ns = opened
    store.set_market(ControlledMarket(MarketState(opened + 300 * 10**9, running=False)))
    for trade in store.trades.values():
        trade.open_time_ns = opened
    for order in store.orders.values():
        order.create_time_ns = opened
    for pane in (Trades(), Orders()):
        async with shown(pane, store, size=(200, 10)):
            rows = "\n".join(text_of(pane))
        assert age(opened, opened + 300 * 10**9) in rows


async def test_a_hedge_whose_units_come_to_nothing_is_not_shown_as_no_position() -> None:
    store = desk_store()
    held = store.positions["EUR_USD"]
    held.long_units, held.short_units = Decimal(10_000), Decimal(-10_000)
    positions, watchlist = Positions(), Watchlist()
    async with shown(positions, store, size=(80, 12)):
        assert text_of(positions)[1].split()[:3] == ["EUR/USD", "BOTH", "±10,000"]
    async with shown(watchlist, store, size=(120, 12)):
        [row] = [each for each in text_of(watchlist) if "EUR/USD" in each]
    assert "±10.0k" in row
