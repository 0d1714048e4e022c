"""The parts of an order that a caller builds: an invalid value is refused at once, with the member's name."""

import pickle
from collections.abc import Callable

import pytest

from keydesk_client.errors import InvalidRequest
from keydesk_client.models import (
    ClientExtensions,
    MarketOrderRequest,
    Reader,
    StopLossDetails,
    TrailingStopLossDetails,
)


@pytest.mark.parametrize(
    ("kind", "members", "field", "said"),
    [
        (StopLossDetails, {"price": 1.05}, "price", "float"),
        (StopLossDetails, {"prise": "1.05"}, "prise", "use one of price, distance"),
        (TrailingStopLossDetails, {}, "distance", "required"),
        (TrailingStopLossDetails, {"distance": 0}, "distance", "above 0"),
        (StopLossDetails, {"price": "-1"}, "price", "above 0"),
        (StopLossDetails, {"price": 1, "distance": 1}, "distance", "not both"),
        (ClientExtensions, {"ident": "mine"}, "ident", "use one of id, tag, comment"),
        (
            MarketOrderRequest,
            {"instrument": "EUR_USD", "units": 1, "stop_loss_on_fill": {"price": "1", "prise": 1}},
            "stop_loss_on_fill.prise",
            "no such member",
        ),
    ],
)
def test_an_invalid_part_is_refused(
    kind: Callable[..., object], members: dict[str, object], field: str, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        kind(**members)
    assert refused.value.field == field


def test_positional_members_are_refused_with_an_example() -> None:
    unchecked: Callable[..., object] = MarketOrderRequest
    message = r"keyword arguments only: MarketOrderRequest\(instrument=\.\.\., units=\.\.\.\)"
    with pytest.raises(TypeError, match=message):
        unchecked("EUR_USD", 100)


def test_a_part_that_is_read_keeps_unknown_members() -> None:
    read = Reader(StopLossDetails).read(b'{"price":"1.05","newer":1}')
    assert read.to_wire() == {"price": "1.05", "newer": 1}
    assert pickle.loads(pickle.dumps(read)) == read
