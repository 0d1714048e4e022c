"""Slippage and time to acknowledge outlive the desk, and are summed by instrument."""

import json
import stat
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.trading.executions import (
    TRIGGERED,
    Execution,
    ExecutionLog,
    figures_of,
    read_executions,
)

D = Decimal
FILLED = Execution(1_000, "EUR_USD", "open", "filled", 120.0, D("0.2"))


def test_what_was_kept_is_read_by_the_next_desk(tmp_path: Path) -> None:
    path = tmp_path / "a.executions"
    others = (
        replace(FILLED, slippage=None, result="resting"),
        replace(FILLED, milliseconds=None, result="unconfirmed"),
    )
    for each in (FILLED, *others):
        ExecutionLog(path).add(each)
    assert read_executions(path) == [FILLED, *others]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_figures_are_by_instrument_with_most_orders_first() -> None:
    slow = replace(FILLED, milliseconds=480.0, slippage=D("-0.4"))
    lost = replace(FILLED, milliseconds=None, slippage=None, result="unconfirmed")
    refused = replace(FILLED, slippage=None, result="rejected", milliseconds=60.0)
    other = replace(FILLED, instrument="GBP_USD")
    euro, pound = figures_of([other, FILLED, slow, lost, refused])
    assert (euro.instrument, pound.instrument) == ("EUR_USD", "GBP_USD")
    assert (euro.orders, euro.lost, euro.rejected, euro.fills) == (4, 1, 1, 2)
    assert (euro.median_ms, euro.slowest_ms) == (120.0, 480.0)
    assert (euro.mean_slippage, euro.worst_slippage) == (D("-0.1"), D("0.2"))


def test_an_instrument_without_any_answer_has_no_figures() -> None:
    [only] = figures_of([replace(FILLED, milliseconds=None, slippage=None)])
    assert only.median_ms is None
    assert only.mean_slippage is None


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"time_ns": "x", "instrument": "A", "kind": "a", "result": "b"}',
        '{"time_ns": 1, "instrument": "A", "kind": "a", "result": "b", "slippage": "NaN"}',
        '{"time_ns": 1, "instrument": "A", "kind": "a", "result": "b", "slippage": "1E999999"}',
        '{"time_ns": 1, "instrument": "A", "kind": "a", "result": "b", "milliseconds": -1}',
        '{"time_ns": 1, "instrument": "A", "kind": "a", "result": "b", "milliseconds": NaN}',
        '{"torn": ',
    ],
)
def test_a_damaged_line_is_left_out_and_the_others_stay(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.executions"
    ExecutionLog(path).add(FILLED)
    with path.open("a") as file:
        file.write(f"{line}\n")
    ExecutionLog(path).add(FILLED)
    assert read_executions(path) == [FILLED, FILLED]


def test_a_file_that_cannot_be_written_or_read_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "a.executions"
    ExecutionLog(path).add(FILLED)
    assert read_executions(path) == []


def test_slippage_is_kept_to_the_digit(tmp_path: Path) -> None:
    path = tmp_path / "a.executions"
    ExecutionLog(path).add(replace(FILLED, slippage=D("0.1234567890123456789")))
    assert json.loads(path.read_text())["slippage"] == "0.1234567890123456789"


def test_an_order_that_rested_counts_by_its_slippage_once_and_is_no_request() -> None:
    later = Execution(2_000, "EUR_USD", TRIGGERED, "filled", None, D("0.8"), fill_id="77")
    [euro] = figures_of([FILLED, later, replace(later, time_ns=2_001)])
    assert (euro.orders, euro.lost, euro.fills) == (1, 0, 2)
    assert (euro.mean_slippage, euro.worst_slippage) == (D("0.5"), D("0.8"))
