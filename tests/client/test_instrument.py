"""`client.instrument` at the practice broker, and an Instrument in the place of its name."""

from collections.abc import AsyncIterator

import httpx
import pytest

from keydesk_client import Client
from keydesk_client.errors import InvalidRequest, Refused
from keydesk_client.models import ClientPrice, Instrument, LimitOrderRequest, MarketOrderRequest
from support.broker import PracticeServer


@pytest.fixture
async def client(desk_of_my_own: PracticeServer) -> AsyncIterator[Client]:
    desk = desk_of_my_own
    async with Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    ) as client:
        yield client


@pytest.fixture
async def pair(client: Client) -> Instrument:
    return await client.instrument("EUR_USD")


async def test_every_call_takes_an_instrument_for_its_name(
    client: Client, pair: Instrument
) -> None:
    price = (await client.pricing.get([pair], include_home_conversions=True)).prices[0]
    assert price.instrument == "EUR_USD"
    async with client.pricing.stream([pair]) as prices:
        assert isinstance(await anext(aiter(prices)), ClientPrice)
    assert (await client.candles.get(pair, count=1)).instrument == "EUR_USD"
    assert (await client.candles.get_for_account(pair, count=1)).instrument == "EUR_USD"
    assert (await client.books.order(pair)).order_book.instrument == "EUR_USD"
    assert (await client.books.position(pair)).position_book.instrument == "EUR_USD"
    assert (await client.accounts.instruments([pair])).instruments == (pair,)
    await client.orders.create(MarketOrderRequest(instrument=pair, units=100), instrument=pair)
    assert (await client.positions.get(pair)).position.long.units == 100
    assert len((await client.trades.list(instrument=pair)).trades) == 1
    assert [each async for each in client.trades.iterate(instrument=pair)]
    assert not (await client.orders.list(instrument=pair)).orders
    await client.positions.close(pair, long_units="ALL")


@pytest.mark.parametrize("spelt", ["EURUSD", "eur_usd", "EUR/USD", "eur-usd"])
async def test_another_spelling_is_refused_before_sending_with_the_name(spelt: str) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(400)

    url, order = "https://r.test", MarketOrderRequest(instrument=spelt, units=1)
    async with Client(
        token="t", rest_url=url, stream_url=url, transport=httpx.MockTransport(answer)
    ) as client:
        for call in (
            client.orders.create(order, account_id="1"),
            client.candles.get(spelt),
            client.pricing.get(["USD_JPY", spelt], account_id="1"),
        ):
            with pytest.raises(InvalidRequest, match=r"^instruments?: .* did you mean EUR_USD\?"):
                await call
    assert asked == []


async def test_a_name_that_the_account_lacks_is_refused_once_its_instruments_are_known(
    client: Client, pair: Instrument
) -> None:
    order = MarketOrderRequest(instrument="EUR_UDS", units=1)
    with pytest.raises(InvalidRequest, match="did you mean EUR_USD"):
        await client.orders.create(order)
    with pytest.raises(Refused):  # an exit: the service decides
        await client.orders.create(order.with_(position_fill="REDUCE_ONLY"))
    assert pair.name == "EUR_USD"


async def test_the_only_argument_of_a_call_may_be_the_account(client: Client) -> None:
    account_id = client.account_id
    assert account_id is not None
    elsewhere = client.for_account("none")
    assert (await elsewhere.accounts.summary(account_id)).account.id == account_id
    assert (await elsewhere.accounts.get(account_id)).account.id == account_id
    assert (await elsewhere.trades.open(account_id)).trades == ()
    assert (await elsewhere.positions.open(account_id)).positions == ()
    assert (await elsewhere.orders.pending(account_id)).orders == ()


async def test_a_request_holds_the_name(pair: Instrument) -> None:
    order = LimitOrderRequest(instrument=pair, units=1, price="1.1")
    assert order.instrument == "EUR_USD"
    assert order.with_(units=2).instrument == "EUR_USD"


async def test_the_instruments_are_read_once() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, json={"instruments": [{"name": "EUR_USD"}, {"name": "USD_JPY"}]})

    url, transport = "https://r.test", httpx.MockTransport(answer)
    async with Client(
        token="planted", rest_url=url, stream_url=url, account_id="1", transport=transport
    ) as client:
        assert (await client.instrument("EUR_USD")).quote == "USD"
        assert (await client.instrument("USD_JPY")).base == "USD"
        assert (await client.for_look_ups().instrument("USD_JPY")).base == "USD"
    assert asked == ["/v3/accounts/1/instruments"]


@pytest.mark.parametrize("name", ["EURUSD", "eur/usd", "EUR_UDS"])
async def test_a_wrong_name_brings_the_right_one_to_mind(client: Client, name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"did you mean .*EUR_USD"):
        await client.instrument(name)
