"""What editors, notebooks and help() show of requests and answers: every member by its Python name."""

import inspect
import pydoc
import subprocess
import sys
from dataclasses import fields

import pytest

from keydesk_client import models
from keydesk_client.models import (
    Candlestick,
    LimitOrderRequest,
    OrderFillTransaction,
    PricingResponse,
    Reader,
    StopLossDetails,
)
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.slots_record import SlottedRecord

RECORDS = {
    name: kind
    for name in models.__all__
    if isinstance(kind := getattr(models, name), type)
    and issubclass(kind, Record | SlottedRecord)
    and kind not in {Record, SlottedRecord}
}


@pytest.mark.parametrize("part", [8, pytest.param(1, marks=pytest.mark.e2e)])
def test_the_signature_lists_every_member_by_its_python_name(part: int) -> None:
    for name, kind in [*RECORDS.items()][::part]:
        names = (
            kind.model_fields if issubclass(kind, Record) else [each.name for each in fields(kind)]
        )
        assert set(inspect.signature(kind).parameters) == set(names), name
        documented = inspect.getdoc(kind) or ""
        assert [each for each in names if f"    {each}: " not in documented] == [], name


@pytest.mark.e2e
def test_an_import_reads_no_source_for_docstrings() -> None:
    code = (
        "import keydesk_client.models.pricing, keydesk_client.models.transactions\n"
        "from keydesk_client.models._core.member_docs import members_of\n"
        "print(members_of.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "0\n"


def test_a_signature_keeps_its_names_once_a_record_was_made() -> None:
    Reader(OrderFillTransaction).read(b'{"type":"ORDER_FILL","id":"7"}')
    LimitOrderRequest(instrument="EUR_USD", units=1, price=1)
    assert "account_balance" in inspect.signature(OrderFillTransaction).parameters
    order = inspect.signature(LimitOrderRequest).parameters
    assert str(order["price"]) == "price: Decimal | int | str"
    assert str(order["gtd_time"]) == "gtd_time: DateTime | datetime | str | None = None"
    assert str(order["time_in_force"]) == "time_in_force: TimeInForce = 'GTC'"
    assert order["units"].default is inspect.Parameter.empty


def help_of(kind: type) -> str:
    """Return the help in one line: from Python 3.13 on, each parameter of a long signature has a line of its own."""
    lines = pydoc.plain(pydoc.render_doc(kind)).replace("\n |", "\n")
    return " ".join(lines.split()).replace("( ", "(")


def test_help_shows_types_units_and_defaults() -> None:
    stop = help_of(StopLossDetails)
    assert "StopLossDetails(*, price: Decimal | int | str | None = None, distance: Decimal" in stop
    assert "In price units, not pips" in stop
    assert "(*positional" not in stop.split("Method resolution order")[0]
    answer = help_of(PricingResponse)
    assert "PricingResponse(*, request_id: str = '', " in answer
    assert "prices: tuple[ClientPrice, ...]" in answer
    assert "    volume: int\n        Number of prices" in (inspect.getdoc(Candlestick) or "")
