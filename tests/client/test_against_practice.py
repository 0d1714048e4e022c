"""Every operation against the practice broker, over its socket."""

import asyncio
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from keydesk_client import Client
from keydesk_client.errors import (
    InvalidRequest,
    NotFound,
    OutOfRange,
    Refused,
    Unauthorized,
)
from keydesk_client.models import (
    ClientExtensions,
    ClientPrice,
    CreateTransaction,
    LimitOrder,
    LimitOrderRequest,
    MarketOrderRequest,
    OrderFillTransaction,
    PricingHeartbeat,
    StopLossDetails,
    StopOrderRequest,
    TakeProfitDetails,
)
from support.broker import PracticeServer


def client_of(desk: PracticeServer, account_id: str | None = None) -> Client:
    return Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=account_id or desk.account_id,
    )


async def test_the_account_is_read_in_every_form(desk_of_my_own: PracticeServer) -> None:
    async with client_of(desk_of_my_own) as client:
        listed = await client.accounts.list()
        whole = await client.accounts.get()
        summary = await client.accounts.summary()
        instruments = await client.accounts.instruments(["EUR_USD", "USD_JPY"])
        changes = await client.accounts.changes(1)
    assert desk_of_my_own.account_id in {account.id for account in listed.accounts}
    assert whole.account.balance == summary.account.nav
    assert {each.name for each in instruments.instruments} == {"EUR_USD", "USD_JPY"}
    assert changes.changes.transactions[0].id == "2"
    assert summary.request_id


async def test_a_stream_of_an_unknown_instrument_ends_and_names_what_was_asked_for(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        stream = client.pricing.stream(["EUR_USD", "EUR_XYZ"])
        with pytest.raises(Refused, match=r"'instruments' \(instruments=EUR_USD,EUR_XYZ\)"):
            async with stream as prices:
                await anext(prices)
        assert stream.health.attempts == 1


async def test_settings_are_changed_and_a_bad_one_is_refused(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        done = await client.accounts.configure(alias="Mine", margin_rate="0.05")
        assert done.client_configure_transaction.margin_rate == Decimal("0.05")
        with pytest.raises(Refused) as refused:
            await client.accounts.configure(margin_rate="7")
    assert refused.value.reject_reason == "MARGIN_RATE_INVALID"


async def test_prices_and_candles_of_all_kinds(desk_of_my_own: PracticeServer) -> None:
    async with client_of(desk_of_my_own) as client:
        prices = await client.pricing.get(["EUR_USD", "USD_JPY"], include_home_conversions=True)
        hours = await client.candles.get("EUR_USD", granularity="H1", price="BAM", count=100)
        own = await client.candles.get_for_account("EUR_USD", granularity="D", units=5, count=3)
        latest = await client.candles.latest(["EUR_USD:M1:BM", "USD_JPY:H1:A"])
    assert {price.instrument for price in prices.prices} == {"EUR_USD", "USD_JPY"}
    assert {each.currency for each in prices.home_conversions or ()} == {"EUR", "USD", "JPY"}
    last = hours.candles[-1]
    assert len(hours.candles) == 100
    assert last.bid is not None
    assert last.ask is not None
    assert last.bid.c < last.ask.c
    assert len(own.candles) == 3
    assert [(each.instrument, each.granularity) for each in latest.latest_candles] == [
        ("EUR_USD", "M1"),
        ("USD_JPY", "H1"),
    ]


async def test_candles_are_iterated_over_many_pages_without_hole_or_double(
    desk_of_my_own: PracticeServer,
) -> None:
    start, end = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 2, tzinfo=UTC)
    async with client_of(desk_of_my_own) as client:
        got = [
            candle.time.ns
            async for candle in client.candles.iterate(
                "EUR_USD", granularity="M1", from_=start, to=end, page=97
            )
        ]
        whole = await client.candles.get("EUR_USD", granularity="M1", from_=start, to=end)
    assert got == [candle.time.ns for candle in whole.candles]
    assert len(got) == 24 * 60


async def test_a_trade_from_its_order_to_its_close(desk_of_my_own: PracticeServer) -> None:
    async with client_of(desk_of_my_own) as client:
        order = MarketOrderRequest(
            instrument="EUR_USD",
            units=10_000,
            client_extensions=ClientExtensions(id="entry-1"),
            trade_client_extensions=ClientExtensions(id="my/trade?1"),
            stop_loss_on_fill=StopLossDetails(distance="0.0500"),
        )
        instrument = (await client.accounts.instruments(["EUR_USD"])).instruments[0]
        created = await client.orders.create(order, instrument=instrument, client_request_id="r1")
        fill = created.order_fill_transaction
        assert fill is not None
        assert fill.trade_opened is not None
        trade_id = fill.trade_opened.trade_id

        assert (await client.trades.get("@my/trade?1")).trade.id == trade_id
        tagged = ClientExtensions(id="my/trade?1", tag="swing")
        await client.trades.set_client_extensions(trade_id, tagged)
        protected = await client.trades.set_dependent_orders(
            trade_id, take_profit=TakeProfitDetails(price="2.00000"), stop_loss=None
        )
        assert protected.take_profit_order_transaction is not None
        assert protected.stop_loss_order_cancel_transaction is not None

        half = await client.trades.close(trade_id, units=5000)
        assert half.order_fill_transaction is not None
        assert half.order_fill_transaction.units == -5000
        (trade,) = (await client.trades.open()).trades
        assert trade.current_units == 5000
        assert trade.client_extensions == tagged
        assert trade.take_profit_order is not None
        assert trade.stop_loss_order is None

        position = (await client.positions.get("EUR_USD")).position
        assert position.long.units == 5000
        closed = await client.positions.close("EUR_USD", long_units="ALL")
        assert closed.long_order_fill_transaction is not None
        assert (await client.positions.open()).positions == ()
        assert [each.instrument for each in (await client.positions.list()).positions] == [
            "EUR_USD"
        ]
        with pytest.raises(NotFound) as gone:
            await client.trades.close(trade_id)
        assert gone.value.reject_reason == "TRADE_DOESNT_EXIST"
        done = [trade.id async for trade in client.trades.iterate(state="CLOSED", page=1)]
        assert done == [trade_id]


async def test_a_resting_order_is_changed_replaced_and_cancelled(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        order = LimitOrderRequest(
            instrument="EUR_USD",
            units=1000,
            price="0.50000",
            time_in_force="GTD",
            gtd_time=datetime(2050, 1, 1, tzinfo=UTC),
            client_extensions=ClientExtensions(id="rest-1"),
        )
        created = await client.orders.create(order)
        assert created.order_fill_transaction is None
        await client.orders.set_client_extensions(
            "@rest-1", client_extensions=ClientExtensions(id="rest-1", comment="wait")
        )
        read = (await client.orders.get("@rest-1")).order
        assert isinstance(read, LimitOrder)
        assert read.gtd_time == order.gtd_time
        assert read.client_extensions == ClientExtensions(id="rest-1", comment="wait")

        better = LimitOrderRequest(instrument="EUR_USD", units=1000, price="0.60000")
        replaced = await client.orders.replace("@rest-1", better)
        (pending,) = (await client.orders.pending()).orders
        assert pending.id == replaced.order_create_transaction.id
        cancelled = await client.orders.cancel(pending.id)
        assert cancelled.order_cancel_transaction.order_id == pending.id
        states = [
            (each.id, each.state) async for each in client.orders.iterate(state="ALL", page=1)
        ]
        assert states == [(pending.id, "CANCELLED"), (read.id, "CANCELLED")]
        with pytest.raises(NotFound):
            await client.orders.get("@nobody")


async def test_a_rejected_order_tells_its_reason_and_an_impossible_one_is_never_sent(
    desk_of_my_own: PracticeServer,
) -> None:
    async with client_of(desk_of_my_own) as client:
        instrument = (await client.accounts.instruments(["EUR_USD"])).instruments[0]
        too_fine = StopOrderRequest(instrument="EUR_USD", units=1, price="1.1234567")
        with pytest.raises(Refused) as refused:
            await client.orders.create(too_fine)
        assert refused.value.reject_reason == "PRICE_PRECISION_EXCEEDED"
        assert refused.value.reject_transaction is not None
        last = (await client.accounts.summary()).last_transaction_id
        with pytest.raises(InvalidRequest):
            await client.orders.create(too_fine, instrument=instrument)
        assert (await client.accounts.summary()).last_transaction_id == last


async def test_history_is_read_in_every_way(desk_of_my_own: PracticeServer) -> None:
    async with client_of(desk_of_my_own) as client:
        for _ in range(3):
            await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1))
        index = await client.transactions.list(page_size=2)
        every = [each async for each in client.transactions.iterate(page_size=2)]
        since = [each async for each in client.transactions.iterate_since(3)]
        fills = (await client.transactions.range(1, 9, type_=["ORDER_FILL"])).transactions
        recent = (await client.transactions.recent(2)).transactions
        first = (await client.transactions.get(1)).transaction
        with pytest.raises(OutOfRange):
            await client.accounts.changes(10_000)
    assert index.count == len(every)
    assert [int(each.id) for each in every] == list(range(1, len(every) + 1))
    assert since == every[3:]
    assert all(isinstance(each, OrderFillTransaction) for each in fills)
    assert list(recent) == every[-2:]
    assert isinstance(first, CreateTransaction)


async def test_both_streams_tell_what_happens(desk_of_my_own: PracticeServer) -> None:
    async with client_of(desk_of_my_own) as client:
        async with client.pricing.stream(["EUR_USD", "USD_JPY"]) as prices:
            seen: set[str | None] = set()
            async for item in prices:
                if isinstance(item, ClientPrice):
                    seen.add(item.instrument)
                if seen == {"EUR_USD", "USD_JPY"}:
                    break
                assert isinstance(item, ClientPrice | PricingHeartbeat)
        last = (await client.accounts.summary()).last_transaction_id
        async with client.transactions.stream(since=last) as transactions:
            await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1))
            async for happened in transactions:
                if isinstance(happened, OrderFillTransaction):
                    assert happened.units == 1
                    break


async def test_a_wrong_token_and_a_foreign_account_are_told_apart(
    desk_of_my_own: PracticeServer,
) -> None:
    url = desk_of_my_own.rest_url
    async with Client(token="wrong", rest_url=url, stream_url=url) as stranger:
        with pytest.raises(Unauthorized):
            await stranger.accounts.list()
    async with client_of(desk_of_my_own, account_id="101-001-9999999-001") as client:
        with pytest.raises(Refused):
            await client.accounts.summary()


TWO_LOOPS = """
import asyncio, sys
from keydesk_client import Client, sync
from keydesk_client.errors import WrongEventLoop

rest_url, stream_url, token, account_id = sys.stdin.read().split()
client = Client(rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id)

async def ask():
    await client.accounts.summary()

async def listen():
    async with client.pricing.stream(["EUR_USD"]) as prices:
        print(type(await anext(prices)).__name__)

def attempt(call):
    try:
        call()
    except WrongEventLoop as error:
        print(error.settled, error)

asyncio.run(listen())
attempt(lambda: asyncio.run(ask()))
attempt(lambda: asyncio.run(listen()))
attempt(lambda: sync.Client(client).accounts.summary())
asyncio.run(client.close())
"""


@pytest.mark.e2e
async def test_a_client_whose_event_loop_has_ended_says_so(
    desk_of_my_own: PracticeServer,
) -> None:
    desk = desk_of_my_own
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", TWO_LOOPS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    place = f"{desk.rest_url} {desk.stream_url} {desk.token} {desk.account_id}"
    said, _ = await process.communicate(place.encode())
    first, *refusals = said.decode().splitlines()
    assert first == "ClientPrice"
    assert len(refusals) == 3
    text = "True the client has connections in another event loop: make a client inside each"
    assert all(each.startswith(text) for each in refusals)
    assert process.returncode == 0
