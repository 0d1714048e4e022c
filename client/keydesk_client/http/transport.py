"""Everything that goes through httpx: the transport that a client uses by default, its requests, and what its errors mean.

Client(transport=...) takes any `httpx.AsyncBaseTransport`. The default one is httpcore's connection pool, as that of
httpx, on the network of `network`, which lets no response be taken for that to the next request. Transports are called
without `httpx.AsyncClient`: so no redirect is followed, no cookie kept, and no request repeated.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

import httpcore

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import (
    ConnectionLost,
    InvalidRequest,
    InvalidSettings,
    KeydeskClientError,
    TimedOut,
    Unreachable,
    message_of,
)
from keydesk_client.http.certificates import certificate_error_reason, named_certificates
from keydesk_client.http.endpoint import Address, Proxy
from keydesk_client.http.errors import PROXY_SIGN_IN, causes_of, connect_failure
from keydesk_client.http.lean_import import absent
from keydesk_client.http.limits import Trace
from keydesk_client.http.messages import Connection, Headers, Request, request_headers
from keydesk_client.http.network import Network
from keydesk_client.http.timing import Timeouts

with absent("click"):  # or httpx loads its command line with rich and pygments: 17 ms, 3 MB
    import httpx

PassedTransport: TypeAlias = httpx.AsyncBaseTransport
"""What a caller may pass to a client."""
HttpxRequest: TypeAlias = httpx.Request
OpenResponse: TypeAlias = httpx.Response
"""A response whose body is still to be read, and whose stream must be closed."""

IDLE_CONNECTION_S: Final = 30.0
SENDING: Final = "http11.send_request_headers.started"
RECEIVING: Final = "http11.receive_response_headers."
MAX_TARGET_LENGTH: Final = 65_000
MAX_URLS: Final = 100
"""URLs that are kept as parsed, which takes a tenth of the processor time of a request."""
MAX_REASON_LENGTH: Final = 300
SIGN_IN_STATUS: Final = "407"
"""Begins the text of httpcore's ProxyError, which has no member with the status."""

OF_HTTPCORE: Final = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
CAUGHT: Final = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError, UnicodeError)
"""The errors of a transport that `client_error` translates."""
PHASES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (httpx.ConnectTimeout, "connect"),
    (httpx.PoolTimeout, "pool"),
    (httpx.WriteTimeout, "write"),
    (httpx.ReadTimeout, "read"),
    (TimeoutError, "whole"),
)
SENT_BY_THEN: Final = frozenset({"write", "read", "whole"})
"""The phases in which a request may have been sent."""
NOT_CONNECTED: Final = (httpx.ConnectError, httpx.UnsupportedProtocol)
NOT_ENCODABLE: Final = (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError)


class DefaultTransport(httpx.AsyncBaseTransport):
    """At most `max_connections` connections to a host; the one that was used last carries the next request.

    Each connection is a pool of httpcore that has one place: a larger pool loses places when a request is cancelled while
    its connection opens or its response is closed. A pool whose request failed or was cancelled is closed.

    Args:
        address: The host.
        most: The number of connections.
        encryption: For a host, or a proxy, that is reached by https.
        proxy: Leads to the host, if it is not reached directly.
    """

    def __init__(
        self,
        address: Address,
        max_connections: int,
        encryption: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        self._address, self._encryption, self._proxy = address, encryption, proxy
        is_double = proxy is not None and proxy.is_encrypted
        place = address.shown if proxy is None else f"{address.shown} through {proxy.url}"
        self._network = Network(place, address.is_encrypted + is_double)
        self._places = asyncio.Semaphore(max_connections)
        self._pools: set[httpcore.AsyncConnectionPool] = set()
        self._idle: list[httpcore.AsyncConnectionPool] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request once; return the head of its response with its open body."""
        await self._wait_for_place(request.extensions.get("timeout", {}).get("pool"))
        pool, progress = None, _Progress(request.extensions.get("trace"))
        if self._proxy is not None:
            request.extensions["trace"] = progress
        try:
            pool = await self._idle_pool() or self._new_pool()
            response = await pool.handle_async_request(_core_request(request))
        except BaseException as error:
            await self.take_back(pool, is_usable=False)
            if not isinstance(error, OF_HTTPCORE):
                raise
            if self._proxy is None or progress.has_begun:
                raise _as_httpx(error) from error
            raise httpx.ProxyError(_proxy_reason(self._proxy, error)) from error
        body = _Body(response, pool, self)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=body,
            extensions=response.extensions,  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - httpcore's own
        )

    async def take_back(
        self, pool: httpcore.AsyncConnectionPool | None, *, is_usable: bool
    ) -> None:
        """Keep a connection for the next request, or close it."""
        self._places.release()
        if pool is not None and is_usable and not self._network.is_closed:
            self._idle.append(pool)
        elif pool is not None:
            await self._close(pool)

    async def aclose(self) -> None:
        """Close every connection; one that is being opened is closed as soon as it is open."""
        self._network.is_closed = True
        self._idle.clear()
        for pool in tuple(self._pools):
            await self._close(pool)

    async def _wait_for_place(self, timeout_s: float | None) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._places.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("no connection became free") from error

    async def _idle_pool(self) -> httpcore.AsyncConnectionPool | None:
        """Return the idle connection that was used last, if there is one; close those that ended, or that received anything."""
        while self._idle:
            pool = self._idle.pop()
            if any(each.is_idle() and not each.has_expired() for each in pool.connections):
                return pool
            await self._close(pool)
        return None

    def _new_pool(self) -> httpcore.AsyncConnectionPool:
        pool = httpcore.AsyncConnectionPool(
            ssl_context=self._encryption,
            proxy=None if self._proxy is None else _proxy_of(self._proxy, self._encryption),
            max_connections=1,
            keepalive_expiry=IDLE_CONNECTION_S,
            uds=self._address.socket_path,
            network_backend=self._network,
        )
        self._pools.add(pool)
        return pool

    async def _close(self, pool: httpcore.AsyncConnectionPool) -> None:
        self._pools.discard(pool)
        await pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpcore; closing it gives its connection back."""

    def __init__(
        self,
        response: httpcore.Response,
        pool: httpcore.AsyncConnectionPool,
        transport: DefaultTransport,
    ) -> None:
        self._response, self._pool, self._transport = response, pool, transport
        self._is_closed = False

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        try:
            async for piece in self._response.aiter_stream():
                yield piece
        except OF_HTTPCORE as error:
            raise _as_httpx(error) from error

    async def aclose(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        is_usable = False
        try:
            await self._response.aclose()
            is_usable = True
        finally:
            await self._transport.take_back(self._pool, is_usable=is_usable)


class _Progress:
    """A trace extension that notes when a request begins to be sent: what fails before is the way through the proxy."""

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace
        self.has_begun = False

    async def __call__(self, step: str, info: Mapping[str, object]) -> None:
        request = info.get("request")
        if step == SENDING and isinstance(request, httpcore.Request):
            self.has_begun = request.method != b"CONNECT"
        if self._trace is not None:
            await self._trace(step, info)


class Arrival:
    """A trace extension that notes whether the head of a response was there before its request was sent.

    The transport of httpx keeps what stands behind a response, and would parse it as the response to the next request,
    without waiting for anything to be received. Other transports do not call it.
    """

    def __init__(self) -> None:
        self.was_before: bool = False
        self._has_waited = False

    async def __call__(self, step: str, _: object) -> None:
        if step == f"{RECEIVING}started":
            asyncio.get_running_loop().call_soon(self._note_wait)
        elif step == f"{RECEIVING}complete":
            self.was_before = not self._has_waited

    def _note_wait(self) -> None:
        self._has_waited = True


def _core_request(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        request.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _proxy_of(proxy: Proxy, encryption: ssl.SSLContext | None) -> httpcore.Proxy:
    own = encryption if proxy.is_encrypted else None
    return httpcore.Proxy(proxy.url, auth=proxy.login, ssl_context=own)


def _proxy_reason(proxy: Proxy, error: Exception) -> str:
    """Return why no connection could be made through a proxy."""
    if isinstance(error, httpcore.ProxyError):
        return f"the proxy {proxy.url} refused with {error}"
    if isinstance(error, httpcore.TimeoutException):
        return f"the proxy {proxy.url} did not connect in time"
    reason = certificate_error_reason(error) or _reason(error)
    return f"through the proxy {proxy.url}: {reason}"


def ssl_context() -> ssl.SSLContext:
    """Return the SSL context of all connections; raise InvalidSettings if named certificates cannot be read."""
    return named_certificates() or httpx.create_ssl_context(trust_env=False)


def checked_url(address: Address) -> str:
    """Return the URL of an address; raise InvalidSettings for one that cannot lead to a host."""
    try:
        return str(httpx.URL(address.base))
    except httpx.InvalidURL as error:
        reason = str(error)
    raise InvalidSettings(f"{address.base[:MAX_REASON_LENGTH]!r} is not a valid URL: {reason}")


_url = lru_cache(MAX_URLS)(httpx.URL)


def http_request(
    request: Request,
    base: str,
    token: Secret,
    accepted: Headers,
    timeouts: Timeouts,
    *,
    read: float | None,
    trace: Trace | None = None,
) -> httpx.Request:
    """Return a request as it is sent to a host; raise InvalidRequest for one that HTTP cannot express.

    `read` is the longest silence of the response. `trace` is called, and awaited, at each step of opening a connection.
    """
    extensions: dict[str, object] = {
        "timeout": {
            "connect": timeouts.connect,
            "write": timeouts.write,
            "read": read,
            "pool": timeouts.pool,
        }
    }
    if trace is not None:
        extensions["trace"] = trace
    try:
        target, headers = request.target, request_headers(request, token, accepted)
        if len(target) <= MAX_TARGET_LENGTH:
            return _ready_request(request, _url(f"{base}{target}"), headers, extensions)
        reason = "its path and query are too long"
    except NOT_ENCODABLE as error:
        reason = str(error)
    raise InvalidRequest(f"the request cannot be encoded: {reason[:MAX_REASON_LENGTH]}")


def _ready_request(
    request: Request,
    url: httpx.URL,
    headers: list[tuple[bytes, bytes]],
    extensions: dict[str, object],
) -> httpx.Request:
    """Return a request with the headers that httpx would add in two further passes over all of them."""
    length = (b"Content-Length", b"%d" % len(request.body or b""))
    added = [(b"Host", url.netloc)] if request.is_read else [(b"Host", url.netloc), length]
    sent = httpx.Request(
        request.method,
        url,
        headers=added + headers,
        stream=httpx.ByteStream(request.body or b""),
        extensions=extensions,
    )
    sent.read()  # for a transport that is passed, and reads `content`
    return sent


def body_of(response: httpx.Response) -> httpx.AsyncByteStream:
    """Return the body of a response, as it was received."""
    if isinstance(response.stream, httpx.AsyncByteStream):
        return response.stream
    raise TypeError("the transport returned a synchronous body: use an asynchronous transport")


def connection_of(response: httpx.Response) -> Connection | None:
    """Return the connection of a response, where its transport names it."""
    stream = response.extensions.get("network_stream")
    return stream if isinstance(stream, httpcore.AsyncNetworkStream) else None


def client_error(error: Exception, token: Secret) -> KeydeskClientError:
    """Return the error of this package for one of `CAUGHT`: it tells whether the request may have been sent."""
    for kind, phase in PHASES:
        if isinstance(error, kind):
            text = f"the {phase} timeout has passed"
            return TimedOut(text, phase=phase, sent=phase in SENT_BY_THEN)
    if isinstance(error, httpx.ProxyError):
        text = f"cannot connect: {token.redact(str(error))[:MAX_REASON_LENGTH]}"
        if any(str(each).startswith(SIGN_IN_STATUS) for each in causes_of(error)):
            return Unreachable(f"{text}: {PROXY_SIGN_IN}", cause="proxy sign-in")
        return Unreachable(text, cause="proxy")
    reason = token.redact(_reason(error))[:MAX_REASON_LENGTH]
    if isinstance(error, NOT_CONNECTED):
        text = f"cannot connect: {certificate_error_reason(error) or reason}"
        return Unreachable(text, cause=connect_failure(error))
    if isinstance(error, NOT_ENCODABLE):
        return InvalidRequest(f"the request cannot be encoded: {reason}")
    return ConnectionLost(f"the connection broke: {reason}")


def _as_httpx(error: Exception) -> Exception:
    """Return an error of httpcore as that of httpx, which has the same name."""
    kind: type[Exception] = getattr(httpx, type(error).__name__, httpx.TransportError)
    return kind(str(error))


def _reason(error: BaseException) -> str:
    """Return the words of the system where it refused a connection, and else those of the library."""
    for cause in causes_of(error):
        if isinstance(cause, socket.gaierror | ssl.SSLError) and cause.strerror:
            return cause.strerror
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno)
    return message_of(error)
