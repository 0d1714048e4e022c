"""Alerts at the desk: a new one at the crosshair, of a row, of a trade; the page that changes them; the line of an alert."""

from collections.abc import Callable
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.app.alerts.account_alerts import here
from keydesk.calc.alerts.alert import Alert, AlertLine, FiringRecord
from keydesk.calc.alerts.condition_base import Facts
from keydesk.calc.alerts.fact_conditions import StreamSilence, TradeResult
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.forms.info_form import FRAME
from keydesk.forms.market.alert_chart import ReadCandles
from keydesk.forms.market.alert_columns import line_of
from keydesk.forms.market.alerts import AlertsForm
from keydesk.forms.market.new_alert import AlertLineForm, EditAsText, NewAlertForm, TakeAlert
from keydesk.forms.page_lines import width_of
from keydesk.panes.chart_marks import own_lines
from keydesk.parse.alerts import KINDS, parse_alert
from keydesk.store.state import Candle, CandleSeries, Health, Topic
from keydesk.store.store import Store
from keydesk.trading.desk_session import DeskLock
from support.data.desk_data import desk_store
from support.fakes.form_app import FormApp
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled

D = Decimal
TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
ABOVE = PriceCross(instrument="EUR_USD", side="mid", direction="up", level=D("1.12"))
SIZES = [(80, 24), (120, 35), (200, 50), (40, 12)]


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


async def test_n_makes_an_alert_on_the_instrument_and_arrows_turn_its_direction(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("N")
        form = app.screen
        assert isinstance(form, NewAlertForm)
        first = form.condition
        assert isinstance(first, PriceCross)
        assert first.direction == "up"
        await pilot.press(",", ",", "up", "s", "o", "enter")
    [choice] = app.alert_choices
    assert isinstance(choice, TakeAlert)
    made = choice.line.condition
    assert isinstance(made, PriceCross)
    assert (made.direction, made.side, choice.line.repeat_s) == ("down", "bid", 300)
    assert made.level == first.level - D("0.0019")


async def test_the_hint_of_keys_is_one_line(app: WorkingDesk) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("N")
        form = app.screen
        assert isinstance(form, NewAlertForm)
        shown = ["".join(text for text, _ in line).strip() for line in form.lines()]
        hint = "↑ ↓ level  . , by ten  d up/down/touch  s bid/ask/mid  o once/repeat"
        assert hint in shown


async def test_n_at_the_crosshair_takes_its_price(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        app.window.screen.action_go("chart")
        await pilot.press("i", *"jjjj")
        price = app.window.screen.chart.crosshair_price
        await pilot.press("N", "enter")
    [choice] = app.alert_choices
    assert isinstance(choice, TakeAlert)
    assert isinstance(choice.line.condition, PriceCross)
    assert (choice.line.condition.level, choice.line.condition.direction) == (price, "down")


async def test_n_on_a_trade_is_about_its_result(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        app.window.screen.action_go("trades")
        await pilot.press("N", "up", "d", "e")
    [choice] = app.alert_choices
    assert isinstance(choice, EditAsText)
    condition = choice.line.condition
    assert isinstance(condition, TradeResult)
    assert (condition.unit, condition.level, condition.direction) == ("R", D("1.1"), "down")


async def test_escape_makes_nothing_and_b_mutes(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("N", "escape", "b")
    assert app.alert_choices == [None]
    assert app.mutes == 1


def test_without_a_price_there_is_nothing_to_begin_with() -> None:
    store = desk_store(4)
    store.quotes.clear()
    assert here(store, None, "", "EUR_USD") is None


# The page.


def with_alerts(app: WorkingDesk) -> None:
    alerts = [Alert(str(n), ABOVE, TEN, note=f"note {n}") for n in range(1, 4)]
    alerts[1] = replace(alerts[1], state="done", count=1, fired_ns=TEN)
    app.store.alerts = {each.id: each for each in alerts}
    app.store.alert_history = [
        FiringRecord("2", 1, TEN, "EUR/USD crossed", late=True, delivered=True)
    ]


@pytest.mark.parametrize("size", sampled(SIZES, 1), ids=str)
async def test_the_page_lists_watched_ones_first_at_every_size(
    app: WorkingDesk, size: tuple[int, int]
) -> None:
    with_alerts(app)
    async with app.run_test(size=size) as pilot:
        app.actions.perform("alerts")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, AlertsForm)
        assert [each.id for each in form.alerts] == ["3", "1", "2"]
        for _ in range(5):
            await pilot.press("j")
        assert form.chosen is not None
        assert form.chosen.id == "2"
        await pilot.press("h")
        assert form.panel is not None
        assert "away" in form.panel.text
        await pilot.press("h", "escape")
        assert app.screen is app.window.screen


async def test_keys_of_the_page_ask_for_changes_and_a_deletion_is_confirmed(
    app: WorkingDesk,
) -> None:
    with_alerts(app)
    async with app.run_test(size=(120, 35)) as pilot:
        app.actions.perform("alerts")
        await pilot.pause()
        await pilot.press("space", "y", "x", "escape", "x", "j", "y", "x", "enter", "a", "c")
        await pilot.press("b", "e")
    chosen = [(each.verb, each.alert.id if each.alert else "") for each in app.alert_actions]
    assert chosen == [
        ("pause", "3"),
        ("delete", "1"),
        ("new", ""),
        ("clear", ""),
        ("mute", ""),
        ("edit", "1"),
    ]


async def test_the_cursor_stays_on_its_alert_when_others_come_fire_and_go(
    app: WorkingDesk,
) -> None:
    with_alerts(app)
    async with app.run_test(size=(120, 35)) as pilot:
        app.actions.perform("alerts")
        await pilot.press("space")
        app.store.alerts["3"] = replace(app.store.alerts["3"], state="done", fired_ns=TEN)
        await pilot.press("space", "k", "space")  # it stands below 1 now
        app.store.alerts["4"] = Alert("4", ABOVE, TEN)
        await pilot.press("space")
        del app.store.alerts["1"]
        await pilot.press("space")  # nothing: what was under the cursor is gone
        app.store.mark(Topic.ALERTS)
        app.draw()
        await pilot.press("space")
    paused = [each.alert.id if each.alert else "" for each in app.alert_actions]
    assert paused == ["3", "3", "1", "1", "3"]


async def test_an_alert_that_another_desk_deletes_is_not_asked_about_any_more(
    app: WorkingDesk,
) -> None:
    with_alerts(app)
    async with app.run_test(size=(120, 35)) as pilot:
        app.actions.perform("alerts")
        await pilot.press("x")
        form = app.screen
        assert isinstance(form, AlertsForm)
        assert "deletes it" in form.foot_text()
        del app.store.alerts[form.deleting]
        app.store.mark(Topic.ALERTS)
        app.draw()
        assert "deletes it" not in form.foot_text()
        assert "Delete alert" not in str(form.lines())


async def test_an_empty_page_says_how_to_make_one(app: WorkingDesk) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.actions.perform("alerts")
        await pilot.pause()
        await pilot.press("x", "enter", "e", "space", "j", "h")
        form = app.screen
        assert isinstance(form, AlertsForm)
        assert form.panel is not None
        assert "No alert fired yet" in form.panel.text
        await pilot.press("h")
        assert ":alert eurusd +20p" in form.panel.text
    assert app.alert_actions == []


def test_watched_levels_are_lines_on_the_chart() -> None:
    store = desk_store(4)
    store.alert_levels = {"EUR_USD": ((D("1.2"), "bid"),), "USD_JPY": ((D(150), "mid"),)}
    store.mark(Topic.ALERTS)
    lines = [line for line in own_lines(store, "EUR_USD") if line.text == "alert"]
    assert [(line.price, line.role, line.side) for line in lines] == [(1.2, "alert", "bid")]


# The line.


async def test_a_line_that_cannot_be_read_stays_open_and_says_why() -> None:
    form = AlertLineForm(desk_store(4), "", "Alert")
    app = FormApp(lambda: form)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"eurusd >", "enter")
        assert "price: missing after >" in " ".join(app.words.split())
        await pilot.press(*" 1.2 note a", "enter")
    assert app.results == [AlertLine(replace(ABOVE, level=D("1.2")), note="a")]


@given(st.data())
def test_the_line_of_an_alert_makes_the_same_alert(data: st.DataObject) -> None:
    lines = (
        *("eurusd bid > 1.12", "usdjpy @ 150.5", "eurusd spread > 2p", "eurusd high"),
        *("usdjpy ema 5 10 cross m15", "eurusd rsi 9 < 30 h4", "eurusd atr 20 1.5 d"),
        *("trade 6411 < -1r", "pl > 500", "day < -300", "margin > 50", "time 14:30"),
        *("rollover 10m", "eurusd clients < 40%", "silence events 30s"),
    )
    often = data.draw(st.sampled_from(("once", "repeat 90s", "once for 4h", "once note A b")))
    line = data.draw(st.sampled_from(lines))
    if line.startswith("time"):
        often = "once"
    names = ("EUR_USD", "USD_JPY")
    made = parse_alert(f"{line} {often}", names, "").make(Facts(TEN, UTC))
    again = parse_alert(made.line(UTC), names, "")
    assert again.make(Facts(TEN, UTC)) == made
    assert {type(made.condition)} <= set(KINDS)


async def shown(store: Store, *keys: str, size: tuple[int, int] = (120, 35)) -> str:
    """The page of alerts after these keys."""
    app = FormApp(lambda: AlertsForm(store))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        return app.words


def watching(*alerts: Alert, fired: int = 0) -> Store:
    """The desk with these alerts, and so many firings in its history."""
    store = desk_store(18)
    store.alerts = {each.id: each for each in alerts}
    store.alert_history = [
        FiringRecord("1", 1, TEN + number * 60 * 10**9, f"EUR/USD crossed {number}")
        for number in range(fired)
    ]
    return store


async def test_a_row_has_the_value_now_the_distance_and_when_it_last_fired() -> None:
    near = Alert("1", replace(ABOVE, level=D("1.0850")), TEN, count=1, fired_ns=TEN)
    text = await shown(watching(near))
    [line] = [line for line in text.splitlines() if "mid crosses up" in line]
    assert line.split()[7:10] == ["1.08437", "6.3", "pips"]
    assert "02 Mar 10:00" in line
    assert "━" in line


def test_without_prices_a_watched_alert_says_how_old_its_value_is() -> None:
    store = watching()
    store.health = Health(prices="DOWN", prices_at=58.0)
    silence = StreamSilence(direction="up", level=D(30))
    by_price, other = (
        line_of(Alert("1", each, TEN), store, 100.0, is_chosen=True) for each in (ABOVE, silence)
    )
    assert (by_price.state, by_price.value_role) == (("old 42s", "warn"), "faint")
    assert (other.state, other.value_role) == (("watching", "plain"), "bright")
    store.health.prices = "OK"
    assert line_of(Alert("1", ABOVE, TEN), store, 100.0, is_chosen=True).state[0] == "watching"


async def test_the_chosen_alert_stands_on_a_chart_of_its_instrument_with_its_level() -> None:
    text = await shown(watching(Alert("1", replace(ABOVE, level=D("1.0850")), TEN)))
    assert "EUR/USD M5" in text
    assert [line for line in text.splitlines() if "alert" in line and "1.08500" in line]


@pytest.mark.parametrize(
    ("level", "label"), [("1.0900", "alert 1.09000"), ("1.2000", "alert 1.20000 ↑")]
)
async def test_a_level_above_the_candles_widens_the_chart_unless_it_is_far(
    level: str, label: str
) -> None:
    text = await shown(watching(Alert("1", replace(ABOVE, level=D(level)), TEN)))
    assert [line for line in text.splitlines() if label in " ".join(line.split())]


async def test_a_narrow_page_of_few_alerts_has_the_chart_above_the_firings() -> None:
    store = watching(Alert("1", replace(ABOVE, level=D("1.0850")), TEN), fired=9)
    text = await shown(store, size=(80, 24))
    assert text.index("EUR/USD M5") < text.index("1.08500 ") < text.index("Fired")
    assert "EUR/USD crossed 8" in text
    lines = [line.strip("│ ") for line in text.splitlines()]
    assert not lines[lines.index("Fired  the newest 2 of 9") - 1]
    many = watching(*(Alert(str(number), ABOVE, TEN) for number in range(1, 30)), fired=9)
    assert "EUR/USD M5" not in await shown(many, size=(80, 24))


async def test_many_alerts_leave_two_firings_and_one_line_of_the_chosen_one_in_80_columns() -> None:
    many = (
        Alert(str(number), ABOVE, TEN, count=2, fired_ns=TEN, note="note") for number in range(40)
    )
    lines = (await shown(watching(*many, fired=30), size=(80, 24))).splitlines()
    assert sum("watching" in line for line in lines) >= 9
    assert sum("EUR/USD crossed" in line for line in lines) == 2
    at = next(number for number, line in enumerate(lines) if "fired 2 times" in line)
    assert "Fired  the newest 2 of 30" in lines[at + 1]


async def test_few_firings_stand_below_a_chart_across_the_page_and_many_beside_it() -> None:
    alert = Alert("1", replace(ABOVE, level=D("1.0850")), TEN)
    few = (await shown(watching(alert, fired=2))).splitlines()
    [level] = [line for line in few if "alert 1.08500" in line]
    assert level.rstrip("│ ").endswith("1.08500")
    assert level.index("1.08500") > 100
    text = "\n".join(few)
    assert text.index("UTC") < text.index("Fired") < text.index("EUR/USD crossed 0")
    many = (await shown(watching(alert, fired=30))).splitlines()
    assert [line for line in many if "EUR/USD M5" in line and "Fired" in line]


async def test_a_chart_of_fewer_than_six_rows_is_left_out() -> None:
    heights = []
    for count in range(2, 9):
        store = watching(*(Alert(str(number), ABOVE, TEN) for number in range(count)))
        lines = [line.strip("│ ") for line in (await shown(store, size=(80, 24))).splitlines()]
        if "EUR/USD M5" in lines:
            axis = next(at for at, line in enumerate(lines) if line.endswith("UTC"))
            heights.append(axis - lines.index("EUR/USD M5"))
    assert 0 < len(heights) < len(range(2, 9))
    assert min(heights) >= 6


async def test_the_frame_says_which_row_of_how_many_is_chosen() -> None:
    store = watching(*(Alert(str(number), ABOVE, TEN) for number in range(1, 41)), fired=30)
    assert "Alerts: 1 of 40, 40 watched" in await shown(store)
    assert "Alerts: 3 of 40, 40 watched" in await shown(store, "j", "j")
    assert "Alerts fired: 2 of 30" in await shown(store, "h", "j")


async def test_the_note_gives_way_to_two_columns_between_the_figures() -> None:
    alert = Alert("1", ABOVE, TEN, note="a long note " * 9, count=1, fired_ns=TEN, repeat_s=300)
    text = await shown(watching(alert))
    [line] = [line for line in text.splitlines() if "mid crosses up" in line]
    for figures in ("  1.08437  ", " pips  ", "  watching  repeat 5m  02 Mar 10:00"):
        assert figures in line


async def test_a_wide_page_has_the_firings_beside_the_table_and_below_it_a_wide_chart() -> None:
    alert = Alert("1", replace(ABOVE, level=D("1.0850")), TEN)
    lines = (await shown(watching(alert, fired=30), size=(200, 50))).splitlines()
    [head] = [line for line in lines if "condition" in line]
    assert head.rstrip("│ ").endswith("Fired  the newest 29 of 30")
    [level] = [line for line in lines if "alert 1.08500" in line]
    assert level.index("1.08500") > 130


async def test_few_firings_beside_the_table_leave_a_wide_page_to_the_chart() -> None:
    alert = Alert("1", replace(ABOVE, level=D("1.0850")), TEN)
    lines = (await shown(watching(alert, fired=2), size=(200, 50))).splitlines()
    [head] = [line for line in lines if "condition" in line]
    assert head.rstrip("│ ").endswith("Fired")
    [level] = [line for line in lines if "alert 1.08500" in line]
    assert level.index("1.08500") > 180


async def test_candles_of_a_pair_without_a_chart_are_read_once_for_each_pair() -> None:
    yen = PriceCross(instrument="USD_JPY", side="mid", direction="up", level=D("151.5"))
    store = watching(*(Alert(each, yen, TEN) for each in "12"), Alert("3", ABOVE, TEN))
    asked: list[tuple[str, str]] = []
    answers: list[Callable[[ReadCandles], None]] = []

    def read(instrument: str, granularity: str, take: Callable[[ReadCandles], None]) -> None:
        asked.append((instrument, granularity))
        answers.append(take)

    app = FormApp(lambda: AlertsForm(store, read=read))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("j")
        assert "USD/JPY  candles are being read" in app.words
        await pilot.press("j", "k")
        assert asked == [("USD_JPY", "M5")]
        answers[0](ReadCandles(trouble="no candles: timed out"))
        await pilot.pause()
        assert "USD/JPY  no candles: timed out" in app.words
        candles = [
            Candle(TEN + n * 300 * 10**9, 151.1, 151.6, 151.0, 151.4, complete=True)
            for n in range(20)
        ]
        answers[0](ReadCandles(CandleSeries("USD_JPY", "M5", candles=candles)))
        await pilot.pause()
        assert "USD/JPY M5" in app.words
        assert [line for line in app.words.splitlines() if "alert" in line and "151.500" in line]


async def test_the_chart_is_the_first_of_the_desk_among_whose_candles_the_level_is() -> None:
    store = watching(Alert("1", replace(ABOVE, level=D("1.09500")), TEN))
    hours = [
        Candle(TEN + n * 3600 * 10**9, 1.08, 1.097, 1.07, 1.08435, complete=True) for n in range(20)
    ]
    store.series["EUR_USD", "H4"] = CandleSeries("EUR_USD", "H4", candles=hours)
    assert "EUR/USD H4" in await shown(store)
    for own in ("1.08435", "1.9"):  # among those of five minutes; among none
        near = watching(Alert("1", replace(ABOVE, level=D(own)), TEN))
        near.series["EUR_USD", "H4"] = CandleSeries("EUR_USD", "H4", candles=hours)
        assert "EUR/USD M5" in await shown(near)


async def test_the_note_has_a_column_of_its_own() -> None:
    store = watching(Alert("1", ABOVE, TEN, note="range high"))
    [line] = [line for line in (await shown(store)).splitlines() if "mid crosses up" in line]
    assert " mid crosses up 1.12  " in line
    assert "range high" in line
    assert "EUR/USD mid crosses up 1.12: range high" in await shown(store, size=(80, 24))


async def test_an_alert_near_its_level_has_a_bar_and_one_far_from_it_has_none() -> None:
    near = Alert("1", replace(ABOVE, level=D("1.0846")), TEN)
    far = Alert("2", replace(ABOVE, level=D("1.2")), TEN)
    text = await shown(watching(near, far))
    bars = [line.count("━") + line.count("╸") for line in text.splitlines() if "watching" in line]
    assert bars[0] == 0 < bars[1]
    assert " near " not in await shown(watching(far))


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50)], ids=str)
async def test_the_newest_firings_stand_below_the_table_without_a_key(
    size: tuple[int, int],
) -> None:
    store = watching(*(Alert(str(number), ABOVE, TEN) for number in range(1, 30)), fired=40)
    text = await shown(store, size=size)
    assert text.index("condition") < text.index("Fired") < text.index("EUR/USD crossed 39")


@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35), (200, 50)], 2))
async def test_the_page_without_an_alert_is_as_large_as_what_it_says_and_names_its_keys_bright(
    app: WorkingDesk, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.press("g", "r")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, AlertsForm)
        assert form.panel is not None
        assert form.panel.outer_size.height == 4
        widest = max(map(width_of, form.lines()))
        assert form.panel.outer_size.width == (80 if size == (80, 24) else widest + FRAME)
        keys = [words for line in form.lines() for words, role in line if role == "plain"]
        assert keys == ["N", ":alert eurusd +20p"]
