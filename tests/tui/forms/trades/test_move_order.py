"""Moving an entry order: its units and its trailing stop, and what is left alone, changed or removed."""

from decimal import Decimal

import pytest

from keydesk.calc.orders.instructions import MoveEntry
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.protection import ProtectionForm
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal


async def after(keys: str, *, trail: str = "") -> FormApp:
    store = example_store()
    if trail:
        store.orders["6415"].trail = D(trail)
    app = FormApp(lambda: MoveForm(example_context(store), "6415"))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys.split():
            await pilot.press(*([key] if len(key) > 1 and key.isalpha() else key))
        app.last_text = app.said
    return app


async def test_units_are_changed_and_all_else_is_left_alone() -> None:
    app = await after("u 30000 y")
    [move] = app.results
    assert move == MoveEntry(
        "6415", "EUR_USD", D("1.08200"), D("1.08000"), D("1.08600"), units=D(30_000)
    )
    assert move.trail is UNSET
    text = (await after("u 30000")).last_text
    assert "30,000 units 20,000 → 30,000" in text


async def test_a_trailing_stop_is_added_changed_and_removed() -> None:
    [added] = (await after("r 25 y")).results
    assert isinstance(added, MoveEntry)
    assert added.trail == D("0.00250")
    assert "25.0 pips → 30.0 pips" in (await after("r 30", trail="0.00250")).last_text
    app = await after("r backspace y", trail="0.00250")
    assert "25.0 pips → REMOVED" in (await after("r backspace", trail="0.00250")).last_text
    [gone] = app.results
    assert isinstance(gone, MoveEntry)
    assert gone.trail is None


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            ("u backspace", "units: the size is missing"),
            ("u 0.5", "units: 0.5 has more decimals"),
            ("u 999999999", "units: the maximum order size is 100,000,000"),
            ("u 1.2.3", "units: 1.2.3 has more than one decimal point"),
            ("r 1", "Trailing distance below the broker's minimum"),
            ("r 1,5", "trail: 1,5 has a comma"),
        ],
        2,
    ),
)
async def test_what_cannot_be_sent_names_its_field(keys: str, why: str) -> None:
    app = await after(f"{keys} y c")
    assert app.results == []
    assert why in app.last_text.replace("┃\n┃ ", "")


async def test_a_protection_that_is_taken_away_says_so() -> None:
    app = FormApp(lambda: ProtectionForm(example_context(), "6411"))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "as it is" in app.words
        await pilot.press("t", "backspace")
        assert "1.08900 → REMOVED" in app.words


async def test_time_in_force_and_trigger_change_alone() -> None:
    app = await after("g 4h enter i i y")
    [move] = app.results
    assert isinstance(move, MoveEntry)
    assert move.lifetime == Lifetime("GTD", WALL_NS + 4 * 3_600_000_000_000)
    assert (move.price, move.trigger) == (D("1.08200"), "INVERSE")
    text = (await after("e e")).last_text
    assert "e until good for the day" in text
    assert "No change yet" in (await after("e e e e e e")).last_text


@pytest.mark.parametrize("keys", ["p 0", "u 0"])
async def test_a_number_that_is_not_above_zero_is_no_missing_average_range(keys: str) -> None:
    text = (await after(keys)).last_text
    assert "✗ cannot be read" in text
    assert "ATR" not in text
