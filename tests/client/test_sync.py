import asyncio
import inspect
import json
import pydoc
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_client import Client, FileJournal, Retries, sync
from keydesk_client.errors import (
    ClientClosed,
    InvalidRequest,
    ServerFailed,
    StreamNotOpen,
    TimedOut,
    Unreachable,
)
from keydesk_client.models import ClientPrice, MarketOrderRequest, StopLossDetails
from keydesk_client.orders import sender as sending
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    NotSent,
    OrderResult,
    Outcome,
    Progress,
    Rejected,
    Unconfirmed,
)
from keydesk_client.resources import accounts, candles, orders, pricing, trades, transactions
from keydesk_client.resources import pricing as books
from keydesk_client.resources import trades as positions
from support.broker import SharedPractice
from support.fakes.lossy_broker import Fate, LossyBroker
from support.fakes.lossy_desk import transactions_of


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


def test_the_account_is_read_and_not_changed(client: sync.Client) -> None:
    assert client.account_id == client.asynchronous.account_id
    assert client.account_id is not None
    with pytest.raises(AttributeError):
        client.account_id = "B"  # type: ignore[misc]  # that is what must not work


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


def test_a_stream_outside_its_block_is_refused_in_words_rather_than_left_to_hang(
    client: sync.Client,
) -> None:
    prices = client.pricing.stream(["EUR_USD"])
    for read in (iter, next):
        with pytest.raises(StreamNotOpen, match=r"enter the stream first: .* \(`with`"):
            read(prices)
    with prices:
        assert isinstance(next(prices), ClientPrice)
    with pytest.raises(StreamNotOpen, match="the stream was left"):
        iter(prices)
    with pytest.raises(StreamNotOpen, match="entered once"), prices:
        pass


def test_a_stream_may_be_left_after_its_client(client: sync.Client) -> None:
    with client.pricing.stream(["EUR_USD"]):
        client.close()


FORGETFUL = """
import json, sys
from keydesk_client import Client, sync
from keydesk_client.errors import ClientClosed

client = sync.Client(Client(**json.loads(sys.argv[1])))
{left_open}
print("the script is over", flush=True)
"""
HALF_READ = """
candles = client.candles.iterate("EUR_USD", granularity="H1", from_="2024-03-01T00:00:00Z", page=3)
next(candles)
"""
NOT_LEFT = """
prices = client.pricing.stream(["EUR_USD"]).__enter__()
next(prices)
"""
LAST_WORDS = """
class Held:
    def __del__(self):
        client.close()
        try:
            client.accounts.list()
        except ClientClosed:
            pass
held = Held()
client.accounts.list()
"""
CLEARED_IN_THE_CLIENTS_THREAD = f"""
import gc
{HALF_READ}
ring = [candles]
ring.append(ring)
del candles, ring
async def collected():
    return gc.collect()
assert client.loop.run(collected())
client.accounts.list()
"""
FORKED = """
import os
client.accounts.list()
if os.fork() == 0:
    client.close()
else:
    os.wait()
    client.close()
"""


@pytest.mark.e2e
@pytest.mark.parametrize(
    "left_open",
    [HALF_READ, CLEARED_IN_THE_CLIENTS_THREAD, NOT_LEFT, LAST_WORDS, FORKED],
    ids=["half-read", "cleared-in-its-thread", "not-left", "called-at-the-end", "forked"],
)
def test_a_script_that_forgets_to_close_ends_all_the_same(
    shared_practice: SharedPractice, left_open: str
) -> None:
    desk = shared_practice.open_desk()
    settings = {
        "token": desk.token,
        "rest_url": desk.rest_url,
        "stream_url": desk.stream_url,
        "account_id": desk.account_id,
    }
    script = FORGETFUL.format(left_open=left_open)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_ENOUGH_S,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "the script is over" in ran.stdout


LONG_ENOUGH_S = 30.0


async def test_it_works_where_a_loop_is_running_already(shared_practice: SharedPractice) -> None:
    desk = shared_practice.open_desk()
    inner = Client(token=desk.token, rest_url=desk.rest_url, stream_url=desk.stream_url)
    with sync.Client(inner) as client:
        assert client.accounts.list().accounts


def journal_in(folder: Path) -> FileJournal:
    return FileJournal(folder / "private" / "orders.jsonl")


def buy() -> MarketOrderRequest:
    return MarketOrderRequest(instrument="EUR_USD", units=100)


def test_a_script_sends_orders_that_are_never_doubled(client: sync.Client, tmp_path: Path) -> None:
    newest = int(client.accounts.summary().last_transaction_id)
    steps: list[Progress] = []
    journal = journal_in(tmp_path)
    sender = sync.Sender(client, journal, lambda: newest, steps.append)
    assert sender.recover() == ()
    bought: Outcome = sender.create(buy())
    assert isinstance(bought, Done)
    assert bought.result is OrderResult.FILLED
    assert bought.trade_id is not None
    protected = sender.set_dependent_orders(
        bought.trade_id, stop_loss=StopLossDetails(distance="0.01")
    )
    assert isinstance(protected, Done)
    (eur_usd,) = client.accounts.instruments(["EUR_USD"]).instruments
    unfit = sender.close_trade(bought.trade_id, units="0.5", instrument=eur_usd)
    assert isinstance(unfit, NotSent)
    assert unfit.field == "units"
    assert isinstance(sender.close_trade(bought.trade_id, units=40, instrument=eur_usd), Done)
    assert isinstance(sender.close_position("EUR_USD", long_units="ALL"), Done)
    assert isinstance(sender.close_trade(bought.trade_id), Rejected)
    assert sender.resolve(bought.intent) == steps[-1]
    assert client.trades.open().trades == ()
    assert journal.open_intents() == ()


async def test_orders_are_sent_where_a_loop_is_running_already(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desk = shared_practice.open_desk()
    inner = Client(token=desk.token, rest_url=desk.rest_url, stream_url=desk.stream_url)
    with sync.Client(inner) as client:
        sender = sync.Sender(client, journal_in(tmp_path), lambda: 1)
        assert isinstance(sender.create(buy(), account_id=desk.account_id), Done)


QUICK = (0.01, 0.01)


def test_a_lost_answer_is_looked_up_and_what_shows_up_late_raises_the_alarm(
    tmp_path: Path,
) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER, Fate.LOST_REQUEST, first_id=10)
    alarms: queue.Queue[tuple[Done | Rejected | Ambiguous, str]] = queue.Queue()
    with sync.Client(broker.client()) as client:
        sender = sync.Sender(
            client,
            journal_in(tmp_path),
            lambda: broker.last_id,
            alarm=lambda late: alarms.put((late, threading.current_thread().name)),
            pauses=QUICK,
        )
        found = sender.create(buy())
        assert isinstance(found, Done)
        assert found.looked_up
        assert isinstance(sender.cancel("7"), Unconfirmed)
        broker.batch({"type": "ORDER_CANCEL", "orderID": "7", "reason": "CLIENT_REQUEST"})
        for transaction in transactions_of(broker):
            sender.watch(transaction)
        late, thread = alarms.get(timeout=30.0)
        assert isinstance(late, Done)
        assert thread == "keydesk-client"


def test_a_callback_that_calls_the_client_is_refused_rather_than_left_to_hang(
    tmp_path: Path,
) -> None:
    with sync.Client(LossyBroker().client()) as client:
        sender = sync.Sender(
            client, journal_in(tmp_path), lambda: 0, lambda _: client.orders.pending()
        )
        with pytest.raises(InvalidRequest, match="to another thread"):
            sender.create(buy())


def test_an_interrupt_ends_the_waiting_and_not_the_order(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.SILENT)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with sync.Client(broker.client()) as client:
            sender = sync.Sender(client, journal_in(tmp_path), lambda: 0, pauses=QUICK)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                sender.create(buy())
            (found,) = sender.recover()
            assert isinstance(found, Done)
            assert len(broker.writes) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_after_closing_calls_are_refused_and_closing_again_changes_nothing() -> None:
    with sync.Client(LossyBroker().client()) as client:
        client.close()
        with pytest.raises(ClientClosed):
            client.orders.pending()


def test_a_waiting_sender_is_made_of_the_same_things() -> None:
    waiting, asynchronous = (
        list(inspect.signature(kind).parameters.values()) for kind in (sync.Sender, sending.Sender)
    )
    assert [(each.name, each.default, each.kind) for each in waiting] == [
        (each.name, each.default, each.kind) for each in asynchronous
    ]


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
        (sync.Sender, sending.Sender),
    ],
)
def test_every_call_has_its_waiting_twin(waiting: type, asynchronous: type) -> None:
    public = {
        name
        for name, _ in inspect.getmembers(asynchronous, inspect.isfunction)
        if not name.startswith(("_", "build_", "with_"))  # these wait for nothing
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
        assert told["iterate"].startswith("(instrument: 'str | Instrument', *, from_: 'TimeOrDate'")
        assert told["stream"].startswith("(instruments: 'Iterable[str | Instrument]'")
        assert "Send an order, once" in pydoc.plain(pydoc.render_doc(client.orders.create))
        page = pydoc.plain(pydoc.render_doc(sync.Orders)).replace("\n |", "")
        assert re.search(
            r"create\(\s*self,\s*order: 'OrderRequest'", page
        )  # from Python 3.13 on in lines of their own


PUBLIC: list[type] = [getattr(sync, name) for name in sync.__all__]
CALLS: list[tuple[str, Any]] = [
    (f"{kind.__name__}.{name}", getattr(kind, name))
    for kind in PUBLIC
    for name in vars(kind)
    if not name.startswith("_")
]


def test_no_help_speaks_of_async() -> None:
    for name, call in CALLS:
        text = inspect.getdoc(call) or ""
        assert text, name
        signature = str(inspect.signature(call)) if callable(call) else ""
        for word in (
            "async ",
            "await ",
            "asynchronous",
            "Paged",
            "PriceStream",
            "TransactionStream",
        ):
            assert word not in text + signature


def test_iterations_and_streams_show_what_they_return_here() -> None:
    calls = dict(CALLS)
    returned = {
        name: str(inspect.signature(calls[name]).return_annotation)
        for name in ("Candles.iterate", "Pricing.stream")
    }
    assert list(returned.values()) == ["Iterator[Candlestick]", "SyncStream"]
    assert "`with client.pricing.stream(" in (inspect.getdoc(calls["Pricing.stream"]) or "")


def silent_client(**options: float) -> sync.Client:
    """Return a client of a service that never answers."""

    async def never(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    inner = Client(
        token="token-1234",
        rest_url="https://rest.test",
        stream_url="https://stream.test",
        account_id="001",
        transport=httpx.MockTransport(never),
    )
    return sync.Client(inner, **options)


def test_a_call_ends_at_the_time_limit_of_its_client(tmp_path: Path) -> None:
    with silent_client(timeout=0.02) as client:
        with pytest.raises(TimedOut) as raised:
            client.accounts.summary()
        assert (raised.value.phase, raised.value.settled) == ("call", False)
        with pytest.raises(TimedOut):
            next(client.candles.iterate("EUR_USD", from_="2024-01-01T00:00:00Z"))
        sender = sync.Sender(client, FileJournal(tmp_path / "orders.jsonl"), lambda: 0)
        with pytest.raises(TimedOut):
            sender.create(MarketOrderRequest(instrument="EUR_USD", units=1))
        assert len(sender.unconfirmed()) == 1


def test_calls_may_have_another_time_limit_than_their_client(tmp_path: Path) -> None:
    with silent_client() as client:
        hasty = client.with_timeout(0.02)
        with pytest.raises(TimedOut, match=r"0\.02 s"):
            hasty.orders.pending()
        sender = sync.Sender(hasty, FileJournal(tmp_path / "orders.jsonl"), lambda: 0)
        with pytest.raises(TimedOut):
            sender.cancel("7")
    assert hasty.loop.has_ended


def test_the_next_item_of_a_stream_may_be_waited_for_a_while(client: sync.Client) -> None:
    with client.transactions.stream() as transactions:
        with pytest.raises(TimedOut, match=r"0\.01 s") as raised:  # noqa: PT012
            while True:  # a heartbeat may come first
                transactions.next(timeout=0.01)
        assert raised.value.settled
        client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=100))
        ids = [transactions.next(timeout=LONG_ENOUGH_S) for _ in range(2)]
        assert len({str(each) for each in ids}) == 2


def test_closing_a_stream_in_another_thread_ends_its_iteration(client: sync.Client) -> None:
    with client.transactions.stream() as transactions:
        closing = threading.Timer(0.05, transactions.close)
        closing.start()
        for _ in transactions:
            pass
        closing.join()
        transactions.close()
        with pytest.raises(StopIteration):
            transactions.next(timeout=0.01)
    assert not transactions.health.connected


async def test_an_answer_to_a_request_wakes_the_streams_of_its_client() -> None:
    statuses = [500, 200]
    client = Client(
        token="token-1234",
        rest_url="https://rest.test",
        stream_url="https://stream.test",
        transport=httpx.MockTransport(lambda _: httpx.Response(statuses.pop(0), json={})),
        retries=Retries(max_retries=0),
    )
    answered = client.session.rate_limiter.next_answer()
    with pytest.raises(ServerFailed):
        await client.accounts.list()
    assert not answered.done()
    await client.accounts.list()
    assert answered.done()
