"""The page of all accounts, with each kind of account that it can show."""

from decimal import Decimal

import pytest

from keydesk.forms.account.account_columns import COLUMNS, DETAILS, AccountMoney
from keydesk.forms.account.all_accounts import AccountChoice, AllAccountsPage
from keydesk.forms.page_lines import width_of
from keydesk.forms.page_table import cells_of
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.text.format import money, percent
from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.walks import sampled, sampled_rows

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


@pytest.mark.parametrize(
    ("size", "loss", "profit"),
    sampled_rows(
        [((60, 16), "−8", "+12"), ((80, 24), "−8.50", "+12.25"), ((200, 50), "−8.50", "+12.25")], 1
    ),
)
async def test_gains_losses_and_what_cannot_be_read_are_shown(
    size: tuple[int, int], loss: str, profit: str
) -> None:
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        page.expect([*(each.profile for each in PROFILES), "slow"])
        for each in PROFILES:
            page.show(each)
        await pilot.pause()
        shown = app.words
        roles: dict[str, str] = {}
        for _ in range(40):
            await pilot.press("down")
            shown += app.words
            roles |= {str(text).strip(): role for line in page.lines() for text, role in line}
    for text in (loss, profit, "1 without a stop", "timed out", "vault is locked", "slow"):
        assert text in shown, text
    assert (roles[loss], roles[profit]) == ("loss", "profit")


async def test_sums_stand_by_kind_of_money_and_currency() -> None:
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        page.expect([each.profile for each in PROFILES])
        for each in PROFILES:
            page.show(each)
        await pilot.pause()
        totals = [line for line in app.words.splitlines() if " total " in line]
    figures = [line.split()[5:8] for line in totals]
    assert " LIVE  total of 2 " in totals[0]
    assert figures[0] == ["20,000.00", "USD", "+12.25"]
    assert "UNLIMITED" in totals[0]
    assert " PRACTICE  total of 2 " in totals[1]
    assert figures[1] == ["20,000.00", "USD", "–"]


async def test_each_column_has_its_own_figure() -> None:
    page = AllAccountsPage("main", "101-001-1-2")
    app = FormApp(lambda: page)
    unlike = AccountOverview(
        "101-001-1-2",
        currency="USD",
        nav=D(8000),
        unrealized_pl=D("7.5"),
        margin_used=D(2000),
        open_risk=D(30),
        trades=4,
        entry_orders=5,
    )
    async with app.run_test(size=(160, 35)) as pilot:
        page.expect(["main"])
        page.show(ProfileOverview("main", "PRACTICE", (unlike,)))
        await pilot.pause()
        head, row = (
            next(line for line in app.words.splitlines() if word in line)
            for word in ("open P/L", "7.50")
        )
    shown = {
        "NAV": "8,000.00",
        "open P/L": "+7.50",
        "margin used": "2,000.00",
        "open risk": "30.00",
        "trades": "4",
        "entries": "5",
    }
    for title, text in shown.items():
        assert row[: head.index(title) + len(title)].endswith(f" {text}"), title
    assert "25 %" in row
    assert row.rstrip(" │").endswith("open")


async def test_in_80_columns_margin_risk_trades_and_the_open_one_are_there() -> None:
    page = AllAccountsPage("main", "101-001-1-1")
    app = FormApp(lambda: page)
    rich = AccountOverview(
        "101-001-1-2",
        alias="a name of many letters",
        currency="JPY",
        nav=D("36214005.5"),
        unrealized_pl=D("-1204550"),
        margin_used=D("22090543.36"),
        open_risk=D("905350.14"),
        trades=14,
    )
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["main"])
        page.show(ProfileOverview("main", "PRACTICE", (account("-8.5"), rich)))
        await pilot.pause()
        lines = app.words.splitlines()
        head = next(line for line in lines if "open P/L" in line)
        own, other = (
            next(line for line in lines if word in line) for word in ("…01-1-1", "a name")
        )
    assert [each in head for each in ("margin", "open risk", "trades")] == [True] * 3
    assert own.rstrip(" │").endswith("open")
    for figure in ("36,214,006 JPY", "−1,204,550 ", "61 %", "905,350", "14"):
        assert figure in other, figure


async def test_the_profile_of_the_rows_in_sight_is_named_above_them() -> None:
    page = AllAccountsPage("main")
    accounts = tuple(AccountOverview(f"101-001-1-{number}", nav=D(1)) for number in range(40))
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["main", "money"])
        page.show(PROFILES[0])
        page.show(ProfileOverview("money", "LIVE", accounts))
        await pilot.press("end")
        lines = app.words.splitlines()
    at = next(number for number, line in enumerate(lines) if "LIVE  money   40 accounts" in line)
    assert "open P/L" in lines[at - 1]


async def test_enter_returns_the_chosen_account_and_the_open_one_is_marked() -> None:
    page = AllAccountsPage("money", "101-001-1-2")
    app = FormApp(lambda: page)
    accounts = tuple(AccountOverview(f"101-001-1-{number}", nav=D(1)) for number in (1, 2))
    async with app.run_test(size=(120, 35)) as pilot:
        page.expect(["main", "money"])
        page.show(PROFILES[0])
        page.show(ProfileOverview("money", "LIVE", accounts))
        await pilot.pause()
        rows = [line for line in app.words.splitlines() if "101-001-1-" in line][:3]
        assert [line.rstrip(" │").endswith("open") for line in rows] == [False, False, True]
        await pilot.press("j", "j", "k", "enter")
    assert app.results == [AccountChoice("money", "101-001-1-1")]


async def test_of_thousands_of_accounts_the_first_are_shown_and_the_rest_is_counted() -> None:
    page = AllAccountsPage("main")
    accounts = [AccountOverview(f"101-001-1-{number}", "not read") for number in range(9_000)]
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["main", "second"])
        page.show(ProfileOverview("main", "LIVE", accounts))
        page.show(ProfileOverview("second", "LIVE", why="the token vault is locked"))
        await pilot.pause()
        assert len(page.all_rows()) < 100
        await pilot.press("end")
        assert "and 8,950 accounts more of this token" in app.words
        assert "cannot be read: the token vault is locked" in app.words


HOSTILE = "\x1b[2J\x1b]0;title\x07\u202e世界\u0301\u0301\u0301 " + "x" * 200


@pytest.mark.parametrize("size", sampled([(60, 16), (80, 24), (120, 35), (200, 50)], 1))
async def test_hostile_names_are_shown_without_controls_and_keep_the_columns(
    size: tuple[int, int],
) -> None:
    named = AccountOverview(HOSTILE, alias=HOSTILE, currency=HOSTILE, nav=D(1), trades=3)
    unread = AccountOverview(HOSTILE, alias=HOSTILE, why=HOSTILE)
    page = AllAccountsPage(HOSTILE)
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        page.expect([HOSTILE, "other", "gone"])
        page.show(ProfileOverview(HOSTILE, "LIVE", (named, unread, account("-8.5"))))
        page.show(ProfileOverview("other", HOSTILE, (account("3"),)))
        page.show(ProfileOverview("gone", "LIVE", why=HOSTILE))
        for _ in range(6):
            await pilot.press("down")
            assert not {"\x1b", "\x07", "\u202e"} & set(app.words)
            table = [line for line in page.lines() if any("USD" in text for text, _ in line)]
            assert (
                len({width_of(line) for line in table}) <= 2
            )  # with the mark of the open one or without
            assert all(width_of(line) <= page.inside for line in table)


async def test_a_wide_window_has_balance_and_free_margin_in_the_table() -> None:
    page = AllAccountsPage("main")
    own = AccountOverview(
        "101-001-1-1",
        nav=D(100),
        balance=D("98.5"),
        margin_available=D("77.25"),
        unrealized_pl=D("1.5"),
        open_risk=D("2.25"),
        currency="EUR",
    )
    app = FormApp(lambda: page)
    async with app.run_test(size=(200, 50)) as pilot:
        page.expect(["main"])
        page.show(ProfileOverview("main", "PRACTICE", (own, own)))
        await pilot.pause()
        lines = app.words.splitlines()
    head = next(line for line in lines if "open P/L" in line)
    titles = ("P/L %", "risk %", "balance", "free", "closeout")
    assert [each in head for each in titles] == [True, True, True, True, False]
    assert sum("98.50" in line and "77.25" in line for line in lines) == 2
    assert sum(line.split().count("+1.50") == 2 for line in lines) == 2  # of 100 both are the same
    assert sum(line.split().count("2.25") == 2 for line in lines) == 2
    assert any("total of 2" in line and "197.00" in line and "154.50" in line for line in lines)


def several(count: int, environment: str, currency: str) -> ProfileOverview:
    accounts = tuple(
        AccountOverview(
            f"101-004-1234567-{number:03}", currency=currency, nav=D(1), unrealized_pl=D("1234.5")
        )
        for number in range(count)
    )
    return ProfileOverview(f"{environment} {currency}", environment, accounts)


async def shown(
    *profiles: ProfileOverview, size: tuple[int, int] = (80, 24), keys: tuple[str, ...] = ()
) -> list[str]:
    """The lines of the page with these profiles after these keys."""
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        page.expect([each.profile for each in profiles])
        for each in profiles:
            page.show(each)
        await pilot.press(*keys)
        await pilot.pause()
        return [line.strip("│ ") for line in app.words.splitlines()]


async def test_the_frame_says_which_row_of_how_many_is_chosen() -> None:
    lines = await shown(several(40, "LIVE", "USD"), keys=("down", "down"))
    assert "Accounts: 3 of 40" in lines[0]


async def test_totals_that_are_left_out_are_counted_and_the_rule_is_as_wide_as_the_table() -> None:
    kinds = [("LIVE", "USD"), ("LIVE", "GBP"), ("PRACTICE", "EUR")]
    lines = await shown(*(several(15, *kind) for kind in kinds), size=(80, 16))
    [rule] = [line for line in lines if line.startswith("──")]
    assert rule.startswith("── 2 of 3 totals ──")
    [total] = [line for line in lines if "total" in line and "GBP" in line]
    assert len(rule) == len(total) + len("▶  ")  # the mark, and the first cell of the band
    wide = await shown(*(several(5, *kind) for kind in kinds), size=(200, 50))
    assert not any("3 totals" in line for line in wide)
    assert sum("total " in line for line in wide) == 3


async def test_results_have_the_same_decimals_in_every_row() -> None:
    small = ProfileOverview("main", "PRACTICE", (account("-8.5"), account("12.25")))
    assert any("−8.50" in line for line in await shown(small))
    large = ProfileOverview("main", "PRACTICE", (account("-8.5"), account("-123456.5")))
    for size in ((80, 24), (120, 35)):
        lines = await shown(large, size=size)
        assert any("−8.50" in line for line in lines) == any(
            "−123,456.50" in line for line in lines
        )


async def test_a_wide_row_has_the_whole_number_of_the_account() -> None:
    lines = await shown(several(2, "LIVE", "USD"), size=(200, 50))
    assert sum("101-004-1234567-000" in line for line in lines) == 1
    assert sum("101-004-1234567-001" in line for line in lines) == 1


async def test_the_whole_number_stands_where_it_has_room_and_the_open_one_has_a_title() -> None:
    lines = await shown(several(5, "LIVE", "USD"), size=(120, 35))
    assert sum("101-004-1234567-003 " in line for line in lines) == 1
    narrow = await shown(several(5, "LIVE", "USD"), size=(60, 24))
    assert not any("101-004-1234567-003" in line for line in narrow)
    [head] = [line for line in await shown(PROFILES[0]) if "NAV" in line]
    assert head.endswith("state")


async def test_more_about_the_chosen_account_is_one_line_in_80_columns() -> None:
    for nav in (D("126691.94"), D("12126691.94")):
        own = AccountOverview(
            "101-004-81234-001",
            alias="swing",
            currency="USD",
            nav=nav,
            balance=nav,
            margin_available=nav,
            closeout_percent=D("0.175"),
            entry_orders=4,
        )
        lines = await shown(ProfileOverview("main", "PRACTICE", (own,)))
        [line] = [line for line in lines if "balance" in line]
        assert line.endswith("closeout 17.5 %  entries 4")


async def test_amounts_of_yen_have_no_decimals_and_keep_their_place_below_those_with_cents() -> (
    None
):
    yen = AccountOverview(
        "101-001-1-2", currency="JPY", nav=D("35569.74"), unrealized_pl=D("938.34")
    )
    lines = await shown(ProfileOverview("main", "PRACTICE", (account("8.5"), yen)), size=(120, 35))
    dollars, yens = (next(each for each in lines if word in each) for word in (" USD", " JPY"))
    dollars = dollars.removeprefix("▶ ")
    assert yens.index("35,570 ") == dollars.index("10,000.00")
    assert "+938 " in yens
    assert "938.34" not in yens


async def test_figures_that_cannot_be_read_again_stay_dimmed_with_their_age() -> None:
    now = 100.0
    page = AllAccountsPage("main", clock=lambda: now)
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        page.expect(["main"])
        page.show(ProfileOverview("main", "PRACTICE", (account("-8.5"), account("12.25"))))
        assert "as of" not in app.words
        now += 40
        page.show(ProfileOverview("main", "PRACTICE", why="its broker does not answer"))
        await pilot.pause()
        [head] = [line for line in app.words.splitlines() if "2 accounts" in line]
        assert head.strip("│ ").endswith("as of 40s ago: its broker does not answer")
        roles = {str(text).strip(): role for line in page.lines() for text, role in line}
        assert {roles[text] for text in ("−8.50", "+12.25", "+3.75")} == {"muted"}
        page.show(ProfileOverview("main", "PRACTICE", (account("-9.5"),)))
        await pilot.pause()
        assert "as of" not in app.words
        assert "−9.50" in app.words


async def test_in_80_columns_an_account_is_named_alone_unless_another_one_has_its_name() -> None:
    named = [
        AccountOverview(f"101-004-81234-{n:03}", alias=alias, currency="USD", nav=D("126691.94"))
        for n, alias in enumerate(("swing", "swing", "Practice, hedging", ""))
    ]
    lines = await shown(ProfileOverview("main", "PRACTICE", tuple(named)))
    rows = [line.removeprefix("▶ ").split("  ")[0] for line in lines if " USD" in line]
    assert rows[:4] == ["…4-000 swing", "…4-001 swing", "Practice, hedging", "…4-003"]


async def test_the_margin_used_is_a_bar_on_the_whole_value() -> None:
    own = AccountOverview("1", currency="USD", nav=D(100), margin_used=D(25), alias="swing")
    for size, bar in (((80, 24), "━━──────"), ((120, 35), "━━━━────────────")):
        [row] = [
            line
            for line in await shown(ProfileOverview("main", "PRACTICE", (own,)), size=size)
            if "25 %" in line
        ]
        assert f"25 % {bar} " in row


async def test_the_row_of_the_open_account_has_the_figures_of_the_first_line() -> None:
    store = example_store()
    assert store.account is not None
    read = AccountOverview(store.account.id, currency="USD", nav=D(1), unrealized_pl=D("-1.90"))
    page = AllAccountsPage("main", store.account.id, store, clock=lambda: 100.0)
    app = FormApp(lambda: page)
    async with app.run_test(size=(120, 35)) as pilot:
        page.expect(["main"])
        page.show(ProfileOverview("main", "PRACTICE", (read, account("3"))))
        for result in ("-1.80", "-1.70"):
            store.account.unrealized_pl = D(result)
            page.on_frame(Frame(store, {Topic.ACCOUNT: frozenset((None,))}, 100.0, 0))
            await pilot.pause()
            [row] = [line for line in app.words.splitlines() if line.rstrip(" │").endswith("open")]
            assert result.replace("-", "−") in row
            assert money(store.account.nav) in row
        assert "Accounts: 1 of 2, read 0s ago" in app.words


async def test_a_warning_says_what_the_totals_lack() -> None:
    unread = AccountOverview("101-004-81234-045", why="timed out")
    profiles = (
        ProfileOverview("money", "LIVE", (account("1"), account("2"), unread)),
        ProfileOverview("gone", "LIVE", why="the token vault is locked"),
    )
    lines = await shown(*profiles, keys=("end",))
    [title] = [line for line in lines if "Accounts: " in line]
    assert "Accounts: 3, read 0s ago" in title  # of accounts: a locked profile is none
    [total] = [n for n, line in enumerate(lines) if "total " in line]
    assert lines[total + 1].startswith("totals without …4-045, gone")
    whole = await shown(ProfileOverview("money", "LIVE", (account("1"), account("2"))))
    assert not any("without" in line for line in whole)


def test_a_small_share_is_not_written_as_none_and_a_rounded_result_has_the_colour_of_its_text() -> (
    None
):
    of = AccountOverview(
        "1", currency="USD", nav=D(100_000), margin_used=D("378.38"), unrealized_pl=D("-1.70")
    )
    cells = cells_of(COLUMNS, AccountMoney([of], (), "plain", DETAILS[0]))
    assert cells["share"][0] == ("  <1 %", "plain")
    assert cells["result-share"] == ((percent(D(0)), "muted"),)
    assert cells["open"][0][1] == "loss"


async def test_the_chosen_account_stays_chosen_when_a_profile_above_it_is_read() -> None:
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["money", "main"])
        page.show(PROFILES[0])
        await pilot.press("down")
        page.show(PROFILES[1])
        await pilot.press("enter")
    assert app.results == [AccountChoice("main", "101-001-1-1")]


async def test_a_profile_that_was_chosen_before_it_was_read_stays_chosen() -> None:
    page = AllAccountsPage("main")
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)) as pilot:
        page.expect(["money", "main", "gone"])
        await pilot.press("down")
        for each in (1, 0, 3):
            page.show(PROFILES[each])
        await pilot.press("enter")
    assert app.results == [AccountChoice("main", "101-001-1-1")]
