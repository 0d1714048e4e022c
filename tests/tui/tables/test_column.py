"""A column is declared once: drawing, sorting and searching read it."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.store.unknown import UNKNOWN
from keydesk.tables.column import Column, ValueColumn, apart
from keydesk.tables.trade_columns import TRADE_COLUMNS, TradeColumn, TradeLine
from keydesk.tables.trades import Trades
from keydesk.text.sanitize import safe
from support.data.desk_data import desk_store
from support.fakes.pane_app import shown, text_of


class WithAverage(Trades):
    """The trades with a further column, in the six lines that one takes."""

    COLUMNS = (
        TradeColumn(
            *("opened", "opened", 9),
            text=lambda line: f"{line.trade.initial_units:,}",
            value=lambda line: line.trade.initial_units,
            search_text=lambda _: "opened",
        ),
        *TRADE_COLUMNS,
    )


async def test_a_further_column_is_drawn_sorted_and_searched_by_its_declaration_alone() -> None:
    pane, store = WithAverage(), desk_store()
    async with shown(pane, store, size=(200, 12)) as pilot:
        assert text_of(pane)[0].split()[0] == "opened"
        await pilot.press("v", "l", "h")
        assert pane.text_rows()[0][0] == "opened"
        pane.show_only("opened")
        assert len(pane.keys) == len(store.trades)
        assert pane.measure("6411", "opened", store) == store.trades["6411"].initial_units


async def test_what_could_not_be_read_is_unknown_and_nothing_is_reckoned_from_it() -> None:
    column = ValueColumn[int]("a", "a", 5, text=lambda n: f"{n}", unknown=lambda n: n < 0)
    async with shown(pane := Trades(), desk_store()):
        palette = pane.palette
    assert column.cell(3, palette, old=False)[0][0] == "3"
    assert column.cell(-3, palette, old=False)[0] == (UNKNOWN, palette["danger"])


async def test_a_value_by_price_is_faint_while_prices_are_stale() -> None:
    column = ValueColumn[int]("a", "a", 5, text=str, role="profit", by_price=True, at_stake=True)
    async with shown(pane := Trades(), desk_store()):
        palette = pane.palette
    assert column.cell(3, palette, old=True)[0][1] == palette["faint"]
    assert column.cell(3, palette, old=False)[0][1] == palette["profit"] + palette.at_stake


@pytest.mark.parametrize(
    ("width", "title"),
    [(20, "id price away stop"), (21, "id price  away stop"), (22, "id price  away  stop")],
)
def test_headings_that_would_touch_stand_two_cells_apart_where_there_is_room(
    width: int, title: str
) -> None:
    columns = (
        Column("id", "id", 2, right=False),
        *(Column(each, safe(each), len(each)) for each in ("price", "away", "stop")),
    )
    made = apart(columns, width - 2)
    assert " ".join(each.title.rjust(each.width) for each in made) == title


def test_headings_with_blanks_before_them_stay_where_they_are() -> None:
    columns = (Column("price", "price", 7), Column("stop", "stop", 8))
    assert apart(columns, 40) == columns


async def test_a_part_of_the_risk_that_rounds_to_nothing_has_no_colour() -> None:
    [column] = [each for each in TRADE_COLUMNS if each.key == "r"]
    store = desk_store()
    trade = replace(store.trades["6411"], r_multiple=Decimal("-0.04"))
    async with shown(pane := Trades(), store):
        palette = pane.palette
    text, style = column.cell(TradeLine(trade, store, 0), palette, old=False)[0]
    assert (text.strip(), style) == ("0.0", palette["plain"])
