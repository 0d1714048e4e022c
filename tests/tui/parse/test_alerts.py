"""The line of an alert: every condition, its ending, and an error that names the part and the remedy."""

from datetime import UTC
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.alerts.alert import standing_text
from keydesk.calc.alerts.candle_conditions import AtrMultiple, MovingAverageCross, RsiLevel
from keydesk.calc.alerts.condition_base import AlertSyntaxError, Condition, Facts, PriceSnapshot
from keydesk.calc.alerts.fact_conditions import (
    AccountResult,
    ClientLongPercent,
    ClockTime,
    MarginLevel,
    RolloverSoon,
    StreamSilence,
    TradeResult,
)
from keydesk.calc.alerts.price_conditions import DayHighLow, PriceCross, PriceMove, SpreadLevel
from keydesk.calc.market.price_levels import PriceLevel
from keydesk.parse.alerts import parse_alert
from support.data.desk_store import long_euro

NAMES = ("EUR_USD", "GBP_USD", "USD_JPY", "XAU_USD")
EUR, CABLE = "EUR_USD", "GBP_USD"
NOON = 1_772_452_800_000_000_000  # 2026-03-02 12:00 UTC
PRICED = PriceSnapshot(Decimal("1.08490"), Decimal("1.08510"), Decimal("0.0001"), 5)
AROUND = Facts(NOON, UTC, {EUR: PRICED})


@pytest.mark.parametrize(
    ("line", "condition"),
    [
        (
            "eurusd > 1.12",
            PriceCross(instrument=EUR, side="mid", direction="up", level=Decimal("1.12")),
        ),
        (
            "EUR/USD <1.08",
            PriceCross(instrument=EUR, side="mid", direction="down", level=Decimal("1.08")),
        ),
        (
            "bid >= 1.1",
            PriceCross(instrument=EUR, side="bid", direction="up", level=Decimal("1.1")),
        ),
        (
            "gbpusd ask below 1.3",
            PriceCross(instrument=CABLE, side="ask", direction="down", level=Decimal("1.3")),
        ),
        (
            "@1.0850",
            PriceCross(instrument=EUR, side="mid", direction="touch", level=Decimal("1.0850")),
        ),
        (
            "touch 1.0850",
            PriceCross(instrument=EUR, side="mid", direction="touch", level=Decimal("1.0850")),
        ),
        (
            "+20p",
            PriceMove(instrument=EUR, side="mid", distance=Decimal(20), direction="up", unit="p"),
        ),
        (
            "gbpusd bid -0.5%",
            PriceMove(
                instrument=CABLE, side="bid", distance=Decimal("-0.5"), direction="down", unit="%"
            ),
        ),
        ("spread > 2p", SpreadLevel(instrument=EUR, direction="up", level=Decimal(2))),
        ("eurusd high", DayHighLow(instrument=EUR, extreme="high")),
        ("low", DayHighLow(instrument=EUR, extreme="low")),
        (
            "ema 20 50 up m15",
            MovingAverageCross(instrument=EUR, granularity="M15", fast=20, slow=50, direction="up"),
        ),
        (
            "usdjpy ema 5 10",
            MovingAverageCross(
                instrument="USD_JPY", granularity="H1", fast=5, slow=10, direction="touch"
            ),
        ),
        (
            "rsi > 70 h4",
            RsiLevel(
                instrument=EUR, granularity="H4", period=14, direction="up", level=Decimal(70)
            ),
        ),
        (
            "rsi 9 < 30",
            RsiLevel(
                instrument=EUR, granularity="H1", period=9, direction="down", level=Decimal(30)
            ),
        ),
        ("atr 2 h1", AtrMultiple(instrument=EUR, granularity="H1", period=14, level=Decimal(2))),
        (
            "atr 20 > 1.5a d",
            AtrMultiple(instrument=EUR, granularity="D", period=20, level=Decimal("1.5")),
        ),
        (
            "trade 6411 < -1r",
            TradeResult(trade_id="6411", unit="R", direction="down", level=Decimal(-1)),
        ),
        (
            "#6411 > 50",
            TradeResult(trade_id="6411", unit="money", direction="up", level=Decimal(50)),
        ),
        ("pl > 500", AccountResult(of="open", unit="money", direction="up", level=Decimal(500))),
        ("pl < -2r", AccountResult(of="open", unit="R", direction="down", level=Decimal(-2))),
        (
            "day < -300",
            AccountResult(of="day", unit="money", direction="down", level=Decimal(-300)),
        ),
        ("margin > 50%", MarginLevel(direction="up", level=Decimal(50))),
        ("time 14:30", ClockTime(typed="14:30")),
        ("at 2026-11-25 14:30", ClockTime(typed="2026-11-25 14:30")),
        ("rollover 10m", RolloverSoon(direction="down", level=Decimal(10 * 60))),
        ("clients > 60%", ClientLongPercent(instrument=EUR, direction="up", level=Decimal(60))),
        ("clients long", ClientLongPercent(instrument=EUR, direction="up", level=Decimal(50))),
        ("silence 15s", StreamSilence(stream="prices", level=Decimal(15))),
        ("silence events", StreamSilence(stream="events", level=Decimal(10))),
    ],
)
def test_a_line_means_its_condition(line: str, condition: Condition) -> None:
    found = parse_alert(line, NAMES, EUR)
    assert found.condition == condition
    assert found.repeat_s is None
    assert found.text


@pytest.mark.parametrize(
    ("line", "repeat_s", "lasts", "note"),
    [
        ("> 1.1 once", None, "", ""),
        ("> 1.1 repeat", 300, "", ""),
        ("> 1.1 repeat 0s", 0, "", ""),
        ("> 1.1 repeat 2h for 4h", 7200, "4h", ""),
        ("> 1.1 for 1w", None, "1w", ""),
        ("> 1.1 until 18:30", None, "18:30", ""),
        ("> 1.1 until 2026-11-25 18:30 repeat 30s", 30, "2026-11-25 18:30", ""),
        ("> 1.1 note Retest of the HIGH", None, "", "Retest of the HIGH"),
        ("> 1.1 once note repeat until it rings", None, "", "repeat until it rings"),
    ],
)
def test_the_ending_says_how_often_how_long_and_why(
    line: str, repeat_s: int | None, lasts: str, note: str
) -> None:
    found = parse_alert(line, NAMES, EUR)
    assert (found.repeat_s, found.lasts, found.note) == (repeat_s, lasts, note)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", "nothing typed"),
        ("eurusd", "condition: missing after"),
        ("eurusd >", "price: missing after >"),
        ("eurusd > x", "price: 'x' is not a number"),
        ("eurusd > 0", "price: 0 is not above 0"),
        ("eurusd > -1", "price: -1 is not above 0"),
        ("abcxyz > 1", "instrument: abcxyz"),
        ("eurusd 1.12", "condition: '1.12'"),
        ("eurusd +0p", "condition: '+0p'"),
        ("spread = 2", "spread: write > or <"),
        ("ema 50 20", "ema: the first period is the shorter"),
        ("ema 20", "ema: write two periods"),
        ("ema 20 500", "ema: '500' is not a period"),
        ("ema 20 50 up h7", "candle: 'h7' is not a candle length"),
        ("rsi > 170", "rsi: 170 is not from 0 to 100"),
        ("rsi 70", "rsi: write a level"),
        ("atr", "atr: write how many"),
        ("atr 0 h1", "atr: 0 is not from"),
        ("trade x > 5", "trade: write its id"),
        ("day < -2r", "day: write"),
        ("pl 500", "pl: write"),
        ("margin 50", "margin: write"),
        ("time", "time: none"),
        ("time 14:30 repeat", "repeat: a time comes once"),
        ("rollover 10s", "rollover: write how long"),
        ("silence 0s", "silence: write"),
        ("> 1.1 twice", "condition: '> 1.1 twice'"),
        ("> 1.1 once twice", "alert: 'twice'"),
        ("> 1.1 until", "until: not a time"),
        ("> 1.1 until never", "until: not a time"),
        ("> 1.1 repeat 9999d", "repeat: '9999d'"),
        ("> 1.1 note", "note: it is empty"),
        ("> 1.1 note " + "x" * 81, "note: has 81 letters"),
    ],
)
def test_an_error_names_the_part_and_shows_how_to_write_it(line: str, names: str) -> None:
    with pytest.raises(AlertSyntaxError, match=names.replace("+", r"\+")):
        parse_alert(line, NAMES, EUR)


HIGH = PriceLevel("weekly-high", Decimal("1.1410"))
LEVELS = {EUR: (HIGH,)}


@pytest.mark.parametrize(
    ("line", "same_as"),
    [
        ("eurusd > @weekly-high", "eurusd > 1.1410"),
        ("below @weekly-high repeat 5m", "below 1.1410 repeat 5m"),
        ("@weekly-high", "@1.1410"),
        ("bid touch @weekly-high", "bid touch 1.1410"),
    ],
)
def test_a_price_may_be_named_by_a_level_of_the_instrument(line: str, same_as: str) -> None:
    assert parse_alert(line, NAMES, EUR, LEVELS) == parse_alert(same_as, NAMES, EUR)


def test_a_level_that_the_instrument_does_not_have_is_named_with_those_it_has() -> None:
    with pytest.raises(
        AlertSyntaxError, match="price: there is no level low; there are: @weekly-high"
    ):
        parse_alert("> @low", NAMES, EUR, LEVELS)
    with pytest.raises(AlertSyntaxError, match="no level weekly-high; the instrument has none"):
        parse_alert("gbpusd > @weekly-high", NAMES, EUR, LEVELS)


@given(st.text(max_size=60))
def test_any_text_is_an_alert_or_an_error_in_words(line: str) -> None:
    text = ""
    try:
        text = parse_alert(line, NAMES, EUR).text
    except AlertSyntaxError as error:
        text = str(error)
    assert text


def test_without_an_instrument_on_the_desk_one_has_to_be_named() -> None:
    with pytest.raises(AlertSyntaxError, match="instrument: the chart shows none"):
        parse_alert("> 1.1", NAMES, "")


def test_a_distance_counts_from_the_price_of_its_side_when_it_is_made() -> None:
    made = parse_alert("+20p", NAMES, EUR).make(AROUND, "7")
    assert isinstance(made.condition, PriceMove)
    assert (made.condition.start, made.condition.level) == (Decimal("1.085"), Decimal("1.087"))
    lower = parse_alert("bid -1%", NAMES, EUR).make(AROUND).condition
    assert (lower.level, lower.direction) == (Decimal("1.07405"), "down")


def test_a_distance_needs_a_price() -> None:
    with pytest.raises(AlertSyntaxError, match="price: no price of GBP/USD yet"):
        parse_alert("gbpusd +20p", NAMES, EUR).make(AROUND)


def test_times_are_the_next_ones_of_the_traders_zone_and_never_past() -> None:
    made = parse_alert("time 14:30 for 4h", NAMES, EUR).make(AROUND)
    assert isinstance(made.condition, ClockTime)
    assert made.condition.level == NOON + 9_000_000_000_000
    assert made.expires_ns == NOON + 4 * 3_600_000_000_000
    with pytest.raises(AlertSyntaxError, match="time: 2026-03-01 10:00 is past"):
        parse_alert("time 2026-03-01 10:00", NAMES, EUR).make(AROUND)
    with pytest.raises(AlertSyntaxError, match="time: tea is not an expiry"):
        parse_alert("time tea", NAMES, EUR).make(AROUND)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", "once"),
        ("repeat", "repeat 5m"),
        ("repeat 60m", "repeat 1h"),
        ("repeat 90s", "repeat 90s"),
        ("repeat 0s", "repeat 0s"),
        ("repeat 2d", "repeat 2d"),
    ],
)
def test_how_often_is_written_alike_before_and_after_an_alert_is_made(
    typed: str, shown: str
) -> None:
    line = parse_alert(f"spread > 2p {typed}", NAMES, EUR)
    made = line.make(AROUND)
    assert made.repeat_text == shown
    how = shown if shown == "once" else f"({shown})"
    assert line.text == f"alerts {how} when EUR/USD spread >= 2 pips"
    assert made.line(UTC) == f"eurusd spread > 2p {shown}"
    assert parse_alert(made.line(UTC), NAMES, EUR) == line


def test_one_pip_is_no_pips() -> None:
    texts = [
        parse_alert(each, NAMES, EUR).condition.text
        for each in ("spread > 1p", "spread < 1.0p", "spread > 1.2p", "+1p", "-1p", "+20p", "-1%")
    ]
    assert [each.removeprefix("EUR/USD ") for each in texts] == [
        "spread >= 1 pip",
        "spread <= 1.0 pips",
        "spread >= 1.2 pips",
        "mid moves +1 pip",
        "mid moves −1 pip",
        "mid moves +20 pips",
        "mid moves −1%",
    ]


def test_a_level_that_the_price_is_beyond_is_said_to_wait_for_a_fresh_crossing() -> None:
    made = parse_alert("> 1.08", NAMES, EUR).make(AROUND)
    price = Decimal("1.085")
    assert "the alert fires after it went below and crosses again" in standing_text(
        made.condition, price, 5
    )
    assert not standing_text(made.condition, None, 5)
    higher = PriceCross(instrument=EUR, side="mid", direction="up", level=Decimal("1.09"))
    assert not standing_text(higher, price, 5)
    touched = PriceCross(instrument=EUR, side="mid", direction="touch", level=Decimal("1.08"))
    assert not standing_text(touched, price, 5)


@pytest.mark.parametrize(
    ("line", "value", "text"),
    [
        ("spread > 1p", "1.2", "the spread is there already (1.2 pips)"),
        ("spread > 1p", "1", "the spread is there already (1.0 pips)"),
        ("trade 99 < -1r", "-1.25", "the P/L of the trade is there already (−1.25 R)"),
        ("trade 99 > 50", "51", "the P/L of the trade is there already (+51.00)"),
        ("pl < 100", "0", "the open P/L is there already (0.00)"),
        ("day < -300", "-301", "the P/L of the day is there already (−301.00)"),
        ("margin > 50", "51.25", "the margin closeout is there already (51.25 %)"),
        ("clients > 60", "61", "the share of long clients is there already (61.00 %)"),
        ("rollover 10m", "480", "the time to the rollover is there already (8m)"),
        ("silence 10s", "12", "the silence is there already (12s)"),
    ],
)
def test_what_is_beyond_its_level_already_is_named_with_its_value(
    line: str, value: str, text: str
) -> None:
    made = parse_alert(line, NAMES, EUR).make(AROUND)
    back = "below" if made.condition.direction == "up" else "above"
    assert standing_text(made.condition, Decimal(value), 5) == (
        f"{text}: the alert fires after it went {back} and crosses again"
    )


def test_an_alert_on_a_trade_that_is_not_open_is_refused_not_kept_silently() -> None:
    line = parse_alert("trade 99999 < -1r", NAMES, EUR)
    with pytest.raises(AlertSyntaxError, match="trade: #99999 is not open"):
        line.make(replace(AROUND, trades={"6411": long_euro()}))
    assert line.make(replace(AROUND, trades={"99999": long_euro()})).condition == line.condition
    assert line.make(AROUND)  # before the account was read


def test_a_note_is_text_and_nothing_else() -> None:
    made = parse_alert("> 1.2 note \x1b]0;evil\x07 $(rm)", NAMES, EUR).make(AROUND)
    assert "\x1b" not in made.text
    assert "\x07" not in made.text
    assert "$(rm)" in made.text
