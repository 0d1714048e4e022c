import inspect
import pydoc
from collections.abc import Iterator

import pytest

from keydesk_client import Client, sync
from keydesk_client.areas import (
    accounts,
    books,
    candles,
    orders,
    positions,
    pricing,
    trades,
    transactions,
)
from keydesk_client.errors import Unreachable
from keydesk_client.models import ClientPrice, MarketOrderRequest
from support.broker import SharedPractice


@pytest.fixture
def client(shared_practice: SharedPractice) -> Iterator[sync.Client]:
    desk = shared_practice.open_desk()
    inner = Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    )
    with sync.Client(inner) as client:
        yield client


def test_a_script_trades_without_await(client: sync.Client) -> None:
    created = client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=100))
    assert created.order_fill_transaction is not None
    (trade,) = client.trades.open().trades
    client.trades.close(trade.id)
    assert [each.id for each in client.trades.iterate(state="ALL", page=1)] == [trade.id]


def test_an_iterator_may_be_left_half_way(client: sync.Client) -> None:
    for candle in client.candles.iterate(
        "EUR_USD", granularity="H1", from_="2024-03-01T00:00:00Z", page=3
    ):
        if candle.time.datetime.hour == 5:
            break
    assert candle.time.datetime.hour == 5


def test_a_stream_is_a_with_and_a_for(client: sync.Client) -> None:
    with client.pricing.stream(["EUR_USD"]) as prices:
        item = next(prices)
        assert prices.health.connected
    assert isinstance(item, ClientPrice)


async def test_it_works_where_a_loop_is_running_already(shared_practice: SharedPractice) -> None:
    desk = shared_practice.open_desk()
    inner = Client(token=desk.token, rest_url=desk.rest_url, stream_url=desk.stream_url)
    with sync.Client(inner) as client:
        assert client.accounts.list().accounts


def test_errors_are_the_same() -> None:
    nobody = Client(token="t", rest_url="http+unix:///nobody", stream_url="http+unix:///nobody")
    with sync.Client(nobody) as client, pytest.raises(Unreachable):
        client.positions.close("EUR_USD", long_units="ALL", account_id="1")


@pytest.mark.parametrize(
    ("waiting", "asynchronous"),
    [
        (sync.Orders, orders.Orders),
        (sync.Trades, trades.Trades),
        (sync.Pricing, pricing.Pricing),
        (sync.Transactions, transactions.Transactions),
        (sync.Accounts, accounts.Accounts),
        (sync.Books, books.Books),
        (sync.Candles, candles.Candles),
        (sync.Positions, positions.Positions),
    ],
)
def test_every_call_has_its_waiting_twin(waiting: type, asynchronous: type) -> None:
    public = {
        name for name, _ in inspect.getmembers(asynchronous, inspect.isfunction) if name[0] != "_"
    }
    assert public == {name for name in vars(waiting) if name[0] != "_"}


def test_a_call_shows_the_parameters_and_the_words_of_the_method_it_waits_for() -> None:
    url = "https://r.test"
    with sync.Client(Client(token="t" * 8, rest_url=url, stream_url=url)) as client:
        told = {
            name: str(inspect.signature(call))
            for name, call in (
                ("create", client.orders.create),
                ("iterate", client.candles.iterate),
                ("stream", client.pricing.stream),
            )
        }
        assert told["create"].startswith("(order: 'OrderRequest', *, instrument: 'Instrument |")
        assert told["iterate"].startswith("(instrument: 'str', *, from_: 'Moment'")
        assert told["stream"].startswith("(instruments: 'Iterable[str]'")
        assert "Send an order, once" in pydoc.plain(pydoc.render_doc(client.orders.create))
        assert "create(self, order: 'OrderRequest'" in pydoc.plain(pydoc.render_doc(sync.Orders))
