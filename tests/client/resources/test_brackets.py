"""Orders in one line: pips, multiples of the risk and prices become exact details; what is ambiguous is refused."""

import json
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from keydesk_client import Client, Done, FileJournal, NotSent, Sender
from keydesk_client.errors import InvalidRequest
from keydesk_client.models import Instrument, Reader, StopLossDetails
from keydesk_client.resources.brackets import Bracket, Level, limit_order, market_order, stop_order
from support.broker import PracticeServer

TERMS = (
    b'{"name":"%s","pipLocation":%d,"displayPrecision":%d,"tradeUnitsPrecision":0,'
    b'"minimumTradeSize":"1","maximumOrderUnits":"100000000"}'
)
EUR_USD = Reader(Instrument).read(TERMS % (b"EUR_USD", -4, 5))
USD_JPY = Reader(Instrument).read(TERMS % (b"USD_JPY", -2, 3))


@pytest.mark.parametrize(
    ("pair", "stop", "target", "stop_distance", "target_distance"),
    [
        (EUR_USD, "20p", "2r", "0.0020", "0.0040"),
        (EUR_USD, "12.5 pips", "1.333R", "0.00125", "0.00167"),
        (USD_JPY, "20p", "35 p", "0.20", "0.35"),
    ],
)
def test_pips_and_multiples_of_the_risk_count_from_the_fill(
    pair: Instrument, stop: str, target: str, stop_distance: str, target_distance: str
) -> None:
    order = market_order(pair, 100, Bracket(stop, target), {})
    assert order.stop_loss_on_fill is not None
    assert order.take_profit_on_fill is not None
    assert order.stop_loss_on_fill.distance == Decimal(stop_distance)
    assert order.take_profit_on_fill.distance == Decimal(target_distance)


def test_a_price_is_taken_as_it_is_and_r_is_its_distance_from_that_of_the_order() -> None:
    order = limit_order(EUR_USD, -100, "1.1000", Bracket("1.1025", "2r"), {"gtd_time": None})
    assert order.stop_loss_on_fill == StopLossDetails(price="1.1025")
    assert order.take_profit_on_fill is not None
    assert order.take_profit_on_fill.distance == Decimal("0.0050")
    kept = StopLossDetails(distance="0.0030")
    bought = market_order(EUR_USD, 100, Bracket(kept, "1r"), {"price_bound": "1.2"})
    assert bought.stop_loss_on_fill == kept
    assert bought.price_bound == Decimal("1.2")


@pytest.mark.parametrize(
    ("stop", "target", "why"),
    [
        (
            "20",
            None,
            r"stop_loss: '20': it may be a price or pips: write pips as '20p', or a price",
        ),
        (20, None, "a number of type int may be a price or pips"),
        (1.08, None, "a number of type float"),
        ("20 points", None, "it is no price"),
        ("1r", None, "a stop-loss is 1r itself"),
        (None, "2r", "R is the distance of the stop-loss, which is missing"),
        ("1.0900", "2r", "is not known before a market order fills"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_refused(
    stop: Level | None, target: Level | None, why: str
) -> None:
    with pytest.raises(InvalidRequest, match=why) as raised:
        market_order(EUR_USD, 100, Bracket(stop, target), {})
    assert raised.value.field in {"stop_loss", "take_profit"}


@pytest.mark.parametrize(
    ("units", "bracket", "why"),
    [
        (
            100,
            Bracket("1.2001", None),
            "stop_loss: 1.2001: it must be below the order's price, 1.2",
        ),
        (-100, Bracket("1.1999", None), "must be above"),
        (100, Bracket("20p", "1.1900"), "take_profit: 1.1900: it must be above"),
    ],
)
def test_a_level_on_the_wrong_side_of_the_order_is_refused(
    units: int, bracket: Bracket, why: str
) -> None:
    with pytest.raises(InvalidRequest, match=why):
        stop_order(EUR_USD, units, "1.2", bracket, {})


def test_a_level_that_is_given_twice_is_refused() -> None:
    details = StopLossDetails(distance="0.0020")
    with pytest.raises(InvalidRequest, match="give it or stop_loss_on_fill, not both"):
        market_order(EUR_USD, 1, Bracket("20p", None), {"stop_loss_on_fill": details})


async def test_one_line_is_an_order_with_its_bracket_at_the_broker(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    desk = desk_of_my_own
    async with Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    ) as client:
        answer = await client.orders.market("EUR_USD", 10_000, stop_loss="20p", take_profit="2r")
        assert answer.order_fill_transaction is not None
        fill = answer.order_fill_transaction.price
        (trade,) = (await client.trades.open()).trades
        assert trade.stop_loss_order is not None
        assert trade.take_profit_order is not None
        assert fill is not None
        assert trade.stop_loss_order.price == fill - Decimal("0.0020")
        assert trade.take_profit_order.price == fill + Decimal("0.0040")
        await client.orders.limit("EUR_USD", 100, "0.5000", stop_loss="10p")
        await client.orders.stop("EUR_USD", -100, "0.5000", take_profit="0.4900")
        assert len((await client.orders.pending()).orders) == 4
        sender = Sender(client, FileJournal(tmp_path / "j" / "o.jsonl"), lambda: 0)
        assert isinstance(await sender.market("EUR_USD", 7, stop_loss="20p"), Done)
        assert isinstance(await sender.limit("EUR_USD", 7, "0.5000"), Done)
        assert isinstance(await sender.stop("EUR_USD", -7, "0.5000"), Done)
        refused = await sender.market("EURUSD", 7)
        assert isinstance(refused, NotSent)
        assert "did you mean EUR_USD" in refused.message


async def test_terms_that_are_passed_need_no_request() -> None:
    bodies: list[object] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        order = {"type": "MARKET_ORDER", "reason": "CLIENT_ORDER"}
        made = order | {"instrument": "EUR_USD", "units": "-10"}
        return httpx.Response(201, json={"orderCreateTransaction": made})

    url = "https://r.test"
    async with Client(
        token="t",
        rest_url=url,
        stream_url=url,
        account_id="1",
        transport=httpx.MockTransport(answer),
    ) as client:
        await client.orders.market(EUR_USD, "-10", stop_loss="20p")
    (body,) = bodies
    assert isinstance(body, dict)
    assert body["order"]["stopLossOnFill"]["distance"] == "0.0020"
