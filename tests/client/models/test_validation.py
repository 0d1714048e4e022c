"""The parts of an order that a caller makes: what can not be right is refused at once, by the member's name."""

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
def test_a_part_that_can_not_be_right_is_refused(
    kind: Callable[..., object], members: dict[str, object], field: str, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        kind(**members)
    assert refused.value.field == field


def test_members_without_their_names_are_refused_with_the_names() -> None:
    unchecked: Callable[..., object] = MarketOrderRequest
    told = r"keyword arguments only: MarketOrderRequest\(instrument=\.\.\., units=\.\.\.\)"
    with pytest.raises(TypeError, match=told):
        unchecked("EUR_USD", 100)


def test_a_part_that_is_read_keeps_members_that_we_do_not_know() -> None:
    read = Reader(StopLossDetails).read(b'{"price":"1.05","newer":1}')
    assert read.to_wire() == {"price": "1.05", "newer": 1}
    assert pickle.loads(pickle.dumps(read)) == read
