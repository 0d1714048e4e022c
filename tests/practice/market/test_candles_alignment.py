"""Periods cover time without gaps, and begin at the same instants for every requested range."""

from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keydesk_practice.market.bar_builder import Alignment
from keydesk_practice.market.candles import GRANULARITIES, boundaries, usual_cells
from keydesk_practice.market.hours import CELL, Hours, TradingHours, cell_at, cells_in, first_cell
from support.data.practice_market import instant
from support.examples import examples

FIRST, LAST = cell_at(instant("1999-01-05T00:00Z")), cell_at(instant("2030-01-01T00:00Z"))
ZONES = ["America/New_York", "UTC", "Asia/Tokyo", "Asia/Kathmandu", "Australia/Lord_Howe"]


@settings(max_examples=examples(15, soak=150), deadline=None)
@given(
    granularity=st.sampled_from(GRANULARITIES),
    start=st.integers(FIRST, LAST),
    periods=st.integers(1, 5),
    hour=st.integers(0, 23),
    zone=st.sampled_from(ZONES),
    weekday=st.integers(0, 6),
)
def test_periods_cover_a_range_without_holes(  # noqa: PLR0917  drawn by hypothesis, by name
    granularity: str, start: int, periods: int, hour: int, zone: str, weekday: int
) -> None:
    alignment = Alignment(hour, ZoneInfo(zone), weekday)
    end = start + periods * usual_cells(granularity)
    edges = boundaries(granularity, alignment, start, end)
    assert edges[0] <= start < edges[1]
    assert edges[-2] < end <= edges[-1]
    assert (np.diff(edges) > 0).all()
    wider = boundaries(granularity, alignment, start - 20_000, end + 20_000)
    assert set(edges.tolist()) <= set(wider.tolist())


@given(start=st.integers(FIRST, LAST), length=st.integers(1, 40_000))
@settings(max_examples=examples(12, soak=100), deadline=None)
def test_a_span_is_closed_only_if_all_its_cells_are(start: int, length: int) -> None:
    hours = TradingHours(Hours.FX)
    cells = np.arange(start, start + length)
    each = hours.any_open(cells, cells + 1)
    assert hours.any_open(np.array([start]), np.array([start + length]))[0] == each.any()


def test_cells_of_a_day_are_open_as_single_spans_are() -> None:
    hours = TradingHours(Hours.FX)
    for day in range(19_860, 19_868):
        mask = hours.open_cells(day)
        cells = first_cell(day) + np.arange(cells_in(day))
        each = hours.any_open(cells, cells + 1)
        assert (each == (np.ones(len(cells), dtype=bool) if mask is None else mask)).all()


def test_every_granularity_has_a_usual_length() -> None:
    for granularity in GRANULARITIES:
        edges = boundaries(granularity, Alignment(), FIRST, FIRST + 4 * usual_cells(granularity))
        usual = usual_cells(granularity) * CELL
        assert float(np.median(np.diff(edges))) * CELL == pytest.approx(usual, rel=0.1)
