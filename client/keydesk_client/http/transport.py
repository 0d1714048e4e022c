"""Sends a request once by HTTP, and returns a response or raises one of `errors`; no other module sends.

- No HTTP library's client is used: no redirects, no cookies, no proxies, no settings from the environment, no request
  sent twice, and less work per request.
- Errors are raised outside the `except` that caught them, without a chained exception. Other exceptions, cancellation
  above all, are re-raised without traceback: frames hold the Authorization header.
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
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Final, TypeVar

from typing_extensions import TypeIs

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
from keydesk_client.http.carrier import (
    Carrier,
    ConnectionFailed,
    EncodedRequest,
    NotConnected,
    OpenResponse,
    PassedCarrier,
    PhaseTimedOut,
    PhaseTimeouts,
    RequestNotEncodable,
)
from keydesk_client.http.certificates import certificate_error_reason
from keydesk_client.http.connections import (
    IDLE_CONNECTION_S,
    READ_SIZE,
    ConnectionPool,
    ResponseBody,
    ssl_context,
)
from keydesk_client.http.endpoint import Address, address_of, host_of
from keydesk_client.http.errors import connect_failure, error_of
from keydesk_client.http.limits import (
    CALLS_AT_ONCE,
    LOOK_UPS_AT_ONCE,
    MORE_FOR_EXITS,
    ConnectionSlots,
    ConnectRateLimiter,
    Limiter,
    Trace,
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
    is_success,
    read_body,
    read_headers,
    request_headers,
    without_token,
)
from keydesk_client.http.socket_stream import SocketStream
from keydesk_client.http.timing import STANDARD_TIMEOUTS, Timeouts
from keydesk_client.models._core.json import ERROR, LIST

T = TypeVar("T")

REST_CONNECTIONS: Final = CALLS_AT_ONCE + MORE_FOR_EXITS
STREAM_CONNECTIONS: Final = 20
COUNTED_IDLE_S: Final = IDLE_CONNECTION_S - 5.0
"""An idle connection is counted as closed a little before it is closed."""

CAUGHT: Final = (ConnectionFailed, RequestNotEncodable, OSError, UnicodeError)
SENT_BY_THEN: Final = frozenset({"write", "read", "whole"})
"""The phases in which a request may have been sent."""
MAX_REASON_LENGTH: Final = 300
MAX_TARGET_LENGTH: Final = 65_000

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
        carrier: "PassedCarrier | None" = None,
        is_paced: bool | None = None,
    ) -> None:
        token.check()
        self.rest: Address = address_of(rest_url, "rest_url")
        self.stream: Address = address_of(stream_url, "stream_url")
        self._rest_host, self._stream_host = host_of(self.rest), host_of(self.stream)
        self.timeouts: Timeouts = timeouts
        self._token = token
        TOKEN_FILTER.add(token)
        HTTP_LOG.addFilter(TOKEN_FILTER)  # adds it once, however often this is called
        LOG.addFilter(TOKEN_FILTER)
        self._limiter = limiter or Limiter()
        passed = None if carrier is None else _carrier_of(carrier)
        is_encrypted = passed is None and (self.rest.is_encrypted or self.stream.is_encrypted)
        self._encryption = ssl_context() if is_encrypted else None
        self._rest_carrier = passed or self._pool(self.rest, REST_CONNECTIONS)
        self._look_up_carrier = passed
        self._stream_carrier = passed or self._pool(self.stream, STREAM_CONNECTIONS)
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
            trace = None if slots is None else slots.trace()
            read = self.timeouts.read
            address = self.rest.base, self._rest_host.header
            built = self._build(request, address, self._rest_headers, read, trace)
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
        address = self.stream.base, self._stream_host.header
        built = self._build(request, address, STREAM, silence)
        opening = _open(self._stream_carrier, built, self._token, self.timeouts.opening)
        began = time.monotonic()
        response = await _guarded(opening, self._token)
        if LOG.isEnabledFor(logging.DEBUG):
            request_id = response.headers.get("requestid", "")
            log_response(request, response.status, request_id, time.monotonic() - began)
        if isinstance(response, HttpResponse):
            raise error_of(response, request.query)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await _guarded(response.body.aclose(), self._token)
            raise UnreadableAnswer("the stream is compressed, which was not asked for")
        try:
            pieces = _pieces(response, self._token, silence)
            yield without_token(pieces, self._token) if redacted else pieces
        finally:
            await _guarded(response.body.aclose(), self._token)

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
        self,
        request: Request,
        address: tuple[str, bytes],
        accepted: Headers,
        read: float | None,
        trace: Trace | None = None,
    ) -> EncodedRequest:
        if self._closed:
            raise ClientClosed("the client is closed: open a new one")
        base, host = address
        try:
            target = request.target
            headers = request_headers(request, host, self._token, accepted)
        except UnicodeError as error:
            reason = str(error)
        else:
            if len(target) <= MAX_TARGET_LENGTH:
                limits = self.timeouts
                phases = PhaseTimeouts(limits.connect, limits.write, read, limits.pool)
                body = request.body or b""
                return EncodedRequest(request.method, base, target, headers, body, phases, trace)
            reason = "its path and query are too long"
        raise InvalidRequest(f"the request cannot be encoded: {reason[:MAX_REASON_LENGTH]}")


def _carrier_of(carrier: PassedCarrier) -> Carrier:
    if _is_own(carrier):
        return carrier
    from keydesk_client.http.httpx_carrier import HttpxCarrier  # noqa: PLC0415 - imports httpx

    return HttpxCarrier(carrier)


def _is_own(carrier: PassedCarrier) -> TypeIs[Carrier]:
    return not hasattr(carrier, "handle_async_request")


async def _exchange(
    carrier: Carrier, request: EncodedRequest, token: Secret, timeout_s: float, max_bytes: int
) -> HttpResponse:
    async with asyncio.timeout(timeout_s):
        response = await carrier.send(request)
        try:
            return await _read(response, token, max_bytes)
        finally:
            await response.body.aclose()


async def _open(
    carrier: Carrier, request: EncodedRequest, token: Secret, timeout_s: float
) -> OpenResponse | HttpResponse:
    """Return the open stream, or the whole response that refuses it."""
    async with asyncio.timeout(timeout_s):
        response = await carrier.send(request)
        if is_success(response.status):
            return response
        try:
            return await _read(response, token, ERROR.size)
        finally:
            await response.body.aclose()


async def _read(response: OpenResponse, token: Secret, max_bytes: int) -> HttpResponse:
    headers = read_headers(response.headers, token)
    encoding = headers.get("content-encoding", "").lower()
    limit = max_bytes if is_success(response.status) else ERROR.size
    body = token.redact_body(await read_body(response.body, encoding, limit))
    return HttpResponse(response.status, headers, body)


async def _pieces(
    response: OpenResponse, token: Secret, silence: float | None
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


def _body_of(response: OpenResponse, silence: float | None) -> AsyncIterable[bytes]:
    """Return the pieces of a stream: read from the connection if it is chunked, see `ChunkedDecoder`, else as parsed."""
    body = response.body
    is_chunked = response.headers.get("transfer-encoding", "").lower() == "chunked"
    if isinstance(body, ResponseBody) and is_chunked and response.status == HTTPStatus.OK:
        return _chunked_body(body.connection.network, body.connection.unread, silence)
    return body


async def _chunked_body(
    connection: SocketStream, received: bytes, silence: float | None
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


async def _guarded(work: Awaitable[T], token: Secret) -> T:
    """Return the result of `work`; raise its errors without anything of the connection in them."""
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
    if isinstance(error, PhaseTimedOut | TimeoutError):
        phase = error.phase if isinstance(error, PhaseTimedOut) else "whole"
        text = f"the {phase} timeout has passed"
        return TimedOut(text, phase=phase, sent=phase in SENT_BY_THEN)
    if isinstance(error, NotConnected):
        text = f"cannot connect: {certificate_error_reason(error) or reason}"
        return Unreachable(text, cause=connect_failure(error))
    if isinstance(error, RequestNotEncodable | UnicodeError):
        return InvalidRequest(f"the request cannot be encoded: {reason}")
    return ConnectionLost(f"the connection broke: {reason}")
