"""The only door to the HTTP library: a request goes out, an answer or an error of ours comes back.

- httpx's transport is used without its client around it: no redirects, no cookies, no proxies, no settings from
  the environment, no request sent twice, and less work for each call.
- Errors are raised outside the `except` that caught them: an exception that hangs on ours as `__context__` would
  carry frames in which the token's header lies open.
- Few connections: httpx's pool slows down with the square of the requests that wait in it, and the service allows
  two new connections a second.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import TypeAlias, TypeVar, cast

if "httpx" not in sys.modules and "click" not in sys.modules:
    # with click there, httpx loads its command line: pygments, half of rich, 3 MB and 20 ms that nobody here uses
    cast("dict[str, ModuleType | None]", sys.modules)["click"] = None  # that is how it is told
    import httpx

    del sys.modules["click"]
import httpx

from keydesk_client.addresses import Address, address_of
from keydesk_client.answers import error_of
from keydesk_client.bodies import read_body
from keydesk_client.errors import (
    ClientClosed,
    ConnectionLost,
    KeydeskClientError,
    TimedOut,
    Unreachable,
)
from keydesk_client.exchange import Answer, Request
from keydesk_client.keepalive import tcp_keepalive
from keydesk_client.limiter import CALLS_AT_ONCE
from keydesk_client.secret import Secret

Carrier: TypeAlias = httpx.AsyncBaseTransport
"""What carries requests: tests hand in a MockTransport or one that reaches an app in this process."""

STREAM_CONNECTIONS = 20
IDLE_CONNECTION_S = 30.0
USER_AGENT = "keydesk-client"

CAUGHT = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)

TIMEOUTS: tuple[tuple[type[Exception], str, bool], ...] = (
    (httpx.ConnectTimeout, "connect", False),
    (httpx.PoolTimeout, "pool", False),
    (httpx.WriteTimeout, "write", True),
    (httpx.ReadTimeout, "read", True),
    (TimeoutError, "whole", True),
)
"""The exception, its phase, and whether the request may have been sent by then."""

NEVER_CONNECTED = (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL)

T = TypeVar("T")

if find_spec("sniffio") is None:
    # httpcore looks for it four times a request, and Python does not remember what is not there: 0.15 ms a request
    cast("dict[str, ModuleType | None]", sys.modules).setdefault("sniffio", None)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a call may take."""

    connect: float = 5.0
    write: float = 10.0
    read: float = 10.0
    pool: float = 10.0
    whole: float = 30.0
    """All phases of a call together."""
    opening: float = 60.0
    """Until a stream's first header; the service is known to take its time."""


class Transport:
    """Carries requests to the REST host and opens streams of the stream host."""

    def __init__(
        self,
        token: Secret,
        rest_url: str,
        stream_url: str,
        *,
        timeouts: Timeouts = Timeouts(),
        carrier: Carrier | None = None,
    ) -> None:
        token.check()
        self.rest: Address = address_of(rest_url)
        self.stream: Address = address_of(stream_url)
        self.timeouts: Timeouts = timeouts
        self._token = token
        self._rest_carrier = carrier or _carrier_to(self.rest, CALLS_AT_ONCE)
        self._stream_carrier = carrier or _carrier_to(self.stream, STREAM_CONNECTIONS)
        self._closed = False

    async def request(self, request: Request) -> Answer:
        """The answer, whatever its status; raises when there is none, and never sends twice."""
        outgoing = self._outgoing(request, self.rest, self._rest_headers())
        return await _named(_exchanged(self._rest_carrier, outgoing, self.timeouts.whole))

    @asynccontextmanager
    async def open_stream(
        self, request: Request, *, silence: float | None = None
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The bytes of a stream as they come; leaving the block closes the connection.

        An error status is raised as Answered. `silence` is how long not a byte may come before TimedOut;
        with none, the reader keeps watch by itself.
        """
        outgoing = self._outgoing(request, self.stream, STREAM_HEADERS, read=silence)
        response = await _named(_opened(self._stream_carrier, outgoing, self.timeouts.opening))
        try:
            yield _pieces(response)
        finally:
            await _close(response)

    async def close(self) -> None:
        """Close every connection; what is under way ends as ConnectionLost."""
        self._closed = True
        await self._rest_carrier.aclose()
        await self._stream_carrier.aclose()

    def _rest_headers(self) -> dict[str, str]:
        return REST_HEADERS_HERE if self.rest.is_here else REST_HEADERS

    def _outgoing(
        self,
        request: Request,
        address: Address,
        headers: dict[str, str],
        *,
        read: float | None = -1,
    ) -> httpx.Request:
        if self._closed:
            raise ClientClosed("the client is closed")
        limits = self.timeouts
        timeout = {
            "connect": limits.connect,
            "write": limits.write,
            "read": limits.read if read == -1 else read,
            "pool": limits.pool,
        }
        body_type = {} if request.body is None else JSON_BODY
        return httpx.Request(
            request.method,
            address.base + request.target,
            headers={
                "Authorization": f"Bearer {self._token.reveal()}",
                **headers,
                **body_type,
                **request.headers,
            },
            content=request.body,
            extensions={"timeout": timeout},
        )


REST_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "User-Agent": USER_AGENT,
}
REST_HEADERS_HERE = {**REST_HEADERS, "Accept-Encoding": "identity"}
STREAM_HEADERS = {
    "Accept": "application/octet-stream",
    "Accept-Encoding": "identity",  # a compressor would hold lines back
    "User-Agent": USER_AGENT,
}
JSON_BODY = {"Content-Type": "application/json"}


def _carrier_to(address: Address, connections: int) -> Carrier:
    return httpx.AsyncHTTPTransport(
        verify=address.encrypted,  # this machine is reached without encryption, and needs no list of authorities
        trust_env=False,
        limits=httpx.Limits(
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=IDLE_CONNECTION_S,
        ),
        uds=address.socket_path,
        socket_options=None if address.socket_path else tcp_keepalive(),
    )


async def _exchanged(carrier: Carrier, outgoing: httpx.Request, whole: float) -> Answer:
    async with asyncio.timeout(whole):
        response = await carrier.handle_async_request(outgoing)
        try:
            return await _read(response)
        finally:
            await _close(response)


async def _opened(carrier: Carrier, outgoing: httpx.Request, opening: float) -> httpx.Response:
    async with asyncio.timeout(opening):
        response = await carrier.handle_async_request(outgoing)
        if response.is_success:
            return response
        try:
            raise error_of(await _read(response))
        finally:
            await _close(response)


async def _read(response: httpx.Response) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = await read_body(_body_of(response), headers.get("content-encoding", "").lower())
    return Answer(response.status_code, headers, body)


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in _body_of(response):
            yield piece
    except CAUGHT as error:
        failure = _failure(error)
    else:
        return
    raise failure


def _body_of(response: httpx.Response) -> httpx.AsyncByteStream:
    stream = response.stream
    if not isinstance(stream, httpx.AsyncByteStream):
        raise TypeError("the carrier gave a body that can not be awaited")
    return stream


async def _close(response: httpx.Response) -> None:
    with suppress(*CAUGHT):
        await response.aclose()


async def _named(work: Awaitable[T]) -> T:
    try:
        return await work
    except CAUGHT as error:
        failure = _failure(error)
    raise failure


def _failure(error: Exception) -> KeydeskClientError:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    for kinds, phase, sent in TIMEOUTS:
        if isinstance(error, kinds):
            return TimedOut(f"the {phase} phase took too long", phase=phase, sent=sent)
    if isinstance(error, NEVER_CONNECTED):
        return Unreachable(f"no connection: {said}")
    return ConnectionLost(f"the connection broke: {said}")
