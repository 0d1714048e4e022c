"""The pages that look: every figure has its unit, exposure adds up to nothing, and all of it fits a small terminal."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.risk.exposure import Correlation, Holding, exposure_of
from keydesk.calc.risk.period_profit import Booking
from keydesk.forms.account.account_page import AccountPage, account_rows, summary_rows
from keydesk.forms.account.exposure import (
    ExposurePage,
    exposure_rows,
    risk_rows,
    two_sided_bar,
)
from keydesk.forms.account.instrument_page import InstrumentPage, instrument_page_rows
from keydesk.forms.account.live_page import LivePage, name_text, value_text
from keydesk.forms.details_form import StyledText
from keydesk.store.store import Store
from keydesk.values import DependentOrder
from keydesk_client.models import AccountSummary
from support.data.desk_data import frame_of
from support.data.desk_store import NOW, WALL_NS, example_store
from support.fakes.form_app import FormApp
from support.walks import crossed, sampled

D = Decimal


def as_text(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in rows)


def test_the_account_page_has_figures_counts_and_the_distance_to_the_closeout() -> None:
    text = as_text(account_rows(example_store(), NOW))
    for line in (
        "NAV: 10,000.00 USD",
        "722.58 USD  7.23 % of NAV",
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


def test_every_member_that_the_broker_sent_is_shown_in_words() -> None:
    assert summary_rows({"marginCallEnterTime": None})[1:] == [("margin call enter time", "–")]
    rows = summary_rows({"withdrawalLimit": "9000", "openTradeCount": 2, "hedging": False})
    assert [f"{name}: {value}" for name, value in rows[1:]] == [
        "withdrawal limit: 9000",
        "open trade count: 2",
        "hedging: no",
    ]


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("guaranteedStopLossOrderMutability", "guaranteed stop loss order mutability"),
        ("marginCloseoutNAV", "margin closeout NAV"),
        ("resettablePLTime", "resettable PL time"),
        ("NAV", "NAV"),
        ("pl", "pl"),
        ("", ""),
        ("\x1b[31mx", "31 mx"),
    ],
)
def test_a_name_of_the_wire_is_read_as_words(member: str, text: str) -> None:
    assert name_text(member) == text


def test_records_and_lists_are_words_and_bounded() -> None:
    assert value_text({"aB": [True, None], "c": {}}) == "a b yes, –, c –"
    assert value_text(list(range(30))).endswith("19 and 10 more")
    assert value_text({"a": {"b": {"c": {"d": 1}}}}) == "a b c …"
    assert "\x1b" not in value_text("\x1b]0;x\x07")


def booked(*bookings: Booking) -> str:
    page = AccountPage(example_store(), lambda: NOW)
    page._bookings = bookings
    return as_text(page.compute())


def test_day_week_and_month_have_what_was_realized_and_financed() -> None:
    hour = 3_600_000_000_000
    text = booked(
        Booking(1, WALL_NS - hour, D(40), D("-1"), D("0.5")),
        Booking(2, WALL_NS - 30 * hour, D(-10)),
    )
    day = next(line for line in text.splitlines() if line.startswith("booked this day"))
    assert day.endswith("+38.50 USD  realized +40.00, financing −1.00, fees −0.50")
    assert "booked this week: " in text
    assert "booked this month: " in text


def test_what_was_booked_is_said_to_be_read_until_it_is_and_why_it_is_not() -> None:
    page = AccountPage(example_store(), lambda: NOW)
    assert "booked: being read …" in as_text(page.compute())
    page._trouble = "could not be read: no answer"
    assert "booked: could not be read: no answer" in as_text(page.compute())


def test_a_bar_goes_to_its_side() -> None:
    assert two_sided_bar(D(1)) == "      │██████"
    assert two_sided_bar(D("-0.5")) == "   ███│      "
    assert two_sided_bar(D(0)) == "      │      "


def test_the_risk_together_needs_two_instruments_and_their_candles() -> None:
    store = example_store()
    assert risk_rows(store, ["EUR_USD"], None) == []
    [(name, text)] = risk_rows(store, ["EUR_USD", "USD_JPY"], None)
    assert (name, text) == ("effective risk", "hourly candles are being read …")


def test_correlation_is_grey_with_too_few_hours_and_loud_where_both_lose() -> None:
    store = example_store()
    store.trades["6398"].risk = D(100)  # a short
    held = ["EUR_USD", "USD_JPY"]

    def row(value: float | None, hours: int) -> str:
        rows = risk_rows(store, held, [Correlation(held[0], held[1], value, hours)])
        return rows[-1][1]

    assert row(-0.9, 120).endswith("120 hours, lose together")
    assert row(0.9, 120).endswith("120 hours")
    few, none = row(0.9, 20), row(None, 3)
    assert isinstance(few, StyledText)
    assert few.role == "faint"
    assert few.endswith("20 hours of 60")
    assert none == "not known, 3 hours in common, 5 needed"


def test_the_effective_risk_names_the_trades_that_it_leaves_out() -> None:
    store = example_store()
    held = ["EUR_USD", "USD_JPY"]
    for trade in store.trades.values():
        trade.risk = D(10)
    known = [Correlation(held[0], held[1], 0.5, 120)]
    assert "left out" not in as_text(risk_rows(store, held, known))
    store.trades["6398"].risk = None
    pair = store.trades["6398"].instrument.replace("_", "/")
    assert f"not counted: #6398 {pair}: no stop, no limit" in as_text(risk_rows(store, held, known))


def test_a_trade_without_a_stop_makes_the_open_risk_of_account_and_exposure_unlimited() -> None:
    store = example_store()
    assert store.account is not None
    store.account.open_risk, store.account.unprotected_trades = D(48), 1
    account, held = as_text(account_rows(store, NOW)), ["EUR_USD", "USD_JPY"]
    assert (
        "open risk to the stops: UNLIMITED: 1 trade without any stop; the others 48.00" in account
    )
    exposure = as_text(exposure_rows(store, NOW))
    assert "open risk: UNLIMITED: 1 trade without a stop" in exposure
    assert "if all stops are hit: −48.00 USD" in exposure
    together = as_text(risk_rows(store, held, [Correlation(held[0], held[1], 0.5, 120)]))
    assert "effective risk: UNLIMITED; with a stop 48.00 USD" in together


def test_without_any_stop_exposure_has_no_result_at_the_stops() -> None:
    store = example_store()
    assert store.account is not None
    for trade in store.trades.values():
        trade.risk = None
    store.account.unprotected_trades = len(store.trades)
    exposure = as_text(exposure_rows(store, NOW))
    assert "UNLIMITED" in exposure
    assert "if all stops" not in exposure


def test_the_result_at_all_stops_has_trailing_and_guaranteed_ones() -> None:
    store = example_store()
    trade = next(iter(store.trades.values()))
    trade.guaranteed_stop = trade.trailing_stop = DependentOrder("9", D("1.08"))
    trade.risk, trade.locked = D(25), D(0)
    text = as_text(exposure_rows(store, NOW))
    assert "at guaranteed stops: −25.00 USD of it, 1 trade" in text
    assert "at trailing stops: −25.00 USD of it, 1 trade" in text


def pages_of(store: Store) -> Sequence[LivePage]:
    return (
        AccountPage(store, lambda: NOW),
        ExposurePage(store, lambda: NOW),
        InstrumentPage("EUR_USD", store, lambda: NOW, D(50_000)),
    )


SIZES = [(40, 12), (80, 24), (120, 35), (200, 50)]


@pytest.mark.parametrize(("size", "number"), crossed(SIZES, [0, 1, 2]))
async def test_a_page_opens_at_its_top_and_no_word_is_broken(
    size: tuple[int, int], number: int
) -> None:
    store = example_store()
    page = pages_of(store)[number]
    app = FormApp(lambda: page)
    async with app.run_test(size=size) as pilot:
        if isinstance(page, AccountPage):
            page.show_more(summary_rows(dict.fromkeys(AccountSummary.model_fields, "1")))
        page.on_frame(frame_of(store))
        await pilot.pause()
        lines = app.words.splitlines()
        first = lines[next(at for at, line in enumerate(lines) if "╭" in line) + 1]
        assert str(page.rows[0][0]) in first
        await pilot.press("end")
        await pilot.pause()
        last = str(page.rows[-1][0]).split()[-1]
        assert last in app.words


@pytest.mark.parametrize("number", sampled([0, 1, 2], 1))
async def test_a_page_stands_a_storm_of_sizes(number: int) -> None:
    store = example_store()
    app = FormApp(lambda: pages_of(store)[number])
    async with app.run_test(size=(80, 24)) as pilot:
        for size in [(40, 12), (1, 1), (200, 50), (7, 3), (300, 4), (80, 24)]:
            await pilot.resize_terminal(*size)
            await pilot.press("space", "end", "k")
        await pilot.press("home")
        await pilot.pause()
        assert len(app.words.splitlines()) <= 24


HOSTILE = "\x1b]0;x\x07\x9b31m\u202eabc"


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_hostile_text_reaches_no_page(number: int) -> None:
    store = example_store()
    account = store.account
    assert account is not None
    account.alias = account.id = account.currency = HOSTILE
    for trade in store.trades.values():
        trade.tag = HOSTILE
    app = FormApp(lambda: pages_of(store)[number])
    async with app.run_test(size=(120, 50)):
        page = app.screen
        if isinstance(page, AccountPage):
            page.show_more(summary_rows({HOSTILE: {HOSTILE: [HOSTILE]}}))
            page.show_bookings(None, HOSTILE)
        assert not set("\x1b\x07\x9b\u202e") & set(app.words)


@pytest.mark.parametrize(
    ("missing", "number"),
    crossed(["account", "positions", "quotes", "instruments", "conversions", "trades"], [0, 1, 2]),
)
async def test_a_page_stands_what_is_missing(missing: str, number: int) -> None:
    store = example_store()
    if missing == "account":
        store.account = None
    else:
        getattr(store, missing).clear()
    app = FormApp(lambda: pages_of(store)[number])
    async with app.run_test(size=(80, 24)) as pilot:
        page = app.screen
        assert isinstance(page, LivePage)
        page.on_frame(frame_of(store))
        await pilot.press("end")
        assert page.rows


async def test_closes_are_asked_for_once_and_again_when_another_is_held() -> None:
    store = example_store()
    asked: list[Sequence[str]] = []
    page = ExposurePage(store, lambda: NOW, lambda _page, names: asked.append(names))
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)):
        page.on_frame(frame_of(store))
        page.on_frame(frame_of(store))
        assert [sorted(names) for names in asked] == [["EUR_USD", "USD_JPY"]]
        other = replace(next(iter(store.trades.values())), id="99", instrument="GBP_USD")
        store.trades["99"] = other
        page.on_frame(frame_of(store))
        page.on_frame(frame_of(store))
        assert len(asked) == 2


async def test_bookings_are_read_again_after_a_transaction() -> None:
    store = example_store()
    asked: list[AccountPage] = []
    page = AccountPage(store, lambda: NOW, asked.append)
    app = FormApp(lambda: page)
    async with app.run_test(size=(80, 24)):
        page.on_frame(frame_of(store))
        assert asked == [page]
        assert store.account is not None
        store.account.last_transaction_id += 1
        page.on_frame(frame_of(store))
        page.on_frame(frame_of(store))
        assert asked == [page, page]
