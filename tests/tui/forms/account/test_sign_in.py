"""The lists of signing in: a line is chosen by arrows or by its first letter, and Enter alone takes it."""

import pytest

from keydesk.forms.account.sign_in import ChoiceForm, Chosen, ProfileForm
from keydesk.text.sanitize import safe
from support.fakes.form_app import FormApp
from support.walks import crossed, sampled_rows

ENVIRONMENTS = ("practice   practice money", "live   real money", "custom   another host")


def choice() -> ChoiceForm:
    return ChoiceForm("Sign in: main", [safe(each) for each in ENVIRONMENTS])


@pytest.mark.parametrize(
    ("keys", "row"),
    sampled_rows(
        [
            ("", 0),
            ("l", 1),
            ("cp", 0),
            ("C", 2),
            ("lx1", 1),  # no row begins with them
            ("jj", 2),
            ("ck", 1),
        ],
        3,
    ),
)
async def test_a_letter_goes_to_the_row_that_begins_with_it(keys: str, row: int) -> None:
    app = FormApp(choice)
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press(*keys)
        assert app.results == []
        await pilot.press("enter")
    assert app.results == [Chosen(row)]


async def test_a_letter_that_has_a_meaning_keeps_it_and_a_mark_before_the_row_is_no_letter() -> (
    None
):
    app = FormApp(
        lambda: ProfileForm("Open another account", [safe("● PRACTICE"), safe("  LIVE  a")])
    )
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press("l", "a")
    assert app.results == [Chosen(1, other=True)]


@pytest.mark.parametrize(
    ("size", "count"), crossed([(20, 5), (20, 6), (40, 12), (60, 16), (120, 35)], [2, 3, 10_000])
)
async def test_the_row_that_would_be_taken_is_seen_in_every_window(
    size: tuple[int, int], count: int
) -> None:
    rows = [safe(f"row {number}") for number in range(count)]
    hint = safe("Positions, orders and stops stay as they are at the broker.")
    app = FormApp(lambda: ChoiceForm("Sign out", rows, [hint]))
    async with app.run_test(size=size) as pilot:
        shown = app.words
        assert "row 0" in shown
        assert "row 1" in shown
        assert ("Positions, orders" in shown) is (size >= (40, 12))
        await pilot.press("j")
        assert "▶ row 1" in app.words
