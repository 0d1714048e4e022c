"""The page of market hours, and the reminder on Friday."""

from datetime import UTC, datetime

import pytest

from keydesk.app.alerts.account_alerts import WeekEndReminder
from keydesk.forms.account.sessions import SessionsForm
from keydesk.store.store import Store
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.walks import sampled


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


async def at(time: str, store: Store | None = None, size: tuple[int, int] = (80, 24)) -> str:
    app = FormApp(lambda: SessionsForm(store or example_store(), lambda: ns(time)))
    async with app.run_test(size=size):
        return app.words


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50)])
async def test_every_session_is_shown_with_its_countdown(size: tuple[int, int]) -> None:
    text = await at("2026-03-04T14:00", size=size)
    assert "London      open, closes in 3h00" in text
    assert "London and New York overlap" in text
    assert "Rollover    in 8h00, 17:00 New York" in text
    assert "The week    open, closes in 2d07h" in text
    assert "SHORT 5,000 USD/JPY #6398" in text


async def test_a_market_that_trades_at_the_weekend_says_that_it_is_practice() -> None:
    text = await at("2026-03-07T12:00")
    assert "this practice market goes" in text
    assert "practice" not in await at("2026-03-04T14:00")


async def test_what_a_live_broker_trades_at_the_weekend_is_not_called_practice() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    text = await at("2026-03-07T12:00", store)
    assert "EUR/USD at this broker" in text


async def test_a_halted_instrument_says_when_it_opens() -> None:
    store = example_store()
    store.quotes["EUR_USD"].tradeable = False
    text = await at("2026-03-07T12:00", store)
    assert "EUR/USD: the market is closed and opens in 1d09h" in text


def test_on_friday_trades_without_a_stop_are_named_once_a_week() -> None:
    store = example_store()
    reminder = WeekEndReminder(store)
    for seconds, time in enumerate(
        ("2026-03-06T18:00", "2026-03-06T19:30", "2026-03-06T20:30", "2026-03-13T19:00"), start=1
    ):
        store.clock_ns = ns(time)
        reminder.check(seconds * 60.0)
    assert [each.text for each in store.notices] == [
        "The week ends in 2h29: 1 trade has no stop over the weekend: USD/JPY #6398",
        "The week ends in 1h59: 1 trade has no stop over the weekend: USD/JPY #6398",
    ]


def test_without_an_unprotected_trade_friday_says_nothing() -> None:
    store = example_store()
    del store.trades["6398"]
    store.clock_ns = ns("2026-03-06T20:00")
    WeekEndReminder(store).check(60.0)
    assert store.notices == []


@pytest.mark.parametrize("size", sampled([(40, 12), (60, 10), (80, 24), (200, 50)], 1))
async def test_every_line_of_the_hours_is_reached_at_every_size(size: tuple[int, int]) -> None:
    app = FormApp(lambda: SessionsForm(example_store(), lambda: ns("2026-03-04T14:00")))
    async with app.run_test(size=size) as pilot:
        seen = app.words
        for _ in range(12):
            await pilot.press("j")
            await pilot.pause()
            seen += app.words
        for text in ("Sydney", "New York", "Rollover", "daily", "Now"):
            assert text in seen
        assert "Esc closes" in app.words
