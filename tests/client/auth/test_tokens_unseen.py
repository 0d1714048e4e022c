"""A planted token appears nowhere: not in reprs, not in logs, not in exceptions."""

import asyncio
import gc
import json
import logging
import pickle
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import httpx
import pytest
from keyring.errors import KeyringError, KeyringLocked

from keydesk_client import Client, FileJournal, Retries, Secret, Sender, TokenStore, sync
from keydesk_client.auth.token_store import passphrase_from_file
from keydesk_client.auth.vault import VaultKeyring
from keydesk_client.errors import (
    InvalidSettings,
    KeydeskClientError,
    StoreLocked,
    TokenStoreError,
    UnsafeFile,
)
from keydesk_client.http.messages import Request
from keydesk_client.http.session import Session
from keydesk_client.models import ClientPrice, MarketOrderRequest
from support.broker import PracticeServer
from support.data.hostile_answers import answer, saying, whole_request
from support.fakes.talking_server import talking_server

PLANTED = "planted-0123456789abcdef"
PHRASE = "open-sesame-0123"


def client_to(rest_url: str, transport: httpx.AsyncBaseTransport | None = None) -> Client:
    return Client(
        token=PLANTED, rest_url=rest_url, stream_url=rest_url, account_id="1", transport=transport
    )


def reprs_within(thing: object, seen: set[int] | None = None) -> Iterator[str]:
    """Yield the reprs of an object and of everything it holds, by `vars` and slots."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type):
        return
    seen.add(id(thing))
    yield repr(thing)
    inside = dict(getattr(thing, "__dict__", {}))
    slots = (name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ()))
    inside |= {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
    if isinstance(thing, dict):
        inside |= {repr(key): value for key, value in thing.items()}
    elif isinstance(thing, list | tuple | set | frozenset):
        inside |= {str(place): item for place, item in enumerate(thing)}
    for value in inside.values():
        yield from reprs_within(value, seen)


async def test_a_client_and_all_that_it_is_made_of_show_no_token() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"accounts": []}))
    async with client_to("https://rest.test", transport) as client:
        await client.accounts.list()
        assert not [text for text in reprs_within(client) if PLANTED in text]


def ours(thing: object) -> Iterator[object]:
    """Yield an object of this package, and those of this package that it holds."""
    yield thing
    for value in vars(thing).values() if hasattr(thing, "__dict__") else ():
        if type(value).__module__.startswith("keydesk_client"):
            yield from ours(value)


async def test_nothing_public_shows_the_token_while_it_is_at_work(
    desk_of_my_own: PracticeServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    desk = desk_of_my_own
    async with Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    ) as client:
        sender = Sender(client, FileJournal(tmp_path / "private" / "orders.jsonl"), lambda: 0)
        answer = await client.accounts.summary()
        async with (
            client.pricing.stream(["EUR_USD"]) as prices,
            client.transactions.stream(since=0) as transactions,
        ):
            assert isinstance(await anext(prices), ClientPrice)
            await anext(transactions)
            public = (client, sender, answer, prices, transactions, client.orders, client.session)
            pieces = [piece for each in public for piece in ours(each)]
            texts = [repr(piece) for piece in pieces]
            texts += [repr(vars(piece)) for piece in pieces if hasattr(piece, "__dict__")]
        assert not [text for text in reprs_within(client) if desk.token in text]
    assert not [text for text in texts if desk.token in text]
    assert len(texts) > 30
    assert desk.token not in caplog.text


def test_the_client_without_async_shows_no_token() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"accounts": []}))
    with sync.Client(client_to("https://rest.test", transport)) as client:
        client.accounts.list()
        assert not [
            text for piece in ours(client) for text in reprs_within(piece) if PLANTED in text
        ]


def vault_at(path: Path, phrase: str = PHRASE) -> TokenStore:
    return TokenStore(VaultKeyring(path, lambda: phrase, work=2**10), "vault")


def test_an_open_vault_shows_neither_token_nor_passphrase(tmp_path: Path) -> None:
    path = tmp_path / "private" / "vault.json"
    store = vault_at(path)
    store.store("main", "practice", PLANTED)
    found = store.load("main", "practice")
    texts = [*reprs_within(store), *reprs_within(found), path.read_text()]
    assert not [text for text in texts if PLANTED in text or PHRASE in text]


def damage(path: Path) -> None:
    held = json.loads(path.read_text())
    path.write_text(json.dumps(held | {"nonce": held["nonce"][::-1]}))


def open_to_others(path: Path) -> None:
    path.chmod(0o644)


def turn_into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [damage, open_to_others, turn_into_a_folder])
def test_a_failing_vault_tells_neither_token_nor_passphrase(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "private" / "vault.json"
    vault_at(path).store("main", "practice", PLANTED)
    harm(path)
    with pytest.raises((TokenStoreError, UnsafeFile)) as storing:
        vault_at(path).store("main", "practice", PLANTED)
    with pytest.raises((TokenStoreError, UnsafeFile)) as loading:
        vault_at(path).load("main", "practice")
    said = exception_texts(storing.value) + exception_texts(loading.value)
    assert PLANTED not in said
    assert PHRASE not in said


def test_a_wrong_passphrase_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "private" / "vault.json"
    vault_at(path).store("main", "practice", PLANTED)
    wrong = PHRASE.upper()
    with pytest.raises(TokenStoreError) as raised:
        vault_at(path, wrong).store("main", "practice", PLANTED)
    assert PLANTED not in exception_texts(raised.value)
    assert wrong not in exception_texts(raised.value)


AT_WORK = """
import asyncio, sys
from pathlib import Path
from keydesk_client import Client, open_token_store
from keydesk_client.auth.token_store import passphrase_from_file

async def main(vault, phrase, url, account):
    store = open_token_store(Path(vault), passphrase_from_file(Path(phrase)), choice="vault")
    token = store.load("main", "practice")
    async with Client(token=token, rest_url=url, stream_url=url, account_id=account) as client:
        await client.accounts.summary()
    print("asked", flush=True)
    sys.stdin.read()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc to look into")
async def test_the_process_of_a_client_shows_neither_token_nor_passphrase(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    desk = desk_of_my_own
    vault, phrase = tmp_path / "private" / "vault.json", tmp_path / "phrase"
    vault_at(vault).store("main", "practice", desk.token)
    phrase.touch(mode=0o600)
    phrase.write_text(PHRASE)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AT_WORK, vault, phrase, desk.rest_url, desk.account_id),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"asked\n"
    files = ("cmdline", "environ", "comm", "status")
    seen = b"".join((Path(f"/proc/{process.pid}") / name).read_bytes() for name in files)
    await process.communicate(b"")
    assert process.returncode == 0
    assert vault.name.encode() in seen
    assert desk.token.encode() not in seen
    assert PHRASE.encode() not in seen


def test_a_token_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Secret(PLANTED))


def frames(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames of an exception, its causes and contexts, without those of this file."""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename != __file__:
            yield step.tb_frame
        step = step.tb_next
    for other in (error.__cause__, error.__context__):
        if other is not None:
            yield from frames(other)


def exception_texts(error: BaseException) -> str:
    """Return everything that an exception shows: message, pickle, and the locals of its traceback."""
    locals_ = [repr(value) for frame in frames(error) for value in frame.f_locals.values()]
    vars_ = [repr(value) for value in vars(error).values()]
    lines = traceback.format_exception(error)
    return "\n".join([str(error), repr(error), str(pickle.dumps(error)), *locals_, *vars_, *lines])


async def test_no_failure_tells_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    steps: list[Any] = [
        httpx.ConnectError("no"),
        httpx.ReadTimeout("slow"),
        httpx.Response(401, json={"errorMessage": "no"}),
        httpx.Response(500, text="<html>"),
        httpx.Response(200, text="<html>"),
        OSError("broken"),
    ]
    for step in steps:

        def answer(request: httpx.Request, step: object = step) -> httpx.Response:
            assert PLANTED in request.headers["authorization"]
            if isinstance(step, Exception):
                raise step
            assert isinstance(step, httpx.Response)
            return step

        client = client_to("https://rest.test", httpx.MockTransport(answer))
        with pytest.raises(KeydeskClientError) as raised:
            await client.positions.close("EUR_USD", long_units="ALL")
        assert PLANTED not in exception_texts(raised.value)
    assert PLANTED not in caplog.text


async def test_a_real_connection_leaves_no_token_in_logs_or_tracebacks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with client_to(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(KeydeskClientError) as raised:
            await client.positions.close("EUR_USD", long_units="ALL")
    assert PLANTED not in exception_texts(raised.value)
    assert PLANTED not in caplog.text


@pytest.mark.parametrize("bad", ["", " ", f"{PLANTED}\r\nX: 1", f"Bearer {PLANTED}", f"{PLANTED}ü"])
def test_a_token_that_can_not_be_one_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        Client(token=bad, rest_url="https://rest.test", stream_url="https://rest.test")
    assert PLANTED not in exception_texts(raised.value)


def test_a_bad_address_does_not_show_the_token_either() -> None:
    with pytest.raises(InvalidSettings) as raised:
        client_to("http://example.test")
    assert PLANTED not in exception_texts(raised.value)


async def test_what_is_under_way_shows_no_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    arrived: list[bytes] = []
    both = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append(await whole_request(reader))
        if b"stream" in arrived[-1].split(b"\r\n")[0]:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        if len(arrived) == 3:
            both.set()
        await reader.read()

    async with talking_server(hold) as url, client_to(url) as client:
        calls = [
            asyncio.create_task(client.accounts.summary()),
            asyncio.create_task(client.positions.close("EUR_USD", long_units="ALL")),
        ]
        async with client.pricing.stream(["EUR_USD"]) as prices:
            await both.wait()
            async with asyncio.timeout(5):
                while not prices.health.connected:  # noqa: ASYNC110 - a stream tells its state, and wakes nobody
                    await asyncio.sleep(0)
            told_ = [repr(each) for each in reachable(client, prices, *calls)]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert PLANTED.encode() in arrived[0]
    assert [text for text in told_ if "ConnectionPool" in text]
    assert "b'…'" in told_  # the header, where the HTTP library keeps it
    assert not [text for text in told_ if PLANTED in text]
    assert PLANTED not in caplog.text


NOT_ENTERED = (ModuleType, type, FunctionType, BuiltinFunctionType, asyncio.AbstractEventLoop)
"""They lead to the whole process. A closure may hold the token: repr and locals do not show its cells."""
CONTAINERS = (dict, list, tuple, set, frozenset)


def reachable(*roots: object) -> Iterator[object]:
    """Yield every object that hangs on the roots, locals of suspended coroutines included; containers by their items."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, NOT_ENTERED):
            continue
        seen.add(id(thing))
        waiting += gc.get_referents(thing)
        if not isinstance(thing, CONTAINERS):
            yield thing


ESCAPED = "".join(f"\\u{ord(each):04x}" for each in PLANTED)
SAID = {
    "errorMessage": f"no such token: Bearer {PLANTED}",
    "errorCode": PLANTED,
    "lastTransactionID": PLANTED,
    "relatedTransactionIDs": [PLANTED],
    "orderRejectTransaction": {"id": "7", "type": PLANTED, "rejectReason": PLANTED, "new": PLANTED},
    PLANTED: [PLANTED],
}
SENT_BACK = [
    *(answer(json.dumps(SAID).encode(), status) for status in (200, 201, 302, 400, 401, 429, 503)),
    *(
        answer(json.dumps(SAID).replace(PLANTED, ESCAPED).encode(), status)
        for status in (201, 400, 503)
    ),
    *(
        answer(b"{}", status, f"{name}: {PLANTED}")
        for status in (201, 400)
        for name in ("Authorization", "RequestID", "Location", "Content-Encoding", "Retry-After")
    ),
    answer(b"{}", 201, f'Link: <https://x.test/?t={PLANTED}>; rel="next"'),
    f"HTTP/1.1 Bearer {PLANTED}\r\n\r\n".encode(),
    f"HTTP/1.1 200 {PLANTED}\r\nContent-Length: 2\r\n\r\n{{}}".encode(),
    f"HTTP/1.1 200 OK\r\n {PLANTED}\r\n\r\n".encode(),
    f"HTTP/1.1 200 OK\r\nContent-Length: {PLANTED}\r\n\r\n".encode(),
    f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {PLANTED}\r\n\r\n".encode(),
    f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{PLANTED}\r\n".encode(),
    f"Authorization: Bearer {PLANTED}\r\n\r\n".encode(),
]


async def to_the_end(client: Client) -> None:
    async with client.session.open_stream(Request("GET", "/v3/stream")) as pieces:
        async for _ in pieces:
            pass
    raise StoreLocked("a stream, until its end")


@pytest.mark.parametrize("sent_back", SENT_BACK, ids=lambda sent_back: sent_back[:40].decode())
async def test_a_service_that_sends_the_token_back_does_not_make_it_seen(
    sent_back: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    order = MarketOrderRequest(instrument="EUR_USD", units=5)
    async with talking_server(saying(sent_back)) as url, client_to(url) as client:
        client._caller.retries = Retries(max_retries=0)  # not to wait for the same again
        for ask in (client.accounts.summary, lambda: client.orders.create(order)):
            try:
                record = await ask()
            except KeydeskClientError as error:
                said = exception_texts(error) + "".join(reprs_within(error))
            else:
                said = (
                    "".join(reprs_within(record))
                    + str(pickle.dumps(record))
                    + repr(record.to_wire())
                )
            assert PLANTED not in said
        with pytest.raises(KeydeskClientError) as raised:
            await to_the_end(client)
        assert PLANTED not in exception_texts(raised.value)
    assert "connected to" in caplog.text
    assert PLANTED not in caplog.text


LINES = (
    f'{{"type":"PRICE","said":"{PLANTED}"}}\n{{"said":"{ESCAPED}","time":"1"}}\n{{"last":"'.encode()
)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 24, len(PLANTED), 100, len(LINES)])
async def test_a_stream_that_sends_the_token_back_does_not_make_it_seen_across_any_border(
    length: int,
) -> None:
    async def in_pieces() -> AsyncIterator[bytes]:
        for begin in range(0, len(LINES), length):
            yield LINES[begin : begin + length]

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=in_pieces()))
    client = client_to("https://stream.test", transport)
    async with client.session.open_stream(Request("GET", "/v3/stream")) as pieces:
        read = [piece async for piece in pieces]
    assert b"".join(read) == (
        b'{"type":"PRICE","said":"[token]"}\n{"said":"[token]","time":"1"}\n{"last":"'
    )


async def test_a_transaction_that_comes_with_the_token_does_not_show_it() -> None:
    line = json.dumps({"type": "HEARTBEAT", "lastTransactionID": "7", "echo": PLANTED}) + "\n"
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, content=in_a_piece(line.encode()))
    )
    async with (
        client_to("https://stream.test", transport) as client,
        client.transactions.stream() as transactions,
    ):
        heartbeat = await anext(transactions)
    assert "echo='[token]'" in repr(heartbeat)


async def in_a_piece(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def test_a_line_that_is_whole_does_not_wait_for_the_next() -> None:
    veil = Secret(PLANTED).stream_redactor()
    assert veil.feed(b'{"a":1}\n{"b"') == b'{"a":1}\n'
    assert veil.feed(b":2}\n") == b'{"b":2}\n'
    assert PLANTED not in "".join(reprs_within(veil))


class LeakyBackend:
    """A backend whose errors show what it was given."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind

    def get_password(self, service: str, username: str, /) -> str | None:
        raise self.kind(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str, /) -> None:
        raise self.kind(f"{service} {username} {password}")

    def delete_password(self, service: str, username: str, /) -> None:
        raise self.kind(f"{service} {username}")


@pytest.mark.parametrize(
    "kind",
    [KeyringError, KeyringLocked, OSError, RuntimeError, AssertionError, ValueError, KeyError],
)
def test_a_backend_that_fails_in_its_own_way_fails_in_ours_and_shows_no_token(
    kind: type[Exception],
) -> None:
    store = TokenStore(LeakyBackend(kind), "native")
    with pytest.raises(TokenStoreError) as storing:
        store.store("main", "practice", PLANTED)
    with pytest.raises(TokenStoreError):
        store.load("main", "practice")
    assert PLANTED not in exception_texts(storing.value)


def test_what_asks_for_the_passphrase_may_give_up_in_its_own_way(tmp_path: Path) -> None:
    def give_up() -> str:
        raise EOFError("nobody types")

    vault = VaultKeyring(tmp_path / "private" / "v", give_up, work=2**10)
    with pytest.raises(EOFError, match="nobody types"):
        TokenStore(vault, "vault").store("main", "practice", PLANTED)


def test_a_passphrase_of_another_encoding_opens_the_vault_and_is_not_shown(tmp_path: Path) -> None:
    phrase = tmp_path / "phrase"
    phrase.touch(mode=0o600)
    phrase.write_bytes("pässwort".encode("latin-1"))
    store = TokenStore(
        VaultKeyring(tmp_path / "private" / "v", passphrase_from_file(phrase), work=2**10), "vault"
    )
    store.store("main", "practice", PLANTED)
    found = store.load("main", "practice")
    assert found is not None
    assert found.reveal() == PLANTED


@pytest.mark.parametrize("bad", [PLANTED.encode(), 5, None, [PLANTED]])
def test_what_is_no_text_is_no_token_and_is_not_shown(bad: Any) -> None:  # noqa: ANN401 - that is the point
    with pytest.raises(InvalidSettings) as raised:
        Client(token=bad, rest_url="https://rest.test", stream_url="https://rest.test")
    assert PLANTED not in exception_texts(raised.value)


@pytest.mark.parametrize("rest", ["@h.test:99999", "@h.test", "@[h", "@h.test/?a"])
def test_an_address_with_a_password_is_refused_without_it(rest: str) -> None:
    with pytest.raises(InvalidSettings) as raised:
        Session(Secret("t"), f"https://u:{PLANTED}{rest}", "https://h.test")
    assert PLANTED not in f"{raised.value} {pickle.dumps(raised.value)!r}"
    assert raised.value.__context__ is None


def test_the_token_is_masked_in_what_a_service_says() -> None:
    secret = Secret(PLANTED)
    assert secret.redact(f"Bearer {PLANTED}!") == "Bearer [token]!"
    assert secret.redact_body(f'{{"a\\"\\/":"{ESCAPED}"}}'.encode()) == b'{"a\\"/":"[token]"}'
    assert secret.redact_body(b'"\\u0022\\u00e9\\n"') == b'"\\u0022\\u00e9\\n"'


def test_a_header_that_carries_the_token_is_neither_shown_nor_pickled() -> None:
    bearer = Secret(PLANTED).bearer()
    assert bearer == f"Bearer {PLANTED}".encode()
    assert PLANTED not in f"{bearer!r} {bearer!s}"
    with pytest.raises(TypeError):
        pickle.dumps(bearer)
