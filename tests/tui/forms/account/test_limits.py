"""The page of limits, driven by keys alone."""

import dataclasses
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.daily_loss import LossLock
from keydesk.calc.orders.limits import LIMIT_FIELDS
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.limits import LimitChange, with_limit
from keydesk.forms.account.limits import LimitsForm
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled, sampled_rows

D = Decimal


async def after(
    *keys: str, limits: Limits | None = None, size: tuple[int, int] = (80, 24)
) -> FormApp:
    store = example_store()
    store.focus = "EUR_USD"
    context = replace(example_context(store), limits=limits or Limits())
    app = FormApp(lambda: LimitsForm(context))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        app.last_text = app.words
    return app


async def test_digits_set_a_limit_and_enter_keeps_it() -> None:
    app = await after("3", "0", "0", "down", "2", ".", "5", "enter")
    assert app.results == [
        (LimitChange("daily_loss", D(300)), LimitChange("daily_loss_percent", D("2.5")))
    ]


async def test_space_takes_a_limit_away() -> None:
    app = await after("space", "enter", limits=Limits(daily_loss=D(300)))
    assert app.results == [(LimitChange("daily_loss", None),)]


async def test_without_a_change_nothing_is_kept() -> None:
    assert (await after("enter")).results == [()]
    assert (await after("5", "escape")).results == [None]


@pytest.mark.parametrize(
    ("keys", "text"),
    sampled_rows(
        [
            (("0",), "daily_loss: 0 is not above 0"),
            (("1", "."), ""),
            (("1", ",", "5"), "has a comma"),
            (("down", "down", "1", ".", "5"), "cool_off_losses: 1.5 is not a whole number"),
            (tuple("1" * 13), "has over 12 digits"),  # the desk would refuse its own file
            (tuple("0.0000000000001"), "has over 12 digits"),
            (("down", "down", "down", "space"), "cool_off_minutes cannot be off"),
        ],
        3,
    ),
)
async def test_what_is_no_limit_is_refused_with_its_name(keys: tuple[str, ...], text: str) -> None:
    app = await after(*keys, "enter")
    assert text in app.last_text
    assert bool(app.results) is not bool(text)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("4", "0"), "daily_loss: 40.00 USD would lock the desk at once"),
        (("down", "0", ".", "4"), "daily_loss_percent: 40.00 USD would lock the desk at once"),
    ],
)
async def test_a_daily_loss_limit_that_would_lock_at_once_is_refused_with_the_figure(
    keys: tuple[str, ...], text: str
) -> None:
    store = example_store()
    account = store.account
    assert account is not None
    account.day_pl, account.day_start_nav, account.day_transfers = D(-45), D(0), D(10_000)
    app = FormApp(lambda: LimitsForm(example_context(store)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys, "enter")
        words = " ".join(app.words.replace("│", " ").split())
        assert text in words
        assert "45.00 (0.45 %) are lost today" in words
        assert app.results == []
        await pilot.press("0", "enter")  # 400, or 0.40 %: still too little in per cent
    assert bool(app.results) == (keys[0] == "4")


async def test_an_instrument_has_limits_of_its_own_over_those_of_the_account() -> None:
    limits = Limits(hard_units=D(100_000), instruments={"EUR_USD": {"soft_risk_percent": D(1)}})
    app = await after("a", limits=limits)
    assert "Your limits of EUR/USD" in app.last_text
    assert "(100000)" in app.last_text  # the account's, as it has none of its own
    assert "The account" not in app.last_text
    kept = await after("a", "down", "5", "0", "0", "enter", limits=limits)
    assert kept.results == [(LimitChange("hard_units", D(500), "EUR_USD"),)]


async def test_a_change_must_be_kept_before_the_page_turns_to_the_instrument() -> None:
    assert "Your limits of the account" in (await after("5", "a")).last_text


async def test_the_page_says_where_the_limits_stand() -> None:
    limits = Limits(hard_open_trades=D(2), hard_spread_pips=D(3))
    text = (await after(size=(120, 35), limits=limits)).last_text
    assert "UNLIMITED, 1 no stop" in text
    assert "3 / 2" in text  # two trades and an entry order
    assert "1.0 / 3 EUR/USD" in text


@pytest.mark.parametrize("size", sampled([(80, 24), (60, 20), (120, 35), (200, 50)], 1))
async def test_every_row_can_be_reached_at_every_size(size: tuple[int, int]) -> None:
    app = await after(*["down"] * 30, size=size)
    assert "Round trip to the broker" in app.last_text
    assert "Esc drops" in app.last_text


@pytest.mark.parametrize("size", sampled([(40, 12), (60, 20), (77, 24)], 1))
async def test_in_a_narrow_window_every_limit_is_whole_with_its_value_and_where_it_stands(
    size: tuple[int, int],
) -> None:
    store = example_store()
    store.focus = "EUR_USD"
    context = replace(example_context(store), limits=Limits(daily_loss=D(12345)))
    app = FormApp(lambda: LimitsForm(context))
    at: dict[str, str] = {}
    async with app.run_test(size=size) as pilot:
        for field in LIMIT_FIELDS:
            at[field.name] = " ".join(app.words.replace("│", " ").split())
            assert field.text in at[field.name]
            assert "…" not in at[field.name]
            assert "Esc drops" in at[field.name]
            await pilot.press("down")
    assert "[12345] USD" in at["daily_loss"]
    assert "[off] % NAV now UNLIMITED, 1 no stop" in at["hard_open_risk_percent"]


@pytest.mark.parametrize("size", sampled([(78, 24), (80, 24), (120, 35), (200, 50)], 1))
async def test_in_a_wide_window_where_a_limit_stands_is_whole_too(size: tuple[int, int]) -> None:
    store = example_store()
    trade = next(each for each in store.trades.values() if each.risk is None)
    store.trades = {str(at): dataclasses.replace(trade, id=str(at)) for at in range(1, 133)}
    context = replace(example_context(store), limits=Limits())
    app = FormApp(lambda: LimitsForm(context))
    async with app.run_test(size=size):
        assert "UNLIMITED, 132 no stop" in app.words
        assert "…" not in app.words


async def test_the_page_says_which_limit_of_the_day_is_in_force_today() -> None:
    store = example_store()
    store.loss_lock = LossLock(day_ns=1, percent=D(1), limit=D(1000))
    context = replace(example_context(store), limits=Limits(daily_loss_percent=D(3)))
    app = FormApp(lambda: LimitsForm(context))
    async with app.run_test(size=(120, 35)):
        words = " ".join(app.words.replace("│", " ").split())
    assert "Today 1,000.00 USD is in force. Raised or removed, it counts from the next day" in words


def test_a_change_counts_for_the_instrument_that_it_names() -> None:
    limits = with_limit(Limits(), LimitChange("hard_units", D(50), "XAU_USD"))
    assert limits.of("XAU_USD").hard_units == D(50)
    assert limits.of("EUR_USD").hard_units is None
    assert (
        with_limit(limits, LimitChange("hard_units", None, "XAU_USD")).of("XAU_USD").hard_units
        is None
    )
    assert with_limit(limits, LimitChange("slow_ms", D(250))).slow_ms == 250.0


@pytest.mark.parametrize("width", sampled([138, 140, 150, 160, 200], 2))
async def test_what_a_limit_means_is_whole_at_every_width(width: int) -> None:
    app = await after("down", size=(width, 45))
    meanings = {each.meaning for each in LIMIT_FIELDS}
    shown = [each for each in meanings if each in app.last_text]
    assert len(shown) == (len(meanings) if width >= 160 else 1)
    assert "…" not in app.last_text
