"""Closing a position by the keys: its sides, its parts, what is realized and what remains."""

from dataclasses import replace

import pytest

from keydesk.calc.orders.instructions import ClosePosition
from keydesk.forms.trades.close_position import ClosePositionForm
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk_client.account.valuation import rebuild_position
from support.data.desk_store import D, example_store, long_euro
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

Kind = type[ClosePositionForm] | type[PositionPartForm]
SIZES = [(80, 24), (120, 35), (200, 50)]


def two_longs() -> Store:
    """20,000 at 1.08440 and, later, 10,000 at 1.08300."""
    store = example_store()
    newer = replace(long_euro(), id="6420", units=D(10_000), price=D("1.08300"), stop_loss=None)
    store.trades["6420"] = newer
    rebuild_position(store, "EUR_USD")
    return store


def hedged_store() -> Store:
    """20,000 long and 5,000 short."""
    store = example_store()
    short = replace(long_euro(), id="6421", units=D(-5_000), stop_loss=None, take_profit=None)
    store.trades["6421"] = short
    rebuild_position(store, "EUR_USD")
    assert store.account is not None
    store.account.hedging = True
    return store


async def after(
    kind: Kind, *keys: str, store: Store | None = None, size: tuple[int, int] = (80, 24)
) -> FormApp:
    app = FormApp(lambda: kind(example_context(store or two_longs()), "EUR_USD"))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


@pytest.mark.parametrize("size", SIZES)
async def test_c_y_closes_the_position_and_says_so(size: tuple[int, int]) -> None:
    text = (await after(ClosePositionForm, size=size)).last_text
    assert "CLOSE position EUR/USD LONG 30,000 at market" in text
    assert "average 1.08393" in text
    assert "2 trades" in text
    assert "realizes +29.00 USD at the price seen" in text
    assert "3 protective orders are cancelled too" in text
    app = await after(ClosePositionForm, "y", size=size)
    assert app.results == [ClosePosition("EUR_USD", long_units="ALL")]


async def test_a_hedged_position_closes_both_sides_or_the_one_chosen() -> None:
    assert (await after(ClosePositionForm, "y", store=hedged_store())).results == [
        ClosePosition("EUR_USD", long_units="ALL", short_units="ALL")
    ]
    app = await after(ClosePositionForm, "s", "y", store=hedged_store())
    assert app.results == [ClosePosition("EUR_USD", short_units="ALL")]
    app = await after(ClosePositionForm, "s", "l", "y", store=hedged_store())
    assert app.results == [ClosePosition("EUR_USD", long_units="ALL")]
    text = (await after(ClosePositionForm, store=hedged_store())).last_text
    assert "CLOSE position EUR/USD LONG 20,000 and SHORT 5,000 at market" in text
    assert "realizes +7.00 USD" in text  # +10.00 and −3.00, each at its own side's price


async def test_a_side_that_closed_meanwhile_is_not_named() -> None:
    store = hedged_store()
    app = FormApp(lambda: ClosePositionForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        del store.trades["6421"]
        rebuild_position(store, "EUR_USD")
        await pilot.press("y")
    assert app.results == [ClosePosition("EUR_USD", long_units="ALL")]


@pytest.mark.parametrize("level", ["ARMED", "DISARMED"])
async def test_a_position_closes_at_every_level_with_no_price_at_all(level: str) -> None:
    store = two_longs()
    store.arming = Arming("ARMED" if level == "ARMED" else "DISARMED")
    store.quotes.clear()
    app = await after(ClosePositionForm, "y", store=store)
    assert app.results == [ClosePosition("EUR_USD", long_units="ALL")]
    assert "No price seen yet" in (await after(ClosePositionForm, store=store)).last_text
    app = await after(PositionPartForm, "5", "y", store=store)
    assert app.results == [ClosePosition("EUR_USD", long_units=D(15_000))]


async def test_a_position_that_is_gone_is_said_so() -> None:
    store = two_longs()
    store.positions.clear()
    for kind in (ClosePositionForm, PositionPartForm):
        app = await after(kind, "y", store=store)
        assert app.results == []
        assert "closed already" in app.last_text


@pytest.mark.parametrize(
    ("keys", "closed"),
    sampled_rows(
        [
            ("2", 7_500),
            ("5", 15_000),
            ("7", 22_500),
            ("33%", 9_900),
            ("12.5%", 3_750),
            ("12345u", 12_345),
            ("25000u", 25_000),
            ("70%", 21_000),
        ],
        3,
    ),
)
async def test_a_part_of_the_position_is_chosen_by_percent_or_units(keys: str, closed: int) -> None:
    app = await after(PositionPartForm, *keys, "y")
    assert app.results == [ClosePosition("EUR_USD", long_units=D(closed))]


@pytest.mark.parametrize("keys", ["100%", "30000u"])
async def test_all_of_a_part_is_all(keys: str) -> None:
    app = await after(PositionPartForm, *keys, "y")
    assert app.results == [ClosePosition("EUR_USD", long_units="ALL")]


@pytest.mark.parametrize("size", SIZES)
async def test_a_part_shows_what_it_realizes_and_what_remains(size: tuple[int, int]) -> None:
    text = (await after(PositionPartForm, *"25000u", size=size)).last_text
    assert "CLOSE 25,000 units of position EUR/USD LONG 30,000" in text
    assert "closes 25,000 realizes +19.50 USD" in text
    assert "remains 5,000" in text
    assert (
        "2 protective orders are cancelled too" in text
    )  # of the older trade, which is closed in full


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            ("", "Choose: 2 5 7"),
            ("70", "% or u takes the 70 typed"),
            ("150%", "more than the whole position: C closes the whole position"),
            ("30001u", "more than the 30,000 open"),
            ("1.5u", "more decimals than EUR/USD takes"),
            ("1.2.3u", "1.2.3 has more than one decimal point"),
            ("0u", "part: 0 is not above 0"),
            ("0.001%", "less than one unit: C closes the whole position"),
        ],
        3,
    ),
)
async def test_what_is_no_part_sends_nothing_and_says_why(keys: str, why: str) -> None:
    app = await after(PositionPartForm, *keys, "y")
    assert app.results == []
    assert why in " ".join(app.last_text.replace("┃", " ").split())


async def test_a_digit_typed_after_a_chosen_part_drops_the_part() -> None:
    assert (await after(PositionPartForm, "7", "0", "y")).results == []
    assert (await after(PositionPartForm, "7", "0", "backspace", "backspace", "5", "y")).results


async def test_a_hedged_position_asks_which_side_a_part_is_of() -> None:
    app = await after(PositionPartForm, "5", "y", store=hedged_store())
    assert app.results == []
    assert "choose the side with l long or s short" in app.last_text
    app = await after(PositionPartForm, "s", "5", "y", store=hedged_store())
    assert app.results == [ClosePosition("EUR_USD", short_units=D(2_500))]
    app = await after(PositionPartForm, "5", "l", "y", store=hedged_store())
    assert app.results == [ClosePosition("EUR_USD", long_units=D(10_000))]


async def test_a_chosen_side_that_closes_is_never_exchanged_for_the_other() -> None:
    store = hedged_store()
    app = FormApp(lambda: PositionPartForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "5")
        del store.trades["6421"]
        rebuild_position(store, "EUR_USD")
        await pilot.press("y")
        assert "The short side is closed already" in app.words
    assert app.results == []
