"""Times stand at round moments of the trader's zone, a date is always in sight, and no label touches another."""

from datetime import UTC, tzinfo
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.market.granularity import SECONDS
from keydesk.chart.time_axis import time_labels
from support.data.chart_scenes import path
from support.walks import crossed

ZONES = (UTC, ZoneInfo("America/New_York"), ZoneInfo("Asia/Kolkata"), ZoneInfo("Australia/Sydney"))


def axis(
    seconds: int, width: int, pitch: int, zone: tzinfo, *, year: int = 2026, gaps: bool = False
) -> str:
    count = max(1, (width - 2) // pitch)
    candles = path(1.08431, count, seconds=seconds, gaps=gaps)
    columns = range(width - 3 - (count - 1) * pitch, width - 2, pitch)
    labels = time_labels(candles, columns, width, seconds=seconds, zone=zone, this_year=year)
    text = "".join(part for part, _ in labels.runs)
    assert len(text) == width
    return text


@pytest.mark.parametrize(("pitch", "zone"), crossed([1, 2, 4], ZONES))
def test_labels_are_whole_words_at_round_times_with_a_date_in_sight(
    pitch: int, zone: tzinfo
) -> None:
    for granularity, width in product(SECONDS, range(20, 251, 46)):
        case = f"{granularity}, {width} columns"
        words = axis(SECONDS[granularity], width, pitch, zone, gaps=True).split("  ")
        labels = [word.strip() for word in words if word.strip()]
        times = [label for label in labels if ":" in label]
        dates = [label for label in labels if ":" not in label]
        assert dates, case
        assert all(len(label) <= len("Wed 30 Sep 2026") for label in labels), case
        if SECONDS[granularity] >= 60:
            assert all(int(time[-2:]) % 5 == 0 for time in times), case


def test_a_day_is_named_where_it_changes() -> None:
    text = axis(1800, 150, 2, UTC)
    assert "Mon 2 Mar" in text
    assert "12:00" in text


def test_a_date_of_another_year_names_it() -> None:
    assert "2026" in axis(300, 90, 2, UTC, year=2027)
    assert "2026" not in axis(300, 90, 2, UTC)


def test_daily_candles_show_months_and_the_year() -> None:
    text = axis(86_400, 150, 2, UTC)
    assert "Jan 2026" in text
    assert "Feb" in text


def test_monthly_candles_show_years() -> None:
    assert "2024" in axis(SECONDS["M"], 150, 2, UTC)
