"""A call may end at any step: the exception holds no frame that holds the token."""

import asyncio
import itertools
import signal
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from types import FrameType, TracebackType

import httpx
import pytest

from keydesk_client import Client, TokenStore, sync
from keydesk_client.auth.vault import VaultKeyring
from keydesk_client.http.messages import Request
from keydesk_client.models import ClientExtensions, MarketOrderRequest
from support.data.hostile_answers import GOOD_BODY, answer, chunked, whole_request
from support.fakes.talking_server import talking_server

PLANTED = "planted-0123456789abcdef"
PHRASE = "open-sesame-0123"
SLICES = 14

Work = Callable[[Client], Awaitable[object]]
Ending = Callable[[Awaitable[object], asyncio.Future[None]], Coroutine[object, object, None]]


def client_to(url: str, transport: httpx.AsyncBaseTransport | None = None) -> Client:
    return Client(token=PLANTED, rest_url=url, stream_url=url, account_id="1", transport=transport)


def frames(error: BaseException, seen: set[int] | None = None) -> Iterator[FrameType]:
    """Yield the frames of an exception, its members, causes and contexts, without those of this file."""
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename != __file__:
            yield step.tb_frame
        step = step.tb_next
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *members):
        if other is not None:
            yield from frames(other, seen)


def traceback_texts(error: BaseException) -> str:
    """Return what a traceback with locals shows, and the locals of the frames that it leaves out."""
    log = traceback.TracebackException.from_exception(error, capture_locals=True).format()
    return "".join(log) + "".join(
        repr(value) for frame in frames(error) for value in frame.f_locals.values()
    )


def beneath(error: BaseException) -> list[str]:
    """Return the modules of the frames that belong to libraries below the client."""
    libraries = ("httpx", "httpcore", "anyio", "h11", "cryptography")
    names = [frame.f_globals.get("__name__", "") for frame in frames(error)]
    return [name for name in names if name.startswith(libraries)]


async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with a head that takes SLICES turns of the loop, however fast the machine is."""
    while True:
        request = await whole_request(reader)
        is_stream = b"stream" in request.split(b"\r\n")[0]
        response = chunked(b"{}\n", b"{}\n", b"{}\n") if is_stream else answer(GOOD_BODY)
        head, end, body = response.partition(b"\r\n\r\n")
        size = len(head) // SLICES
        for begin in range(0, SLICES * size, size):
            writer.write(head[begin : begin + size])
            await asyncio.sleep(0)
        writer.write(head[SLICES * size :] + end + body)


async def ask(client: Client) -> None:
    await client.accounts.summary()


ORDER = MarketOrderRequest(
    instrument="EUR_USD", units=5, client_extensions=ClientExtensions(id="mine")
)


async def send(client: Client) -> None:
    await client.orders.create(ORDER)


async def read_a_stream(client: Client) -> None:
    async with client.session.open_stream(Request("GET", "/v3/stream")) as pieces:
        async for _ in pieces:
            pass


async def open_prices(client: Client) -> None:
    async with client.pricing.stream(["EUR_USD"]) as prices:
        while not prices.health.connected:  # noqa: ASYNC110 - a stream tells its state, and wakes nobody
            await asyncio.sleep(0)


async def cancelled(work: Awaitable[object], now: asyncio.Future[None]) -> None:
    """Cancel the task, with a message."""
    task = asyncio.current_task()
    assert task is not None
    now.add_done_callback(lambda _: task.cancel("enough"))
    await work


async def timed_out(work: Awaitable[object], now: asyncio.Future[None]) -> None:
    """Let the caller's own timeout pass."""
    async with asyncio.timeout(None) as deadline:
        now.add_done_callback(lambda _: deadline.reschedule(0))
        await work


async def failed_beside(work: Awaitable[object], now: asyncio.Future[None]) -> None:
    """Let another task of the same group fail."""

    async def fail() -> None:
        await now
        raise LookupError("beside")

    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
        await work


ENDINGS: dict[Ending, type[BaseException]] = {
    cancelled: asyncio.CancelledError,
    timed_out: TimeoutError,
    failed_beside: ExceptionGroup,
}


async def ended_at(step: int, work: Work, ending: Ending) -> tuple[BaseException | None, bool]:
    """End the work after `step` turns of the loop; return the exception, and whether the work was done by then."""
    async with talking_server(talk) as url, client_to(url) as client:
        now = asyncio.get_running_loop().create_future()
        done: list[bool] = []

        async def whole() -> None:
            await work(client)
            done.append(True)

        running = asyncio.ensure_future(ending(whole(), now))
        for _ in range(step):
            await asyncio.sleep(0)
        now.set_result(None)
        try:
            await running  # `gather` would make a new one, that never went through anything
        except BaseException as raised:  # noqa: BLE001 - whatever it is, is looked at
            return raised, bool(done)
        return None, bool(done)


WORKS: tuple[Work, ...] = (ask, send, read_a_stream, open_prices)
USUAL = {
    (ask, cancelled),
    (send, timed_out),
    (read_a_stream, failed_beside),
    (open_prices, cancelled),
}


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        pytest.param(
            *pair,
            marks=[pytest.mark.e2e] * (pair not in USUAL),
            id="-".join(each.__name__ for each in pair),
        )
        for pair in itertools.product(WORKS, ENDINGS)
    ],
)
async def test_a_call_ended_at_any_step_shows_no_token(work: Work, ending: Ending) -> None:
    done = ended = 0
    while done < 3:  # a step more or less is the network's
        raised, is_done = await ended_at(done + ended, work, ending)
        done += is_done
        ended += not is_done
        assert isinstance(raised, ENDINGS[ending]) or is_done
        if raised is not None:
            assert PLANTED not in traceback_texts(raised), ended
            assert beneath(raised) == [], ended
        del raised
    assert ended >= SLICES


class EndingCarrier(httpx.AsyncBaseTransport):
    """Ends with an exception whose frame shows the header, and which has others hanging on it."""

    def __init__(self, ending: BaseException) -> None:
        self.ending = ending

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        lying_open = request.headers["authorization"]
        assert lying_open
        raise self.ending from OSError("the first of them")


@pytest.mark.parametrize(
    "ending",
    [
        KeyboardInterrupt("typed"),
        SystemExit(3),
        asyncio.CancelledError("enough"),
        RuntimeError("a fault"),
        BaseExceptionGroup("both", [KeyboardInterrupt()]),
    ],
    ids=lambda ending: type(ending).__name__,
)
async def test_what_is_no_error_of_ours_goes_on_as_it_was_without_what_lies_beneath(
    ending: BaseException,
) -> None:
    arguments = ending.args
    client = client_to("https://rest.test", EndingCarrier(ending))
    for work in (ask, read_a_stream):
        before = LookupError("what the caller was at")
        with pytest.raises(type(ending)) as raised:  # noqa: PT012 - what is handled meanwhile is the point
            try:
                raise before
            except LookupError:
                await work(client)
        assert raised.value is ending
        assert raised.value.args == arguments
        assert raised.value.__context__ is before
        assert not raised.value.__suppress_context__
        said = "".join(traceback.TracebackException.from_exception(ending).format())
        assert "handle_async_request" not in said


async def test_a_task_that_takes_its_cancellation_back_goes_on() -> None:
    async with talking_server(talk) as url, client_to(url) as client:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await client.accounts.summary()
        assert task.cancelling() == 1
        assert task.uncancel() == 0
        await client.accounts.summary()


def interrupted_by(work: Callable[[str], object]) -> KeyboardInterrupt:
    """Return the exception of a Ctrl-C while the response is awaited."""
    main = threading.main_thread().ident
    assert main is not None
    with socket.create_server(("127.0.0.1", 0)) as server:

        def interrupt() -> None:
            talking, _ = server.accept()
            with talking:
                assert PLANTED.encode() in talking.recv(10_000)
                signal.pthread_kill(main, signal.SIGINT)
                talking.recv(1)

        thread = threading.Thread(target=interrupt)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a program
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt) as raised:
                work(f"http://127.0.0.1:{server.getsockname()[1]}")
        finally:
            thread.join()
            signal.signal(signal.SIGINT, before)
    return raised.value


def test_an_interrupt_while_the_client_without_async_waits_shows_no_token() -> None:
    def wait(url: str) -> None:
        with sync.Client(client_to(url)) as client:
            client.accounts.summary()

    def read(url: str) -> None:
        with sync.Client(client_to(url)) as client, client.pricing.stream(["EUR_USD"]) as prices:
            next(prices)

    for work in (wait, read):
        raised = interrupted_by(work)
        assert PLANTED not in traceback_texts(raised)
        assert beneath(raised) == []


def test_an_interrupt_of_a_loop_shows_no_token() -> None:
    def wait(url: str) -> None:
        asyncio.run(client_to(url).accounts.summary())

    assert PLANTED not in traceback_texts(interrupted_by(wait))


def test_an_interrupt_while_the_vault_works_shows_neither_token_nor_passphrase(
    tmp_path: Path,
) -> None:
    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def hand_over_and_interrupt() -> str:
        signal.setitimer(signal.ITIMER_REAL, 0.002)  # while the key is made, which takes longer
        return PHRASE

    path, work = tmp_path / "private" / "vault.json", 2**15
    TokenStore(VaultKeyring(path, lambda: PHRASE, work=work), "vault").store("a", "live", PLANTED)
    locked = TokenStore(VaultKeyring(path, hand_over_and_interrupt, work=work), "vault")
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt) as storing:
            locked.store("a", "live", PLANTED)
        with pytest.raises(KeyboardInterrupt) as loading:
            locked.load("a", "live")
    finally:
        signal.signal(signal.SIGALRM, before)
    for raised in (storing.value, loading.value):
        assert PHRASE not in traceback_texts(raised)
        assert PLANTED not in traceback_texts(raised)
        assert beneath(raised) == []
