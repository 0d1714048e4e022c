"""The choice of indicators, driven by keys alone."""

import pytest

from keydesk.calc.market.indicator_specs import IndicatorChoice, parse_indicators
from keydesk.forms.market.indicators import IndicatorForm, rows_of, specs_of
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.walks import sampled_rows


async def after(*keys: str, chosen: tuple[str, ...] = (), width: int = 80) -> FormApp:
    store = example_store()
    store.focus = "EUR_USD"
    store.set_indicators("EUR_USD", parse_indicators(chosen))
    app = FormApp(lambda: IndicatorForm(store))
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.words
    return app


def texts(app: FormApp) -> list[str]:
    [choice] = app.results
    assert isinstance(choice, IndicatorChoice)
    return [each.text for each in choice.specs]


async def test_what_is_on_is_kept_by_enter() -> None:
    app = await after("space", "down", "space", "enter")
    assert app.results == [IndicatorChoice("EUR_USD", parse_indicators(("ema 20", "ema 50")))]


async def test_digits_replace_a_period_and_turn_the_indicator_on() -> None:
    assert texts(await after("1", "0", "enter")) == ["ema 10"]


async def test_tab_goes_through_the_numbers() -> None:
    keys = (*["down"] * 4, "2", "5", "tab", *"2.5", "enter")
    assert texts(await after(*keys)) == ["bb 25 2.5"]


async def test_tab_goes_on_to_the_next_row_that_has_numbers_and_back() -> None:
    pivots = ["down"] * 6
    assert texts(await after(*pivots, "tab", "8", "enter")) == ["rsi 8"]
    assert texts(await after(*pivots, "shift+tab", "8", "enter")) == ["donchian 8"]
    assert texts(await after("shift+tab", "8", "enter")) == ["atr 8"]


async def test_what_was_chosen_is_shown_and_can_be_turned_off() -> None:
    app = await after(chosen=("ema 9", "rsi 7"))
    assert "[x] EMA          [   9]" in app.last_text
    assert "[x] RSI              7" in app.last_text
    assert texts(await after("space", "enter", chosen=("ema 9", "rsi 7"))) == ["rsi 7"]


async def test_nothing_may_be_chosen() -> None:
    assert texts(await after("space", "enter", chosen=("ema 20",))) == []


async def test_a_choice_for_every_instrument_says_so() -> None:
    app = await after("a")
    assert "Indicators of every instrument" in app.last_text
    assert "a only EUR/USD" in app.last_text
    app = await after("space", "a", "enter")
    assert app.results == [IndicatorChoice("EUR_USD", parse_indicators(("ema 20",)), True)]


async def test_a_third_pane_under_the_price_is_refused_and_the_form_stays() -> None:
    keys = [*["down"] * 8, "space", "down", "space", "down", "space", "enter"]
    app = await after(*keys)
    assert app.results == []
    assert "only 2 fit under the price, leave out 1" in " ".join(app.last_text.split())
    assert len(texts(await after(*keys, "space", "enter"))) == 2


@pytest.mark.parametrize(
    ("keys", "text"),
    sampled_rows(
        [
            (("backspace", "enter"), "✗ ema: a number is missing"),
            (("0", "enter"), "✗ 'ema 0': a period is a whole number of candles from 1 to 400"),
            ((*"1,5", "enter"), "✗ 'ema 1,5': '1,5' is not a number"),
            ((*"50", "down", "space", "enter"), "✗ 'ema 50' is listed twice: leave one out"),
        ],
        2,
    ),
)
async def test_a_period_that_is_none_is_named(keys: tuple[str, ...], text: str) -> None:
    app = await after(*keys)
    assert app.results == []
    assert text in app.last_text


async def test_escape_changes_nothing() -> None:
    assert (await after("space", "escape")).results == [None]


async def test_letters_that_mean_money_on_the_desk_mean_nothing_here() -> None:
    app = await after("B", "y", "X")
    assert app.results == []
    assert "Indicators of EUR/USD" in app.last_text


async def test_every_row_stands_whole_on_80_columns() -> None:
    text = (await after()).last_text
    assert "high, low, close of the day before" in text
    assert "fast, slow, signal; under price" in text
    assert "a all instruments  Esc drops" in text
    assert "…" not in text


@pytest.mark.parametrize(
    "chosen", [(), ("ema 20", "ema 50", "ema 200"), ("ema 5", "ema 6", "ema 7", "ema 8", "macd")]
)
def test_the_rows_hold_what_was_chosen(chosen: tuple[str, ...]) -> None:
    specs = parse_indicators(chosen)
    rows = rows_of(specs)
    assert specs_of(rows) == specs
    assert sum(row.kind == "ema" for row in rows) == max(3, sum("ema" in each for each in chosen))
