"""The first line on a small screen: what a trader would miss first is there before the spaces are wide."""

from dataclasses import replace
from decimal import Decimal

from keydesk.panes.strips import AccountStrip
from keydesk.store.store import Store
from support.data.desk_data import desk_store
from support.fakes.pane_app import shown, text_of

D = Decimal


def a_store(*, naked: int = 0) -> Store:
    store = desk_store()
    assert store.account is not None
    store.account = replace(
        store.account,
        nav=D("99778.66"),
        unrealized_pl=D("-221.34"),
        day_pl=D("-221.34"),
        margin_closeout_percent=D("0.15"),
        naked_trades=naked,
    )
    return store


async def test_eighty_columns_hold_the_days_result_as_well() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(), size=(80, 3)):
        assert "day −221.34" in text_of(pane)[0]


async def test_the_closeout_is_not_lost_to_spaces() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(), size=(120, 3)):
        assert "closeout 15%" in text_of(pane)[0]


async def test_a_trade_without_a_stop_is_told_even_in_eighty_columns() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(naked=1), size=(80, 3)):
        assert "1 without a stop !" in text_of(pane)[0]
