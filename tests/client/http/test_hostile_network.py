"""Whatever the other end says or does: a record or an error of ours, in time, in bounds, and nothing left open."""

import asyncio
import gc
import json
import pickle
import socket
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from keydesk_client import Client, Retries, Timeouts
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import (
    ConnectionLost,
    HttpStatusError,
    InvalidRequest,
    InvalidSettings,
    KeydeskClientError,
    TimedOut,
    UnreadableAnswer,
)
from keydesk_client.http.limits import Limiter
from keydesk_client.http.messages import Request
from keydesk_client.http.session import Session
from keydesk_client.models import ClientExtensions, MarketOrderRequest, OrderCreateResponse, Record
from support.data.hostile_answers import (
    BODIES,
    BROKEN,
    GOOD_BODY,
    POURING,
    STATUSES,
    answer,
    chunked,
    dripping,
    saying,
    silence,
    whole_request,
)
from support.fakes.connections import Talk
from support.fakes.talking_server import talking_server

HASTY = Timeouts(connect=0.3, write=0.3, read=0.3, pool=0.3, whole=1.0, opening=1.0)
PATIENT = Timeouts()
ORDER = MarketOrderRequest(
    instrument="EUR_USD", units=5, client_extensions=ClientExtensions(id="mine")
)
TOKEN = "planted-0123456789abcdef"
MAX_MEMORY = 120_000_000
IN_TIME_S = 60.0
"""Until what has no end would have ended by itself: many times what the slowest machine needs."""

Ask = Callable[[Client], Awaitable[Record]]


async def ask_for_the_summary(client: Client) -> Record:
    return await client.accounts.summary()


async def send_an_order(client: Client) -> Record:
    return await client.orders.create(ORDER)


async def open_a_stream(client: Client) -> Record:
    async with client.session.open_stream(Request("GET", "/v3/stream"), silence=0.3) as pieces:
        async for _ in pieces:
            pass
    raise UnreadableAnswer("it ended")


ASKS: tuple[Ask, ...] = (ask_for_the_summary, send_an_order, open_a_stream)


@asynccontextmanager
async def client_of(talk: Talk, timeouts: Timeouts = PATIENT) -> AsyncIterator[Client]:
    async with (
        talking_server(talk) as url,
        Client(
            token=TOKEN,
            rest_url=url,
            stream_url=url,
            account_id="1",
            timeouts=timeouts,
            retries=Retries(max_retries=0),
        ) as client,
    ):
        yield client


async def outcome(ask: Ask, client: Client) -> Record | KeydeskClientError:
    """Return the record or the error; fail on any other exception, or a record that cannot be written back."""
    told: Record | KeydeskClientError
    try:
        told = record = await ask(client)
        json.dumps(record.to_wire()).encode()
    except KeydeskClientError as error:
        told = error
    if isinstance(told, KeydeskClientError):
        assert told.__cause__ is None
        assert told.__context__ is None
        assert len(str(told)) < 1000
    pickle.loads(pickle.dumps(told))
    f"{told} {told!r}".encode()
    return told


async def nothing_is_left() -> None:
    """No task but this one; a socket that nobody closed is a warning, and warnings are errors."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    gc.collect(
        1
    )  # what the case made is young: all objects of the run would take 0.1 s for each case


def check_of_a_write(told: Record | KeydeskClientError) -> None:
    """The server had the whole request, whatever it said of it."""
    if isinstance(told, KeydeskClientError):
        assert told.sent


@pytest.mark.parametrize("name", BODIES)
async def test_every_body_under_some_status_is_a_record_or_an_error(name: str) -> None:
    place = [*BODIES].index(name) % len(STATUSES)  # every status is met with three of the bodies
    await check_every_status(name, STATUSES[place : place + 1])


@pytest.mark.soak
async def test_every_body_under_every_status_is_a_record_or_an_error() -> None:
    for name in BODIES:
        await check_every_status(name, STATUSES)


async def check_every_status(name: str, statuses: Sequence[int]) -> None:
    content, headers = BODIES[name]
    for status in statuses:
        async with (
            asyncio.timeout(IN_TIME_S),
            client_of(saying(answer(content, status, *headers))) as client,
        ):
            for ask in ASKS:
                told = await outcome(ask, client)
                check_of_a_write(told)
                if status == 999 or 300 <= status < 600:
                    assert isinstance(told, HttpStatusError | UnreadableAnswer)
    await nothing_is_left()


UNREADABLE = {
    *("a list", "null", "text", "a page", "nothing", "half an object", "half of it compressed"),
    *("compressed wrongly", "not compressed", "compressed to nothing", "twice compressed"),
    *("deflated", "brotli", "zstandard", "an odd encoding", "a bomb", "another charset"),
    *("deep lists", "deep objects"),
    *("an empty object", "a long id", "odd times", "members of other types"),
}
"""What is no JSON object at all, or does not name the order."""


@pytest.mark.parametrize("status", [200, 201])
async def test_an_accepted_order_is_read_whenever_its_answer_is_an_object_that_names_it(
    status: int,
) -> None:
    unreadable: set[str] = set()
    for name, (content, headers) in BODIES.items():
        async with client_of(saying(answer(content, status, *headers))) as client:
            told = await outcome(send_an_order, client)
        if isinstance(told, UnreadableAnswer):
            assert told.sent
            unreadable.add(name)
        else:
            assert isinstance(told, OrderCreateResponse), name
    assert unreadable == UNREADABLE


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_no_good_http_is_a_record_or_an_error(name: str) -> None:
    async with client_of(saying(BROKEN[name]), HASTY) as client:
        ask = ASKS[[*BROKEN].index(name) % len(ASKS)]  # each with a third of the requests
        check_of_a_write(await outcome(ask, client))
    await nothing_is_left()


QUICK = ("an endless body", "endless headers", "an endless trailer")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.e2e] * (name not in QUICK)) for name in POURING]
)
async def test_what_does_not_end_is_ended_in_time_and_within_memory(name: str) -> None:
    tracemalloc.start()
    try:
        async with client_of(POURING[name], HASTY) as client:
            for ask in ASKS[:2]:
                async with asyncio.timeout(IN_TIME_S):
                    told = await outcome(ask, client)
                assert isinstance(told, ConnectionLost | UnreadableAnswer | TimedOut)
                assert told.sent
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    finally:
        tracemalloc.stop()
    await nothing_is_left()


async def cut_everywhere(whole: bytes, step: int = 1) -> None:
    for place in range(0, len(whole), step):
        async with client_of(saying(whole[:place], reset=True)) as client:
            told = await outcome(send_an_order, client)
        assert isinstance(told, ConnectionLost | UnreadableAnswer), place
        assert told.sent
    await nothing_is_left()


async def test_a_reset_within_an_answer_is_a_lost_connection() -> None:
    await cut_everywhere(answer(GOOD_BODY, 201), step=7)
    await cut_everywhere(chunked(GOOD_BODY[:30], GOOD_BODY[30:]), step=11)


@pytest.mark.soak
@pytest.mark.parametrize("name", BODIES)
async def test_a_reset_at_any_byte_of_every_answer_is_a_lost_connection(name: str) -> None:
    content, headers = BODIES[name]
    for status in STATUSES:
        if status != 204:
            whole = answer(content[:2000], status, *(each[:2000] for each in headers))
            await cut_everywhere(whole, step=1 + len(whole) // 100)


@pytest.mark.e2e
async def test_a_byte_at_a_time_is_ended_by_the_deadline_of_the_whole() -> None:
    patient_with_bytes = replace(HASTY, read=IN_TIME_S)
    async with client_of(dripping(answer(GOOD_BODY)), patient_with_bytes) as client:
        async with asyncio.timeout(IN_TIME_S):
            told = await outcome(send_an_order, client)
        assert isinstance(told, TimedOut)
        assert (told.phase, told.sent) == ("whole", True)
    await nothing_is_left()


async def timed_out(url: str, *requests: Request) -> list[TimedOut]:
    every = Limiter(reads_at_once=50, calls_at_once=50)  # leaves the waiting to the pool
    by_phase = replace(HASTY, whole=IN_TIME_S)  # a busy machine takes a second to copy a body
    session = Session(Secret(TOKEN), url, url, timeouts=by_phase, limiter=every)
    told = await asyncio.gather(*map(session.request, requests), return_exceptions=True)
    await session.close()
    await nothing_is_left_but_the_server()
    return [each for each in told if isinstance(each, TimedOut)]


async def nothing_is_left_but_the_server() -> None:
    await asyncio.sleep(0)
    gc.collect()


@pytest.mark.e2e
async def test_a_connection_that_nobody_takes_is_timed_out_before_anything_is_sent() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf, socket.socket() as first:
        first.connect(deaf.getsockname())
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        (error,) = await timed_out(url, Request("POST", "/v3", body=b"{}"))
    assert (error.phase, error.sent) == ("connect", False)


@pytest.mark.e2e
async def test_a_handshake_that_nobody_answers_is_timed_out_before_anything_is_sent() -> None:
    async with talking_server(silence) as url:
        encrypted = url.replace("http:", "https:")
        (error,) = await timed_out(encrypted, Request("POST", "/v3", body=b"{}"))
    assert (error.phase, error.sent) == ("connect", False)


@pytest.mark.e2e
async def test_a_body_that_nobody_takes_is_timed_out_and_may_have_been_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        (error,) = await timed_out(url, Request("POST", "/v3", body=b"x" * 30_000_000))
    assert (error.phase, error.sent) == ("write", True)


@pytest.mark.e2e
async def test_a_pool_whose_connections_all_hang_is_timed_out_before_anything_is_sent() -> None:
    async with talking_server(silence) as url:
        errors = await timed_out(url, *[Request("GET", "/v3")] * 30)
    assert {(each.phase, each.sent) for each in errors} == {("pool", False), ("read", True)}


async def test_an_answer_too_many_is_not_taken_for_the_answer_of_the_next_request() -> None:
    forged = answer(GOOD_BODY.replace(b'"7"', b'"666"'), 201)

    async def say_two(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await whole_request(reader)
            own = answer(GOOD_BODY).replace(b"RequestID: 9", b"RequestID: 10")
            writer.write(answer(b"{}") + forged if head.startswith(b"GET") else own)

    async with client_of(say_two) as client:
        await client.accounts.summary()
        assert (await client.orders.create(ORDER)).last_transaction_id == "7"


async def test_a_good_connection_is_used_again() -> None:
    connections: list[object] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        while True:
            await whole_request(reader)
            writer.write(answer(GOOD_BODY))

    async with client_of(talk) as client:
        for _ in range(5):
            await client.accounts.summary()
    assert len(connections) == 1


async def test_nothing_goes_where_a_redirect_points_and_no_cookie_is_kept() -> None:
    heads: list[bytes] = []
    elsewhere: list[bytes] = []

    async def there(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        elsewhere.append(await reader.read(1))

    async with talking_server(there) as other:
        baits = [f"Location: {other}/", "Set-Cookie: a=b; Path=/", f"Refresh: 0; url={other}/"]

        async def here(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                heads.append(await whole_request(reader))
                writer.write(answer(GOOD_BODY, 201 if len(heads) % 2 else 307, *baits))

        async with client_of(here) as client:
            for _ in range(4):
                for ask in ASKS[:2]:
                    await outcome(ask, client)
    assert elsewhere == []
    assert len(heads) == 8
    assert not [head for head in heads if b"cookie" in head.lower()]


EVIL = ["a\r\nX-Evil: 1", "a\nb", "a\0b", "\ud800", "x" * 30_000, "a\u2028b", " a", "a "]
INJECTED: list[Callable[[Client, str], Awaitable[object]]] = [
    lambda client, evil: client.accounts.summary(account_id=evil),
    lambda client, evil: client.orders.cancel(evil),
    lambda client, evil: client.orders.cancel("1", client_request_id=evil),
    lambda client, evil: client.trades.get(f"@{evil}"),
    lambda client, evil: client.pricing.get([evil]),
    lambda client, evil: client.candles.get(evil),
    lambda client, evil: client.orders.list(instrument=evil),
    lambda client, evil: client.positions.close(evil, long_units="ALL"),
    lambda client, evil: client.orders.create(MarketOrderRequest(instrument=evil, units=5)),
]


async def refusal(
    call: Callable[[Client, str], Awaitable[object]], client: Client, evil: str
) -> str | None:
    """What an InvalidRequest said; None when the request was sent."""
    try:
        await call(client, evil)
    except InvalidRequest as error:
        return str(error)
    except UnreadableAnswer:  # an empty answer names no order
        return None
    return None


@pytest.mark.parametrize("evil", EVIL, ids=lambda evil: ascii(evil)[:20])
async def test_nothing_that_a_caller_names_becomes_a_header_or_another_request(evil: str) -> None:
    heads: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            heads.append(await whole_request(reader))
            writer.write(answer(b"{}"))

    async with client_of(note) as client:
        for call in INJECTED:
            sent = len(heads)
            refused = await refusal(call, client, evil)
            assert refused is None or len(heads) == sent
    for head in heads:
        lines = head.partition(b"\r\n\r\n")[0].split(b"\r\n")
        assert lines[0].split(b" ")[0] in {b"GET", b"PUT", b"POST"}
        assert lines[0].split(b" ")[1].startswith(b"/v3/")
        assert not [line for line in lines[1:] if line.lower().startswith(b"x-evil")]


async def test_a_name_too_long_for_an_address_is_not_sent() -> None:
    async with client_of(silence) as client:
        with pytest.raises(InvalidRequest) as raised:
            await client.orders.cancel("x" * 70_000)
    assert raised.value.__context__ is None
    assert not raised.value.sent


@pytest.mark.parametrize("url", ["https://a\0b.test", "https://é..test", "https://h.test/\x7f"])
def test_an_address_that_the_http_library_would_refuse_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        Session(Secret(TOKEN), url, url)
    assert raised.value.__context__ is None


async def test_a_client_that_is_closed_while_it_waits_ends_what_is_under_way() -> None:
    asked = asyncio.Event()

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await whole_request(reader)
        asked.set()
        await silence(reader, writer)

    async with client_of(note) as client:
        calls = [asyncio.create_task(outcome(ask, client)) for ask in ASKS * 5]
        await asked.wait()
        await client.close()
        told = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(each, KeydeskClientError) for each in told), told
    await nothing_is_left()
