"""The pages that look: every figure has its unit, exposure adds up to nothing, and all of it fits a small terminal."""

from decimal import Decimal

import pytest

from keydesk.calc.risk.exposure import Holding, exposure_of
from keydesk.forms.account.pages import (
    LivePage,
    account_rows,
    exposure_rows,
    instrument_page_rows,
    summary_rows,
)
from keydesk.store.store import Store
from support.data.desk_store import NOW, example_store
from support.fakes.form_app import FormApp

D = Decimal


def as_text(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in rows)


def test_the_account_page_has_figures_counts_and_the_distance_to_the_closeout() -> None:
    text = as_text(account_rows(example_store(), NOW))
    for line in (
        "NAV: 10,000.00 USD",
        "margin used: 722.58 USD  7.23 % of NAV",
        "kind: netting",
        "closeout by EUR/USD: at 0.",
        "pips away, others as they are",
        "trades 2, positions 2, entry orders 1, protective orders 0",
    ):
        assert line in text
    assert "░░" in text


def test_an_account_that_was_empty_at_the_start_of_the_day_has_no_value_then() -> None:
    store = example_store()
    account = store.account
    assert account is not None
    account.day_pl, account.day_start_nav = D(0), D(0)
    assert "NAV at 17:00 NY: none: opened or funded since" in as_text(account_rows(store, NOW))


def test_the_worked_exposure_of_three_positions() -> None:
    held = exposure_of(
        [
            Holding("EUR_USD", D(50_000), D("1.08495")),
            Holding("USD_JPY", D(-38_608), D("155.207")),
            Holding("EUR_GBP", D(39_255), D("0.85607")),
        ]
    )
    shown = {currency: amount.quantize(D("0.1")) for currency, amount in held.items()}
    assert shown == {
        "EUR": D("89255.0"),
        "USD": D("-92855.5"),
        "JPY": D("5992231.9"),
        "GBP": D("-33605.0"),
    }


def test_exposure_has_units_home_share_and_adds_up_to_nothing() -> None:
    store = example_store()
    text = as_text(exposure_rows(store, NOW))
    assert "EUR long" in text
    assert "USD short" in text
    assert "JPY long" in text
    assert "sum of all: 0.00 USD" in text
    assert "if all stops are hit: −48.00 USD" in text


def test_without_a_position_there_is_no_exposure() -> None:
    store = example_store()
    store.positions.clear()
    assert exposure_rows(store, NOW) == [("exposure", "none: no position is open")]


def test_the_instrument_page_has_a_unit_for_every_number() -> None:
    text = as_text(instrument_page_rows("EUR_USD", example_store(), NOW, D(50_000)))
    for line in (
        "spread: 1.0 pips",
        "one pip of 10,000: 1.0000 USD",
        "margin in force: 3.33 %, 30 to 1",
        "trailing distance: 5.0 to 10,000.0 pips",
        "guaranteed stop: not offered",
        "held: long +20,000, short 0 units",
    ):
        assert line in text


def test_every_member_that_the_broker_sent_is_shown() -> None:
    assert summary_rows({"marginCallEnterTime": None})[1:] == [("marginCallEnterTime", "–")]
    rows = summary_rows({"withdrawalLimit": "9000", "openTradeCount": 2})
    assert rows[1:] == [("withdrawalLimit", "9000"), ("openTradeCount", "2")]


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50)])
async def test_a_page_fits_and_follows(size: tuple[int, int]) -> None:
    store: Store = example_store()
    app = FormApp(lambda: LivePage("Account", lambda: account_rows(store, NOW)))
    async with app.run_test(size=size) as pilot:
        assert "NAV at mid prices" in app.words
        page = app.screen
        assert isinstance(page, LivePage)
        page.take_more([("as the broker sent it", "")])
        await pilot.press("end")
        assert "as the broker sent it" in app.words
