"""Candles as JSON text: what is written for thousands of them is what the encoder writes."""

from collections.abc import Callable

import pytest

from keydesk_practice.engine.wire_form import in_unix_form, rfc3339, unix
from keydesk_practice.http.market_data_endpoints import candle_text, candle_view
from keydesk_practice.http.responses import json_text
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.candles import Candle, Prices

TIME = 1_104_710_400_000_000_005
MID, BID = (
    Prices("1.10000", "1.20000", "1.00005", "1.10001"),
    Prices("87.1", "87.3", "86.0", "87.2"),
)


@pytest.mark.parametrize("format_time", [rfc3339, unix])
@pytest.mark.parametrize(
    "components", [(), (Component.MID,), (Component.BID, Component.ASK, Component.MID)]
)
@pytest.mark.parametrize("complete", [True, False])
def test_a_candles_text_is_that_of_the_encoder(
    format_time: Callable[[int], str], components: tuple[Component, ...], complete: bool
) -> None:
    prices = {one: MID if one is Component.MID else BID for one in components}
    candle = Candle(TIME, 12_345, complete, prices)
    view = candle_view(candle)
    encoded = json_text(in_unix_form(view) if format_time is unix else view)
    assert candle_text(candle, format_time) == encoded
