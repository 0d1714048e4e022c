"""The page of all accounts, with each kind of account that it can show."""

from decimal import Decimal

import pytest

from keydesk.forms.account.all_accounts import AllAccountsPage
from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview
from support.fakes.form_app import FormApp

D = Decimal


def account(result: str | None, unprotected: int = 0) -> AccountOverview:
    return AccountOverview(
        "101-001-1-1",
        currency="USD",
        nav=D(10_000),
        unrealized_pl=None if result is None else D(result),
        open_risk=D(20),
        unprotected=unprotected,
    )


PROFILES = (
    ProfileOverview("main", "PRACTICE", (account("-8.5"),)),
    ProfileOverview("money", "LIVE", (account("12.25", unprotected=1), account("0"))),
    ProfileOverview(
        "new", "PRACTICE", (account(None), AccountOverview("101-001-1-9", why="timed out"))
    ),
    ProfileOverview("gone", "LIVE", why="the token vault is locked"),
)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 50)])
async def test_gains_losses_and_what_cannot_be_read_are_shown(size: tuple[int, int]) -> None:
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        page.expect([*(each.profile for each in PROFILES), "slow"])
        for each in PROFILES:
            page.show(each)
        await pilot.pause()
        shown = app.words
        for _ in range(40):
            await pilot.press("down")
            shown += app.words
        roles = {str(text).strip(): role for line in page.all_lines() for text, role in line}
    for text in ("−8.50", "+12.25", "1 without a stop", "timed out", "vault is locked", "slow"):
        assert text in shown, text
    assert (roles["−8.50"], roles["+12.25"]) == ("loss", "profit")


async def test_of_thousands_of_accounts_the_first_are_shown_and_the_rest_is_counted() -> None:
    page = AllAccountsPage("main")
    accounts = [AccountOverview(f"101-001-1-{number}", "not read") for number in range(9_000)]
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["main", "second"])
        page.show(ProfileOverview("main", "LIVE", accounts))
        page.show(ProfileOverview("second", "LIVE", why="the token vault is locked"))
        await pilot.pause()
        assert len(page.all_lines()) < 100
        await pilot.press("end")
        assert "and 8,950 accounts more of this token" in app.words
        assert "cannot be read: the token vault is locked" in app.words
