"""Tables are sorted, filtered and grouped; the cursor stays on its row, and the heading says what is shown."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.app.availability import Selection
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.log import Log
from keydesk.tables.positions import Positions
from keydesk.tables.sorted_table import SortedTable
from keydesk.tables.trades import Trades
from keydesk.text.sanitize import safe
from keydesk.values import DependentOrder
from keydesk.words.log_line import LogLine
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.walks import sampled_rows

D = Decimal


def with_three_trades() -> Store:
    """Two trades in euro, one in yen."""
    store = desk_store()
    third = replace(store.trades["6411"], id="6420", unrealized_pl=D("12.00"), tag="breakout")
    third.units, third.price, third.pips = D(5_000), D("1.08200"), D("23.1")
    third.take_profit, third.stop_loss = None, DependentOrder("6421", D("1.08400"))
    store.trades["6420"] = third
    return store


async def test_keys_sort_by_profit_down_and_up_and_back() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades()) as pilot:
        assert pane.keys == ["6420", "6411", "6398"]
        await pilot.press("v")
        assert (pane.keys, pane.heading().right) == (["6420", "6411", "6398"], "P/L ▼ held")
        await pilot.press("v")
        assert (pane.keys, pane.heading().right) == (["6398", "6411", "6420"], "P/L ▲ held")
        await pilot.press("v")
        assert (pane.keys, pane.heading().right) == (["6420", "6411", "6398"], "")


async def test_a_new_trade_comes_on_top_of_held_rows() -> None:
    pane, store = Trades(), with_three_trades()
    async with shown(pane, store) as pilot:
        await pilot.press("v", "v")
        store.trades["6500"] = replace(store.trades["6411"], id="6500", unrealized_pl=D(1))
        store.mark(Topic.TRADES)
        pane.on_frame(frame_of(store))
        assert pane.keys == ["6500", "6398", "6411", "6420"]


@pytest.mark.parametrize(
    ("filter_text", "ids"),
    sampled_rows(
        [
            ("breakout", ["6420"]),
            ("eurusd", ["6420", "6411"]),
            ("eur/usd long", ["6420", "6411"]),
            ("short", ["6398"]),
            ("naked", ["6398"]),
            ("6411", ["6411"]),
        ],
        3,
    ),
)
async def test_letters_leave_the_trades_that_have_them(filter_text: str, ids: list[str]) -> None:
    pane = Trades()
    async with shown(pane, with_three_trades()):
        pane.show_only(filter_text)
        assert pane.keys == ids
        assert pane.heading().tabs[0].text == f"Trades {len(ids)} of 3 !"
        assert pane.heading().right == f"only {filter_text}"


async def test_letters_that_no_row_has_are_said_and_no_key_acts() -> None:
    pane, store = Trades(), with_three_trades()
    async with shown(pane, store):
        pane.show_only("zzz")
        assert "No row matches zzz. w e shows all." in text_of(pane)[1]
        assert pane.selected is None
        selection = Selection("trades", pane.selected, None, None)
        assert selection.trade(store) is None
        assert not selection.means_position(store)


async def test_hostile_letters_show_as_text() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades()):
        pane.show_only("\x1b]0;x\x07" + "long" * 30)
        assert "\x1b" not in pane.heading().right
        assert len(pane.heading().right) < 40


async def test_w_f_asks_for_letters() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades()) as pilot:
        pane.action_letters()
        await pilot.pause()
        assert [each.pane for each in heard(pilot, SortedTable.FilterWanted)] == [pane]


async def test_groups_stand_together_under_their_sums() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades(), size=(120, 12)):
        pane.action_group()
        assert pane.keys == ["= EUR_USD", "6420", "6411", "= USD_JPY", "6398"]
        euro, yen = text_of(pane)[1].split(), text_of(pane)[4].split()
        assert pane.heading().right == "by instrument"
    assert euro[:7] == ["EUR/USD", "×2", "LONG", "15,000", "1.08320", "1.08431", "+11.1"]
    assert "+17.10" in euro
    assert yen[yen.index("none") - 1 : yen.index("none") + 2] == ["1", "none", "!"]


async def test_a_sum_is_the_position_for_every_exit() -> None:
    store = with_three_trades()
    selection = Selection("trades", "= EUR_USD", None, None)
    assert selection.instrument(store) == "EUR_USD"
    assert selection.means_position(store)
    assert [each.id for each in selection.trades(store)] == ["6411", "6420"]


async def test_a_row_of_a_group_is_its_trade_and_nothing_else() -> None:
    store = with_three_trades()
    selection = Selection("trades", "6420", None, None)
    trade = selection.trade(store)
    assert trade is not None
    assert trade.id == "6420"
    assert not selection.means_position(store)


async def test_groups_keep_the_order_that_was_chosen() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades()) as pilot:
        pane.action_group()
        await pilot.press("v", "v")
        assert pane.keys == ["= USD_JPY", "6398", "= EUR_USD", "6411", "6420"]
        assert pane.heading().right == "by instrument, P/L ▲ held"


async def test_the_distances_are_those_of_the_closing_price() -> None:
    pane = Trades()
    async with shown(pane, with_three_trades(), size=(180, 12)):
        header, _, row, unprotected, *_ = text_of(pane)
    for title, pips in (("to stop", "23.1"), ("to target", "21.9")):
        end = header.index(title) + len(title)
        assert row[:end].endswith(pips)
        assert unprotected[:end].endswith("–")


async def test_a_tag_is_shown_where_there_is_room() -> None:
    pane, store = Trades(), with_three_trades()
    store.trades["6411"].tag = "\x1b[31m" + "a long tag of somebody"
    async with shown(pane, store, size=(200, 12)):
        lines = text_of(pane)
    assert "breakout" in lines[1]
    assert "\x1b" not in lines[2]


async def test_a_tag_is_shown_as_it_was_written_and_none_as_a_dash() -> None:
    pane, store = Trades(), with_three_trades()
    store.trades["6411"].tag, store.trades["6398"].tag = "früh", ""
    async with shown(pane, store, size=(200, 12)):
        tags = {line.split()[0]: line.split()[-1] for line in text_of(pane)[1:4]}
    assert tags == {"6420": "breakout", "6411": "früh", "6398": "–"}


async def test_positions_have_weighted_entry_pips_r_and_risk() -> None:
    pane, store = Positions(), with_three_trades()
    position = store.positions["EUR_USD"]
    position.trade_ids, position.long_units = ("6411", "6420"), D(15_000)
    async with shown(pane, store, size=(120, 12)):
        header, euro, yen, *_ = text_of(pane)
    assert header.split()[:7] == ["pair", "side", "net", "units", "avg", "entry", "pips"]
    assert {"1.08320", "+11.1"} <= set(euro.split())
    assert "1 none !" in yen


async def test_the_log_is_filtered_by_its_words() -> None:
    pane, store = Log(), desk_store()
    async with shown(pane, store):
        everything = len(pane.keys)
        pane.show_only("eurusd fill")
        assert 0 < len(pane.keys) < everything
        lines = [pane.line(key) for key in pane.keys]
        assert {line and line.instrument for line in lines} == {"EUR_USD"}


async def test_a_new_line_that_is_filtered_out_does_not_show() -> None:
    pane, store = Log(), desk_store()
    async with shown(pane, store):
        pane.show_only("eurusd")
        before = list(pane.keys)
        store.write_log(LogLine("9", WALL_NS, "FILL", "GBP_USD", safe("another pair")))
        pane.on_frame(frame_of(store))
        assert pane.keys == before


@pytest.mark.parametrize("keys", [("j", "j"), ("v", "j"), ("l", "end")])
async def test_the_cursor_stays_on_its_line_when_older_ones_come_or_go(
    keys: tuple[str, ...],
) -> None:
    pane, store = Log(), desk_store()
    for number in range(1, 6):
        store.write_log(LogLine(f"900{number}", WALL_NS, "NOTE", "", safe(f"line {number}")))
    async with shown(pane, store, size=(100, 6)) as pilot:
        await pilot.press(*keys)
        line = pane.line(pane.selected)
        store.log[:0] = [
            LogLine(f"{n}", 1, "FILL", "EUR_USD", safe(f"earlier {n}")) for n in range(1, 8)
        ]
        store.mark(Topic.LOG)
        pane.on_frame(frame_of(store))
        assert pane.line(pane.selected) is line
        del store.log[:7]
        store.mark(Topic.LOG)
        pane.on_frame(frame_of(store))
        assert pane.line(pane.selected) is line
        store.log.clear()
        store.mark(Topic.LOG)
        pane.on_frame(frame_of(store))
        assert pane.selected is None
