"""The first line on a small screen: what a trader would miss first is there before the spaces are wide."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.panes.strips.account import AccountStrip, FundsLine
from keydesk.store.store import Store
from keydesk.text.sanitize import clean_name
from support.data.desk_data import desk_store
from support.fakes.pane_app import shown, text_of
from support.resizing import resize
from support.walks import sampled

D = Decimal


def a_store(*, unprotected: int = 0) -> Store:
    store = desk_store()
    assert store.account is not None
    store.account = replace(
        store.account,
        nav=D("99778.66"),
        unrealized_pl=D("-221.34"),
        day_pl=D("-221.34"),
        margin_closeout_percent=D("0.15"),
        unprotected_trades=unprotected,
    )
    return store


def items_of(line: str) -> list[str]:
    return [part.strip() for part in line.split("  ") if part.strip()]


async def test_eighty_columns_hold_the_result_of_the_day_and_the_margin() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(), size=(80, 3)):
        line = text_of(pane)[0]
    assert "uPL −221.34  day −221.34  margin 1%" in line


async def test_a_small_margin_is_not_written_as_none() -> None:
    store = a_store()
    assert store.account is not None
    store.account = replace(store.account, margin_used=D("378.38"))
    pane = AccountStrip()
    async with shown(pane, store, size=(80, 3)):
        assert "margin <1%" in text_of(pane)[0]


async def test_a_hundred_columns_hold_the_risk_as_well() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(), size=(100, 3)):
        assert "risk 0.03%" in text_of(pane)[0]


async def test_a_trade_without_a_stop_is_told_even_in_eighty_columns() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(unprotected=1), size=(80, 3)):
        assert " 1 no stop !  day −221.34 " in text_of(pane)[0]


async def test_the_risk_of_a_trade_without_a_stop_is_unlimited_not_nothing() -> None:
    pane = AccountStrip()
    async with shown(pane, a_store(unprotected=1), size=(120, 3)):
        assert "risk UNLIMITED" in text_of(pane)[0]


ALIASES = {
    "none": "",
    "short": "main",
    "long": "Æ" * 200,
    "wide": "漢字" * 90,
    "control characters": "\x1b[2J\n evil \u202e",
    "combining": "e\u0301" * 80,
}


@pytest.mark.parametrize("kind", sampled(ALIASES, 2))
async def test_the_alias_goes_first_and_the_accounts_digits_never(kind: str) -> None:
    store, pane, alias = a_store(), AccountStrip(), ALIASES[kind]
    assert store.account is not None
    store.account = replace(store.account, alias=clean_name(alias))
    async with shown(pane, store, size=(250, 3)) as pilot:
        for width in (250, 180, 131, 117, 109, 101, 88, 74, 60, 53, 40):
            await resize(pilot, width, 3)
            await pilot.pause()
            strip = pane.render_line(0)
            assert strip.cell_length == width
            assert "PRACTICE" in strip.text
            assert "…7-042" in strip.text
            if width >= 60:
                assert ("NAV" if width >= 84 else "USD") + " 99,778.66" in strip.text
            if width < 110:
                assert alias[:4] not in strip.text or not alias
            if width >= 100:
                assert all(word in strip.text for word in ("day", "margin", "risk"))


async def test_a_short_band_leaves_the_figures_to_their_own_line() -> None:
    store, pane, funds = a_store(unprotected=1), AccountStrip(), FundsLine()
    pane.is_short = True
    async with shown(pane, store, size=(40, 3)):
        assert items_of(text_of(pane)[0]) == ["PRACTICE", "main", "…7-042", "USD", "ARMED"]
    async with shown(funds, store, size=(40, 3)):
        assert items_of(text_of(funds)[0]) == ["NAV 99,778.66", "uPL −221.34"]


async def test_the_home_currency_stands_in_the_band_at_every_width() -> None:
    for width in (40, 60, 80, 100, 120, 200):
        pane = AccountStrip()
        pane.is_short = width < 80
        async with shown(pane, a_store(), size=(width, 3)):
            assert "USD" in text_of(pane)[0], width
