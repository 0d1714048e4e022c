"""Sends a request once by HTTP, and returns a response or raises one of `errors`; no other module sends.

- No client of httpx is used: no redirects, no cookies, no proxies, no settings from the environment, no request sent
  twice, and less work per request.
- Errors are raised outside the `except` that caught them, without a chained exception. Other exceptions, cancellation
  above all, are re-raised without traceback: httpx frames hold the Authorization header.
- Responses are searched for the token, because a service or a proxy may echo what it received.
- Bytes that follow a response close its connection: the next request would read them as its own response.
- Look-ups of lost responses have connections of their own: all others may be waiting for responses.
- At most two connections a second are opened, streams included, since the service refuses more. Hosts on this machine
  are not paced.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import lru_cache
from http import HTTPStatus
from typing import Final, TypeVar

import httpcore
import httpx

from keydesk_client.auth.secret import RedactingFilter, Secret, strip_traceback
from keydesk_client.errors import (
    ClientClosed,
    ConnectionLost,
    InvalidRequest,
    KeydeskClientError,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
    WrongEventLoop,
    message_of,
)
from keydesk_client.http.certificates import certificate_error_reason
from keydesk_client.http.connections import (
    IDLE_CONNECTION_S,
    INVALID,
    MAX_REASON_LENGTH,
    READ_SIZE,
    Carrier,
    ConnectionPool,
    ResponseBody,
    checked,
    ssl_context,
)
from keydesk_client.http.endpoint import Address, address_of
from keydesk_client.http.error_mapping import error_of
from keydesk_client.http.limiter import (
    CALLS_AT_ONCE,
    LOOK_UPS_AT_ONCE,
    MORE_FOR_EXITS,
    ConnectionSlots,
    Limiter,
)
from keydesk_client.http.log import LOG, log_response
from keydesk_client.http.messages import (
    REST,
    REST_UNCOMPRESSED,
    STREAM,
    ChunkedDecoder,
    Headers,
    HttpResponse,
    Request,
    RequestKind,
    read_body,
    read_headers,
    request_headers,
    without_token,
)
from keydesk_client.http.timing import STANDARD_TIMEOUTS, ConnectRateLimiter, Timeouts
from keydesk_client.models._core.json import ERROR, LIST

T = TypeVar("T")

REST_CONNECTIONS: Final = CALLS_AT_ONCE + MORE_FOR_EXITS
STREAM_CONNECTIONS: Final = 20
COUNTED_IDLE_S: Final = IDLE_CONNECTION_S - 5.0
"""An idle connection is counted as closed a little before it is closed."""

CAUGHT: Final = (
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    OSError,
    UnicodeError,
)
TIMEOUTS: Final[tuple[tuple[type[Exception], str, bool], ...]] = (
    (httpx.ConnectTimeout, "connect", False),
    (httpcore.ConnectTimeout, "connect", False),
    (httpx.PoolTimeout, "pool", False),
    (httpx.WriteTimeout, "write", True),
    (httpcore.WriteTimeout, "write", True),
    (httpx.ReadTimeout, "read", True),
    (httpcore.ReadTimeout, "read", True),
    (TimeoutError, "whole", True),
)
"""The exception, its phase, and whether the request may have been sent by then."""
NOT_CONNECTED: Final = (httpx.ConnectError, httpcore.ConnectError, httpx.UnsupportedProtocol)

TOKEN_FILTER: Final = RedactingFilter()
HTTP_LOG: Final = logging.getLogger("httpcore.http11")  # at DEBUG it logs what a service sent


class Transport:
    """Sends requests to the REST host and opens streams of the stream host."""

    def __init__(
        self,
        token: Secret,
        rest_url: str,
        stream_url: str,
        *,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        limiter: Limiter | None = None,
        carrier: Carrier | None = None,
        is_paced: bool | None = None,
    ) -> None:
        token.check()
        self.rest: Address = checked(address_of(rest_url, "rest_url"))
        self.stream: Address = checked(address_of(stream_url, "stream_url"))
        self.timeouts: Timeouts = timeouts
        self._token = token
        TOKEN_FILTER.add(token)
        HTTP_LOG.addFilter(TOKEN_FILTER)  # adds it once, however often this is called
        LOG.addFilter(TOKEN_FILTER)
        self._limiter = limiter or Limiter()
        is_encrypted = carrier is None and (self.rest.is_encrypted or self.stream.is_encrypted)
        self._encryption = ssl_context() if is_encrypted else None
        self._rest_carrier = carrier or self._pool(self.rest, REST_CONNECTIONS)
        self._look_up_carrier = carrier
        self._stream_carrier = carrier or self._pool(self.stream, STREAM_CONNECTIONS)
        self._rest_headers = REST_UNCOMPRESSED if self.rest.is_local else REST
        self.pace: ConnectRateLimiter = ConnectRateLimiter()
        """How often a connection may be opened; a stream takes its turn before it is opened."""
        if is_paced is None:
            is_paced = carrier is None and not self.rest.is_local
        self._slots: ConnectionSlots | None = None
        self._look_up_slots: ConnectionSlots | None = None
        if is_paced:
            self._slots = ConnectionSlots(self.pace, REST_CONNECTIONS, COUNTED_IDLE_S)
            self._look_up_slots = ConnectionSlots(self.pace, LOOK_UPS_AT_ONCE, COUNTED_IDLE_S)
        self._closed = False
        self._is_own_carrier = carrier is None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def request(self, request: Request, max_bytes: int = LIST.size) -> HttpResponse:
        """Wait for a turn, send the request once, and return the response, whatever its status.

        `max_bytes` bounds the decompressed body of a success. Raises a KeydeskClientError when there is no response.
        """
        self._check_loop()
        is_look_up = request.kind is RequestKind.LOOK_UP
        slots = self._look_up_slots if is_look_up else self._slots
        async with self._limiter.turn(request.kind, slots, self.timeouts.pool):
            built = self._build(request, self.rest, self._rest_headers, self.timeouts.read)
            if slots is not None:
                built.extensions["trace"] = slots.trace()
            carrier = self._carrier_of_look_ups() if is_look_up else self._rest_carrier
            exchange = _exchange(carrier, built, self._token, self.timeouts.whole, max_bytes)
            response = await _guarded(exchange, self._token)
        if self.pace.awaiting_answer and response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self.pace.note_answer()
        return response

    @asynccontextmanager
    async def open_stream(
        self, request: Request, *, silence: float | None = None, redacted: bool = True
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Yield an iterator over the bytes of a stream; leaving the block closes the connection.

        Args:
            request: names the stream.
            silence: the longest time without a byte, after which TimedOut is raised; None for no limit.
            redacted: remove the token, should the service echo it.

        Raises:
            HttpStatusError: the service refused the stream.
        """
        self._check_loop()
        built = self._build(request, self.stream, STREAM, silence)
        opening = _open(self._stream_carrier, built, self._token, self.timeouts.opening)
        began = time.monotonic()
        response = await _guarded(opening, self._token)
        status = response.status if isinstance(response, HttpResponse) else response.status_code
        if LOG.isEnabledFor(logging.DEBUG):
            request_id = response.headers.get("requestid", "")
            log_response(request, status, request_id, time.monotonic() - began)
        if isinstance(response, HttpResponse):
            raise error_of(response, request.query)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await _guarded(_close(response), self._token)
            raise UnreadableAnswer("the stream is compressed, which was not asked for")
        try:
            pieces = _pieces(response, self._token, silence)
            yield without_token(pieces, self._token) if redacted else pieces
        finally:
            await _guarded(_close(response), self._token)

    async def close(self) -> None:
        """Close every connection; requests in flight end as ConnectionLost, those still connecting as Unreachable."""
        self._closed = True
        if self._loop is not None and self._loop.is_closed():
            return  # its connections ended with it
        await _guarded(self._close_carriers(), self._token)

    async def _close_carriers(self) -> None:
        async with (
            AsyncExitStack() as closing
        ):  # if it is cancelled, the others are closed all the same
            for carrier in (self._rest_carrier, self._stream_carrier, self._look_up_carrier):
                if carrier is not None:
                    closing.push_async_callback(carrier.aclose)

    def _check_loop(self) -> None:
        """Raise WrongEventLoop in another event loop than before: connections belong to theirs."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop and self._is_own_carrier:
            raise WrongEventLoop(
                "the client has connections in another event loop: make a client inside each asyncio.run,"
                " or use sync.Client, which may be called from anywhere"
            )

    def _carrier_of_look_ups(self) -> Carrier:
        """Return the connections of look-ups, made when the first response was lost."""
        if self._look_up_carrier is None:
            self._look_up_carrier = self._pool(self.rest, LOOK_UPS_AT_ONCE)
        return self._look_up_carrier

    def _pool(self, address: Address, most: int) -> Carrier:
        return ConnectionPool(address, most, self._encryption)

    def _build(
        self, request: Request, address: Address, accepted: Headers, read: float | None
    ) -> httpx.Request:
        if self._closed:
            raise ClientClosed("the client is closed: open a new one")
        try:
            url = _url(address.base + request.target)
            built = httpx.Request(
                request.method,
                url,
                headers=request_headers(request, url.netloc, self._token, accepted),
                stream=httpx.ByteStream(request.body or b""),
                extensions={"timeout": _phases(self.timeouts, read)},
            )
            if not self._is_own_carrier:
                built.read()  # from memory, for carriers that want the whole content
        except INVALID as error:
            reason = str(error)
        else:
            return built
        raise InvalidRequest(f"the request cannot be encoded: {reason[:MAX_REASON_LENGTH]}")


@lru_cache(maxsize=64)
def _url(text: str) -> httpx.URL:
    """Return a parsed URL; an account's orders share one."""
    return httpx.URL(text)


def _phases(timeouts: Timeouts, read: float | None) -> dict[str, float | None]:
    """Return the timeouts extension of httpx; `read` is the longest silence."""
    return {
        "connect": timeouts.connect,
        "write": timeouts.write,
        "read": read,
        "pool": timeouts.pool,
    }


async def _exchange(
    carrier: Carrier, request: httpx.Request, token: Secret, timeout_s: float, max_bytes: int
) -> HttpResponse:
    async with asyncio.timeout(timeout_s):
        response = await carrier.handle_async_request(request)
        try:
            return await _read(response, token, max_bytes)
        finally:
            await _close(response)


async def _open(
    carrier: Carrier, request: httpx.Request, token: Secret, timeout_s: float
) -> httpx.Response | HttpResponse:
    """Return the open stream, or the whole response that refuses it."""
    async with asyncio.timeout(timeout_s):
        response = await carrier.handle_async_request(request)
        if response.is_success:
            return response
        try:
            return await _read(response, token, ERROR.size)
        finally:
            await _close(response)


async def _read(response: httpx.Response, token: Secret, max_bytes: int) -> HttpResponse:
    headers = read_headers(response.headers.items(), token)
    encoding = headers.get("content-encoding", "").lower()
    limit = max_bytes if response.is_success else ERROR.size
    body = token.redact_body(await read_body(_stream_of(response), encoding, limit))
    if not isinstance(response.stream, ResponseBody):
        await _disconnect(response)
    return HttpResponse(response.status_code, headers, body)


async def _disconnect(response: httpx.Response) -> None:
    """Close the connection of a carrier that is not ours: bytes behind the response may be left in it."""
    connection = response.extensions.get("network_stream")
    if connection is not None:
        with suppress(*CAUGHT):
            await connection.aclose()


async def _pieces(
    response: httpx.Response, token: Secret, silence: float | None
) -> AsyncGenerator[bytes]:
    failure: BaseException
    try:
        async for piece in _body_of(response, silence):
            yield piece
    except CAUGHT as error:
        failure = _client_error(error, token)
    except BaseException as error:  # noqa: BLE001 - re-raised without traceback
        failure = strip_traceback(error)
    else:
        return
    raise failure


def _body_of(response: httpx.Response, silence: float | None) -> AsyncIterable[bytes]:
    """Return the pieces of a stream: read from the connection if it is chunked, see `ChunkedDecoder`, else as parsed."""
    stream = response.stream
    is_chunked = response.headers.get("transfer-encoding", "").lower() == "chunked"
    if isinstance(stream, ResponseBody) and is_chunked and response.status_code == HTTPStatus.OK:
        connection = stream.connection
        return _chunked_body(connection.network, connection.unread, silence)
    return _stream_of(response)


async def _chunked_body(
    connection: httpcore.AsyncNetworkStream, received: bytes, silence: float | None
) -> AsyncGenerator[bytes]:
    """Yield the rest of a body; the parser does not see its end, so that the connection is closed afterwards."""
    decoder = ChunkedDecoder()
    while True:
        piece = decoder.feed(received)
        if piece:
            yield piece
        if decoder.ended:
            return
        if decoder.broken:
            raise ConnectionLost("the stream broke: what follows a chunk is not a chunk")
        received = await connection.read(READ_SIZE, timeout=silence)
        if not received:
            raise ConnectionLost("the connection broke: the stream ended without its last chunk")


def _stream_of(response: httpx.Response) -> httpx.AsyncByteStream:
    stream = response.stream
    if not isinstance(stream, httpx.AsyncByteStream):
        raise TypeError("the carrier returned a synchronous body: use an asynchronous transport")
    return stream


async def _close(response: httpx.Response) -> None:
    with suppress(*CAUGHT):
        await response.aclose()


async def _guarded(work: Awaitable[T], token: Secret) -> T:
    """Return the result of `work`; raise its errors without anything of the HTTP library in them."""
    failure: BaseException
    try:
        return await work
    except CAUGHT as error:
        failure = _client_error(error, token)
    except BaseException as error:  # noqa: BLE001 - re-raised without traceback
        failure = strip_traceback(error)
    raise failure


def _client_error(error: Exception, token: Secret) -> KeydeskClientError:
    reason = token.redact(message_of(error))[:MAX_REASON_LENGTH]
    for kinds, phase, sent in TIMEOUTS:
        if isinstance(error, kinds):
            return TimedOut(f"the {phase} timeout has passed", phase=phase, sent=sent)
    if isinstance(error, NOT_CONNECTED):
        return Unreachable(f"cannot connect: {certificate_error_reason(error) or reason}")
    if isinstance(error, INVALID):
        return InvalidRequest(f"the request cannot be encoded: {reason}")
    return ConnectionLost(f"the connection broke: {reason}")
