"""The list of all candle lengths, driven by keys alone."""

import pytest

from keydesk.calc.market.granularity import SECONDS
from keydesk.forms.market.timeframes import GROUPS, TimeframeForm, words_of
from support.fakes.form_app import FormApp
from support.walks import crossed, sampled_rows


async def after(*keys: str, now: str = "H4", size: tuple[int, int] = (80, 24)) -> FormApp:
    app = FormApp(lambda: TimeframeForm(now))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        app.last_text = app.words
    return app


def test_the_rows_hold_every_length_once_shortest_first() -> None:
    assert [name for group in GROUPS for name in group] == list(SECONDS)


@pytest.mark.parametrize(("size", "now"), crossed([(40, 12), (80, 24)], ["S5", "H4", "M", "?", ""]))
async def test_the_present_one_is_marked(size: tuple[int, int], now: str) -> None:
    app = await after(now=now, size=size)
    shown = app.last_text
    assert (f"x{now}" in shown) == (now in SECONDS)


@pytest.mark.parametrize(
    ("keys", "chosen"),
    sampled_rows(
        [
            (["enter"], "H4"),
            (["l", "enter"], "H6"),
            (["left", "enter"], "H3"),
            (["k", "enter"], "M5"),
            (["j", "enter"], "M"),
            (["k"] * 9 + ["h"] * 9 + ["enter"], "S5"),
            (["down"] * 9 + ["right"] * 30 + ["enter"], "M"),
        ],
        3,
    ),
)
async def test_keys_move_along_a_unit_and_between_units(keys: list[str], chosen: str) -> None:
    assert (await after(*keys)).results == [chosen]


async def test_escape_changes_nothing() -> None:
    assert (await after("l", "escape")).results == [None]


def test_each_length_is_told_in_words() -> None:
    assert [words_of(each) for each in ("S5", "M1", "M15", "H12", "D")] == [
        "5 seconds",
        "1 minute",
        "15 minutes",
        "12 hours",
        "1 day, from 17:00 New York",
    ]
