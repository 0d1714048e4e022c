"""The texts of alerts: prices at the instrument's precision, pips with one decimal, per cent with two, a minus that is one."""

from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.alerts.delivery import alert_text
from keydesk.calc.alerts.condition_base import Condition, Facts, PriceSnapshot
from keydesk.parse.alerts import KINDS, parse_alert
from keydesk.values import Day
from support.alert_watch import TEN, watching

D = Decimal
NAMES = ("EUR_USD", "USD_JPY")
EUR = PriceSnapshot(D("1.08490"), D("1.08511"), D("0.0001"), 5)
YEN = PriceSnapshot(D("150.123"), D("150.124"), D("0.01"), 3)
AROUND = Facts(TEN, UTC, {"EUR_USD": EUR, "USD_JPY": YEN})
THIRD = D(1) / D(3)

TEXTS = [
    ("> 1.085", "1.0850049", 5, "EUR/USD mid crosses up 1.085", ""),
    ("> 1.085", "1.086005", 5, "EUR/USD mid crosses up 1.085", "1.08600"),
    ("bid < 1.08", "1.07999", 5, "EUR/USD bid crosses down 1.08", "1.07999"),
    ("usdjpy @ 150.5", "150.4985", 3, "USD/JPY mid touches 150.5", "150.498"),
    ("+20p", "1.08701", 5, "EUR/USD mid moves +20 pips from 1.08500 to 1.08701", ""),
    ("-20p", "1.082005", 5, "EUR/USD mid moves −20 pips from 1.08500 to 1.08300", "1.08200"),
    ("ask +0.5%", "1.09200", 5, "EUR/USD ask moves +0.5% from 1.08511 to 1.09054", "1.09200"),
    ("usdjpy -1%", "148.5", 3, "USD/JPY mid moves −1% from 150.124 to 148.622", "148.500"),
    ("spread > 2p", "2.10000001", 5, "EUR/USD spread >= 2 pips", "2.1 pips"),
    ("spread > 2p", "2", 5, "EUR/USD spread >= 2 pips", ""),
    ("high", "1.087435", 5, "EUR/USD makes a new high of the day", "1.08744"),
    ("usdjpy low", "149.9995", 3, "USD/JPY makes a new low of the day", "150.000"),
    ("ema 20 50 up", "0.00000013", 5, "EUR/USD H1 EMA 20 crosses above EMA 50", ""),
    ("rsi > 70 h4", "70.43218765", 5, "EUR/USD H4 RSI 14 crosses up 70", "70.4"),
    ("atr 2 d", "2.34567891", 5, "EUR/USD D candle ranges >= 2 × ATR 14", "2.35 × ATR 14"),
    ("trade 6411 < -1r", str(-1 - THIRD), 5, "trade #6411 P/L <= −1 R", "−1.33 R"),
    ("trade 6411 > 50", "51.12345", 5, "trade #6411 P/L >= +50.00", "+51.12"),
    ("pl < -2r", str(-2 * THIRD - 2), 5, "account open P/L <= −2 R", "−2.67 R"),
    ("pl < -2.5r", "-2.5", 5, "account open P/L <= −2.5 R", ""),
    ("day < -300", "-1300.555", 5, "account P/L of the day <= −300.00", "−1,300.56"),
    ("margin > 50", str(50 + THIRD), 5, "margin closeout >= 50 %", "50.33 %"),
    ("clients > 60", "61.03125", 5, "EUR/USD clients long >= 60 %", "61.03 %"),
    ("time 14:30", str(TEN), 5, "time 14:30", ""),
    ("rollover 10m", "599", 5, "rollover (17:00 New York) in 10 min", "9m"),
    ("silence 10s", "12", 5, "the price stream is silent for 10 s", "12s"),
    ("silence events 10s", "10", 5, "the transaction stream is silent for 10 s", ""),
]


def condition_of(line: str) -> Condition:
    return parse_alert(line, NAMES, "EUR_USD").make(AROUND).condition


@pytest.mark.parametrize(("line", "value", "precision", "text", "reached"), TEXTS)
def test_a_condition_and_the_value_that_met_it_in_words(
    line: str, value: str, precision: int, text: str, reached: str
) -> None:
    condition = condition_of(line)
    assert condition.text == text
    assert condition.reached_text(D(value), precision) == reached


def test_every_kind_has_its_text_above() -> None:
    assert {type(condition_of(line)) for line, *_ in TEXTS} == set(KINDS)


async def test_a_new_high_of_the_day_is_told_with_its_price(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    async with watching(folder / "101.alerts") as desk:
        desk.store.days["EUR_USD"] = Day(D("1.1"), D("1.1050"), D("1.0950"))
        await desk.add(condition_of("high"))
        for second, mid in enumerate(("1.1", "1.1049", "1.105105")):
            await desk.price(mid, second)
    [fired] = desk.store.alert_history
    said = "ALERT 10:00:02 EUR/USD makes a new high of the day (at 1.10510)"
    assert alert_text(fired, UTC) == said


async def test_an_alert_that_another_program_takes_over_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    async with watching(folder / "101.alerts") as desk:
        await desk.add(condition_of("> 1.1"))
        for second, mid in enumerate(("1.09", "1.12")):
            await desk.price(mid, second)
    fired = replace(desk.store.alert_history[0], late=True, taken_over=True)
    assert alert_text(fired, UTC) == (
        "ALERT late, the program that saw it ended first, 2026-03-02 10:00:01 UTC: "
        "EUR/USD mid crosses up 1.1 (at 1.12000)"
    )
