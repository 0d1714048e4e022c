"""Indicators as texts: what is read, what is refused and in which words."""

import pytest

from keydesk.calc.market.indicator_specs import (
    IndicatorSpec,
    IndicatorSyntaxError,
    parse_indicator,
    parse_indicators,
)


@pytest.mark.parametrize(
    "text",
    [
        *("ema 20", "sma 50", "bb 20 2", "bb 20 2.5", "donchian 20", "pivots", "prevday"),
        *("rsi 14", "macd 12 26 9", "atr 14", "ema 400", "ema 1"),
    ],
)
def test_a_text_is_read_and_written_the_same(text: str) -> None:
    assert parse_indicator(text).text == text


def test_parameters_that_are_left_out_have_their_usual_values() -> None:
    assert parse_indicator("MACD") == IndicatorSpec("macd", (12, 26, 9))
    assert parse_indicator(" Bb ") == IndicatorSpec("bb", (20, 2))


def test_the_name_for_the_screen_is_in_words() -> None:
    names = [parse_indicator(text).name for text in ("ema 20", "bb 20 2.5", "prevday")]
    assert names == ["EMA 20", "Bollinger 20 2.5", "previous day"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not an indicator: use one of ema, sma, bb"),
        ("vwap", "'vwap' is not an indicator"),
        ("ema 20 50", "'ema 20 50' has 2 numbers; write ema 20"),
        ("macd 12", "write macd 12 26 9"),
        ("pivots 3", "pivots takes none"),
        ("ema 0", "a period is a whole number of candles from 1 to 400"),
        ("ema 401", "a period is a whole number"),
        ("ema 2.5", "a period is a whole number"),
        ("ema -3", "'-3' is not a number, such as 20"),
        ("ema ٣", "is not a number"),
        ("ema 1e3", "is not a number"),
        ("ema nan", "is not a number"),
        ("bb 20 0", "the width is a number of deviations above 0, up to 10"),
        ("bb 20 11", "the width is a number of deviations"),
        ("macd 26 12 9", "the first period must be shorter than the second"),
        ("ema " + "2" * 100, "is not an indicator"),
        ("ema " * 20, "is not an indicator"),
    ],
)
def test_a_text_that_is_none_says_why(text: str, words: str) -> None:
    with pytest.raises(IndicatorSyntaxError) as refusal:
        parse_indicator(text)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (("ema 20", "ema 20"), "'ema 20' is listed twice: leave one out"),
        (("rsi 14", "rsi 9"), "2 rsi are too many for a chart: leave out all but 1"),
        (
            ("rsi", "macd", "atr"),
            "rsi 14, macd 12 26 9, atr 14: only 2 fit under the price, leave out 1",
        ),
        ([f"ema {n}" for n in range(1, 6)], "5 ema are too many for a chart: leave out all but 4"),
    ],
)
def test_too_many_are_refused(texts: tuple[str, ...], text: str) -> None:
    with pytest.raises(IndicatorSyntaxError) as refusal:
        parse_indicators(texts)
    assert text in str(refusal.value)


def test_several_averages_stand_on_one_chart() -> None:
    specs = parse_indicators(("ema 20", "ema 50", "ema 200", "sma 20"))
    assert [each.text for each in specs] == ["ema 20", "ema 50", "ema 200", "sma 20"]
