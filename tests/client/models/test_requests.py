from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from keydesk_client import Client
from keydesk_client.errors import InvalidRequest
from keydesk_client.models import (
    ClientExtensions,
    Instrument,
    LimitOrderRequest,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    Reader,
    StopLossDetails,
    StopLossOrderRequest,
    StopOrderRequest,
    TakeProfitDetails,
    TakeProfitOrderRequest,
    TrailingStopLossDetails,
    TrailingStopLossOrderRequest,
)
from keydesk_client.models.requests import validate_details_for_instrument, validate_for_instrument

EUR_USD = Instrument(
    name="EUR_USD",
    type="CURRENCY",
    display_name="EUR/USD",
    pip_location=-4,
    display_precision=5,
    trade_units_precision=0,
    minimum_trade_size=Decimal(1),
    maximum_trailing_stop_distance=Decimal("1.00000"),
    minimum_trailing_stop_distance=Decimal("0.00050"),
    maximum_position_size=Decimal(0),
    maximum_order_units=Decimal(1_000_000),
    margin_rate=Decimal("0.02"),
)


@pytest.mark.parametrize(
    ("kind", "members", "field"),
    [
        (MarketOrderRequest, {"units": 0}, "units"),
        (MarketOrderRequest, {"units": 1.5}, "units"),
        (MarketOrderRequest, {"units": Decimal("NaN")}, "units"),
        (MarketOrderRequest, {}, "units"),
        (MarketOrderRequest, {"units": Decimal("0." + "1" * 5000)}, "units"),
        (MarketOrderRequest, {"units": 1, "instrument": ""}, "instrument"),
        (MarketOrderRequest, {"units": 1, "instrument": "E\r\n"}, "instrument"),
        (MarketOrderRequest, {"units": 1, "instrument": " EUR_USD"}, "instrument"),
        (MarketOrderRequest, {"units": 1, "position_fill": "FOO"}, "position_fill"),
        (
            LimitOrderRequest,
            {"units": 1, "price": 1, "trigger_condition": "X"},
            "trigger_condition",
        ),
        (MarketOrderRequest, {"units": 1, "time_in_force": "GTC"}, "time_in_force"),
        (MarketOrderRequest, {"units": 1, "prise_bound": 1}, "prise_bound"),
        (MarketOrderRequest, {"units": 1, "price_bound": "-1"}, "price_bound"),
        (LimitOrderRequest, {"units": 1}, "price"),
        (LimitOrderRequest, {"units": 1, "price": 0}, "price"),
        (LimitOrderRequest, {"units": 1, "price": 1, "time_in_force": "GTD"}, "gtd_time"),
        (LimitOrderRequest, {"units": 1, "price": 1, "time_in_force": "SOON"}, "time_in_force"),
        (
            StopOrderRequest,
            {"units": 1, "price": 1, "time_in_force": "GTD", "gtd_time": datetime(2030, 1, 1)},  # noqa: DTZ001 - that is the point
            "gtd_time",
        ),
        (
            StopOrderRequest,
            {"units": 1, "price": 1, "gtd_time": "2030-01-01T00:00:00Z"},
            "gtd_time",
        ),
        (
            MarketIfTouchedOrderRequest,
            {
                "units": 1,
                "price": 1,
                "take_profit_on_fill": {"price": "1", "distance": "1"},
            },
            "take_profit_on_fill.distance",
        ),
        (
            MarketOrderRequest,
            {"units": 1, "stop_loss_on_fill": StopLossDetails()},
            "stop_loss_on_fill.price",
        ),
        (
            MarketOrderRequest,
            {"units": 1, "stop_loss_on_fill": StopLossDetails(price=1, time_in_force="FOK")},
            "stop_loss_on_fill.time_in_force",
        ),
    ],
)
def test_an_invalid_order_is_refused_with_the_name_of_its_member(
    kind: type[Any], members: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        kind(**{"instrument": "EUR_USD"} | members)
    assert refused.value.field == field
    assert not refused.value.sent


@pytest.mark.parametrize(
    ("kind", "members", "field"),
    [
        (StopLossOrderRequest, {"price": "1.1", "distance": "0.1"}, "distance"),
        (StopLossOrderRequest, {}, "price"),
        (TakeProfitOrderRequest, {"price": "1.1", "time_in_force": "IOC"}, "time_in_force"),
        (TrailingStopLossOrderRequest, {}, "distance"),
        (TrailingStopLossOrderRequest, {"distance": "0"}, "distance"),
        (TakeProfitOrderRequest, {"price": "1.1", "trade_id": ""}, "trade_id"),
        (TakeProfitOrderRequest, {"price": "1.1", "trade_id": "7\n"}, "trade_id"),
        (TakeProfitOrderRequest, {"price": "1.1", "trigger_condition": "X"}, "trigger_condition"),
    ],
)
def test_an_invalid_dependent_order_is_refused(
    kind: type[Any], members: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        kind(**{"trade_id": "7"} | members)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (MarketOrderRequest(instrument="USD_JPY", units=1), "instrument"),
        (MarketOrderRequest(instrument="EUR_USD", units="1.5"), "units"),
        (MarketOrderRequest(instrument="EUR_USD", units="-1000001"), "units"),
        (MarketOrderRequest(instrument="EUR_USD", units=1, price_bound="1.123456"), "price_bound"),
        (LimitOrderRequest(instrument="EUR_USD", units=1, price="1.123456"), "price"),
        (
            LimitOrderRequest(
                instrument="EUR_USD",
                units=1,
                price="1.1",
                stop_loss_on_fill=StopLossDetails(distance="0.000001"),
            ),
            "stop_loss_on_fill.distance",
        ),
        (
            MarketOrderRequest(
                instrument="EUR_USD",
                units=1,
                trailing_stop_loss_on_fill=TrailingStopLossDetails(distance="0.0001"),
            ),
            "trailing_stop_loss_on_fill.distance",
        ),
        (TrailingStopLossOrderRequest(trade_id="7", distance="1.5"), "distance"),
    ],
)
def test_an_order_that_does_not_fit_its_instrument_is_refused_and_not_rounded(
    order: OrderRequest, field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        validate_for_instrument(order, EUR_USD)
    assert refused.value.field == field


def test_trailing_zeros_do_not_count_as_decimals() -> None:
    validate_for_instrument(
        LimitOrderRequest(instrument="EUR_USD", units="1.000", price="1.1000000"), EUR_USD
    )
    validate_details_for_instrument("stop_loss", StopLossDetails(price="1.10000"), EUR_USD)


def test_an_order_request_reads_back_what_it_writes() -> None:
    order = LimitOrderRequest(instrument="EUR_USD", units=-5, price="1.10")
    assert Reader(LimitOrderRequest).read(order.model_dump_json(by_alias=True)) == order


def client_of_nobody() -> Client:
    nowhere = "http://127.0.0.1:9"
    return Client(token="t0ken", rest_url=nowhere, stream_url=nowhere, account_id="1")


def without_price() -> LimitOrderRequest:
    members: dict[str, Any] = {"instrument": "EUR_USD", "units": Decimal(1)}
    return LimitOrderRequest.model_construct(**members)


LIMIT = LimitOrderRequest(instrument="EUR_USD", units=100, price="1.1")
STOPPED = MarketOrderRequest(
    instrument="EUR_USD", units=1, stop_loss_on_fill=StopLossDetails(price=1)
)


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (LIMIT.model_copy(update={"units": -5.5}), "units"),
        (LIMIT.model_copy(update={"price": Decimal("NaN")}), "price"),
        (LIMIT.model_copy(update={"time_in_force": "SOON"}), "time_in_force"),
        (LIMIT.model_copy(update={"prise": 1}), "prise"),
        (without_price(), "price"),
        (
            STOPPED.model_copy(
                update={
                    "stop_loss_on_fill": StopLossDetails(price=1).model_copy(update={"price": 1.1})
                }
            ),
            "stop_loss_on_fill.price",
        ),
        (
            STOPPED.model_copy(
                update={"stop_loss_on_fill": StopLossDetails.model_construct(prise=Decimal(1))}
            ),
            "stop_loss_on_fill.prise",
        ),
    ],
)
async def test_a_request_that_skipped_its_validation_is_refused_before_it_is_sent(
    order: LimitOrderRequest | MarketOrderRequest, field: str
) -> None:
    async with client_of_nobody() as client:
        with pytest.raises(InvalidRequest) as created:
            await client.orders.create(order)
        with pytest.raises(InvalidRequest) as replaced:
            await client.orders.replace("7", order)
    assert (created.value.field, replaced.value.field) == (field, field)


@pytest.mark.parametrize(
    "stop_loss",
    ["30p", {"price": "1.05"}, TakeProfitDetails(price=1)],
    ids=["text", "dict", "kind"],
)
async def test_a_dependent_order_that_is_not_of_its_kind_is_refused_by_name(
    stop_loss: object,
) -> None:
    edit: Any = {"stop_loss": stop_loss}
    async with client_of_nobody() as client:
        with pytest.raises(InvalidRequest, match=r"stop_loss: give StopLossDetails\(") as refused:
            await client.trades.set_dependent_orders("7", **edit)
        assert refused.value.field == "stop_loss"


async def test_extensions_that_are_a_dict_are_refused_by_name() -> None:
    extensions: Any = {"id": "mine"}
    async with client_of_nobody() as client:
        with pytest.raises(InvalidRequest, match=r"client_extensions: give ClientExtensions\("):
            await client.trades.set_client_extensions("7", extensions)


async def test_edited_details_that_skipped_their_validation_are_refused_before_they_are_sent() -> (
    None
):
    details = StopLossDetails(price=1)
    broken = {
        "stop_loss.price": details.model_copy(update={"price": 1.5}),
        "stop_loss.prise": details.model_copy(update={"prise": "1.5"}),
    }
    async with client_of_nobody() as client:
        for field, stop_loss in broken.items():
            with pytest.raises(InvalidRequest) as refused:
                await client.trades.set_dependent_orders("7", stop_loss=stop_loss)
            assert refused.value.field == field
        tags = ClientExtensions(id="mine").model_copy(update={"id": 5})
        with pytest.raises(InvalidRequest) as refused:
            await client.trades.set_client_extensions("7", tags)
        assert refused.value.field == "client_extensions.id"
        with pytest.raises(InvalidRequest) as refused:
            await client.orders.set_client_extensions("7", trade_client_extensions=tags)
        assert refused.value.field == "trade_client_extensions.id"
        with pytest.raises(InvalidRequest) as refused:
            await client.positions.close("EUR_USD", long_units=1, long_client_extensions=tags)
        assert refused.value.field == "long_client_extensions.id"


def test_a_request_is_edited_into_another_one_that_was_validated() -> None:
    edited = LIMIT.with_(units=-50, price="1.2")
    assert edited == LimitOrderRequest(instrument="EUR_USD", units=-50, price="1.2")
    assert StopLossDetails(price=1).with_(price=None, distance="0.01").to_wire() == {
        "price": None,
        "distance": "0.01",
    }
    for members, field in (({"units": -5.5}, "units"), ({"prise": 1}, "prise")):
        changes: dict[str, Any] = members
        with pytest.raises(InvalidRequest) as refused:
            LIMIT.with_(**changes)
        assert refused.value.field == field


def test_an_edited_request_keeps_which_members_were_given() -> None:
    """Only members that were given are sent by an edit of a dependent order."""
    edited = StopLossDetails(price=1).with_(price=2)
    assert edited.model_fields_set == {"price"}
