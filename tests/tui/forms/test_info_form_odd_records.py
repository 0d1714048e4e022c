"""The details of records that lack members, or whose times are in no calendar: they open, and show what there is."""

import json
from dataclasses import replace

import pytest

from keydesk.forms.detail_rows import (
    instrument_rows,
    order_rows,
)
from keydesk.text import format as show
from keydesk_client.models import Instrument
from keydesk_client.models._core.decoder import Reader
from support.data.desk_store import example_store

LONG_AGO, FAR_AHEAD = -(10**30), 10**30


@pytest.mark.parametrize("financing", ["null", "{}", '{"longRate":"x","shortRate":[]}'])
def test_an_instrument_without_its_display_name_and_financing_is_shown(financing: str) -> None:
    store = example_store()
    whole = store.instruments["EUR_USD"].to_wire()
    del whole["displayName"]
    whole["financing"] = json.loads(financing)
    store.instruments["EUR_USD"] = Reader(Instrument).read(json.dumps(whole))
    rows = dict(instrument_rows("EUR_USD", store))
    assert rows["instrument"] == "EUR/USD"
    assert rows["financing long"] == rows["financing short"] == show.EMPTY


@pytest.mark.parametrize("ns", [LONG_AGO, FAR_AHEAD])
def test_an_order_with_times_beyond_every_calendar_is_shown(ns: int) -> None:
    store = example_store()
    order = replace(store.orders["6415"], create_time_ns=ns, gtd_ns=ns)
    assert dict(order_rows(order, store))["created"].endswith("UTC")
    assert show.clock(ns)
