"""Sends requests with a token, each once, within the limits; returns a response or raises one of `errors`.

- Errors are raised outside the `except` that caught them, without a chained exception. Other exceptions, cancellation
  above all, are re-raised without traceback: frames hold the Authorization header.
- Responses are searched for the token, because a service or a proxy may echo what it received.
- Look-ups of lost responses have connections of their own: all others may be waiting for responses.
- At most two connections a second are opened, streams included, since the service refuses more. Hosts on this machine
  are not paced.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Final, TypeVar

from keydesk_client.auth.secret import RedactingFilter, Secret, strip_traceback
from keydesk_client.errors import ClientClosed, UnreadableAnswer, WrongEventLoop
from keydesk_client.http.endpoint import Address, address_of, proxy_to
from keydesk_client.http.errors import error_of
from keydesk_client.http.limits import (
    CALLS_AT_ONCE,
    LOOK_UPS_AT_ONCE,
    MORE_FOR_EXITS,
    ConnectionSlots,
    ConnectRateLimiter,
    Limiter,
)
from keydesk_client.http.log import LOG, log_response
from keydesk_client.http.messages import (
    REST,
    REST_UNCOMPRESSED,
    STREAM,
    HttpResponse,
    Request,
    RequestKind,
    header_texts,
    is_success,
    read_body,
    read_headers,
    without_token,
)
from keydesk_client.http.timing import STANDARD_TIMEOUTS, Timeouts
from keydesk_client.http.transport import (
    CAUGHT,
    IDLE_CONNECTION_S,
    Arrival,
    DefaultTransport,
    HttpxRequest,
    OpenResponse,
    PassedTransport,
    body_of,
    checked_url,
    client_error,
    connection_of,
    http_request,
    ssl_context,
)
from keydesk_client.models._core.json import ERROR, LIST

T = TypeVar("T")

REST_CONNECTIONS: Final = CALLS_AT_ONCE + MORE_FOR_EXITS
STREAM_CONNECTIONS: Final = 20
COUNTED_IDLE_S: Final = IDLE_CONNECTION_S - 5.0
"""An idle connection is counted as closed a little before it is closed."""

TOKEN_FILTER: Final = RedactingFilter()
HTTP_LOG: Final = logging.getLogger("httpcore.http11")  # at DEBUG it logs what a service sent


class Session:
    """Sends requests to the REST host and opens streams of the stream host.

    Args:
        token: Sent with each request.
        rest_url: The address of the REST host.
        stream_url: The address of the stream host.
        timeouts: Seconds that each phase may take.
        limiter: Admits requests; may be shared.
        transport: Carries every request, in place of the default connections.
        proxy: The URL of a proxy; "" for none, None for that of the environment.
        encryption: The TLS of the default connections, in place of the trusted authorities of the environment.
        is_paced: Whether connections wait for their turn; by default those of the default transport to another machine.
    """

    def __init__(
        self,
        token: Secret,
        rest_url: str,
        stream_url: str,
        *,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        limiter: Limiter | None = None,
        transport: PassedTransport | None = None,
        proxy: str | None = None,
        encryption: ssl.SSLContext | None = None,
        is_paced: bool | None = None,
    ) -> None:
        token.check()
        self.rest: Address = address_of(rest_url, "rest_url")
        self.stream: Address = address_of(stream_url, "stream_url")
        self._rest_base, self._stream_base = checked_url(self.rest), checked_url(self.stream)
        self.timeouts: Timeouts = timeouts
        self._token = token
        TOKEN_FILTER.add(token)
        HTTP_LOG.addFilter(TOKEN_FILTER)  # adds it once, however often this is called
        LOG.addFilter(TOKEN_FILTER)
        self._limiter = limiter or Limiter()
        self._passed = transport
        is_encrypted = self.rest.is_encrypted or self.stream.is_encrypted
        self._encryption = encryption
        if encryption is None and transport is None and is_encrypted:
            self._encryption = ssl_context()
        self._proxy = proxy
        self._rest_transport = self._transport_to(self.rest, REST_CONNECTIONS)
        self._look_up_transport: PassedTransport | None = None
        self._stream_transport = self._transport_to(self.stream, STREAM_CONNECTIONS)
        self._rest_headers = REST_UNCOMPRESSED if self.rest.is_local else REST
        self.rate_limiter: ConnectRateLimiter = ConnectRateLimiter()
        """How often a connection may be opened; a stream takes its turn before it is opened."""
        if is_paced is None:
            is_paced = transport is None and not self.rest.is_local
        self._slots: ConnectionSlots | None = None
        self._look_up_slots: ConnectionSlots | None = None
        if is_paced:
            self._slots = ConnectionSlots(self.rate_limiter, REST_CONNECTIONS, COUNTED_IDLE_S)
            self._look_up_slots = ConnectionSlots(
                self.rate_limiter, LOOK_UPS_AT_ONCE, COUNTED_IDLE_S
            )
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def request(self, request: Request, max_bytes: int = LIST.size) -> HttpResponse:
        """Wait for a turn, send the request once, and return the response, whatever its status.

        `max_bytes` bounds the decompressed body of a success. Raises a KeydeskClientError when there is no response.
        """
        self._check_loop()
        is_look_up = request.kind is RequestKind.LOOK_UP
        slots = self._look_up_slots if is_look_up else self._slots
        async with self._limiter.turn(request.kind, slots, self.timeouts.pool):
            self._check_open()
            arrival = None if self._passed is None else Arrival()
            sent = http_request(
                request,
                self._rest_base,
                self._token,
                self._rest_headers,
                self.timeouts,
                read=self.timeouts.read,
                trace=arrival if slots is None else slots.trace(),
            )
            transport = self._transport_of_look_ups() if is_look_up else self._rest_transport
            exchange = _exchange(transport, sent, self._token, self.timeouts.whole, max_bytes)
            response = await _guarded(exchange, self._token)
        if arrival is not None and arrival.was_before:
            await self.discard(response)
            raise UnreadableAnswer("the response was there before its request was sent")
        if self.rate_limiter.awaiting_answer and response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self.rate_limiter.note_answer()
        return response

    async def discard(self, response: HttpResponse) -> None:
        """Close the connection that brought a response to another request."""
        if response.connection is not None:
            await _guarded(response.connection.aclose(), self._token)

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
        self._check_open()
        sent = http_request(
            request, self._stream_base, self._token, STREAM, self.timeouts, read=silence
        )
        opening = _open(self._stream_transport, sent, self._token, self.timeouts.opening)
        began = time.monotonic()
        response = await _guarded(opening, self._token)
        if LOG.isEnabledFor(logging.DEBUG):
            status = response.status if isinstance(response, HttpResponse) else response.status_code
            request_id = response.headers.get("requestid", "")
            log_response(request, status, request_id, time.monotonic() - began)
        if isinstance(response, HttpResponse):
            raise error_of(response, request.query)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await _guarded(_close(response), self._token)
            raise UnreadableAnswer("the stream is compressed, which was not asked for")
        try:
            pieces = _pieces(response, self._token)
            yield without_token(pieces, self._token) if redacted else pieces
        finally:
            await _guarded(_close(response), self._token)

    async def close(self) -> None:
        """Close every connection; requests in flight end as ConnectionLost, those still connecting as Unreachable."""
        self._closed = True
        if self._loop is not None and self._loop.is_closed():
            return  # its connections ended with it
        await _guarded(self._close_transports(), self._token)

    async def _close_transports(self) -> None:
        async with (
            AsyncExitStack() as closing
        ):  # if it is cancelled, the others are closed all the same
            opened = (self._rest_transport, self._stream_transport, self._look_up_transport)
            for transport in opened:
                if transport is not None:
                    closing.push_async_callback(transport.aclose)

    def _check_loop(self) -> None:
        """Raise WrongEventLoop in another event loop than before: connections belong to theirs."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop and self._passed is None:
            raise WrongEventLoop(
                "the client has connections in another event loop: make a client inside each asyncio.run,"
                " or use sync.Client, which may be called from anywhere"
            )

    def _check_open(self) -> None:
        if self._closed:
            raise ClientClosed("the client is closed: open a new one")

    def _transport_of_look_ups(self) -> PassedTransport:
        """Return the connections of look-ups, made when the first response was lost."""
        if self._look_up_transport is None:
            self._look_up_transport = self._transport_to(self.rest, LOOK_UPS_AT_ONCE)
        return self._look_up_transport

    def _transport_to(self, address: Address, max_connections: int) -> PassedTransport:
        if self._passed is not None:
            return self._passed
        encryption = self._encryption if address.is_encrypted else None
        return DefaultTransport(
            address, max_connections, encryption, proxy_to(address, self._proxy)
        )


async def _exchange(
    transport: PassedTransport, sent: HttpxRequest, token: Secret, timeout_s: float, max_bytes: int
) -> HttpResponse:
    async with asyncio.timeout(timeout_s):
        response = await transport.handle_async_request(sent)
        try:
            return await _read(response, token, max_bytes)
        finally:
            await _close(response)


async def _open(
    transport: PassedTransport, sent: HttpxRequest, token: Secret, timeout_s: float
) -> OpenResponse | HttpResponse:
    """Return the open stream, or the whole response that refuses it."""
    async with asyncio.timeout(timeout_s):
        response = await transport.handle_async_request(sent)
        if is_success(response.status_code):
            return response
        try:
            return await _read(response, token, ERROR.size)
        finally:
            await _close(response)


async def _read(response: OpenResponse, token: Secret, max_bytes: int) -> HttpResponse:
    status = response.status_code
    headers = read_headers(header_texts(response.headers.raw), token)
    encoding = headers.get("content-encoding", "").lower()
    limit = max_bytes if is_success(status) else ERROR.size
    body = token.redact_body(await read_body(body_of(response), encoding, limit))
    return HttpResponse(status, headers, body, connection_of(response))


async def _pieces(response: OpenResponse, token: Secret) -> AsyncGenerator[bytes]:
    failure: BaseException
    try:
        async for piece in body_of(response):
            yield piece
    except CAUGHT as error:
        failure = client_error(error, token)
    except BaseException as error:  # noqa: BLE001 - re-raised without traceback
        failure = strip_traceback(error)
    else:
        return
    raise failure


async def _close(response: OpenResponse) -> None:
    await body_of(response).aclose()


async def _guarded(work: Awaitable[T], token: Secret) -> T:
    """Return the result of `work`; raise its errors without anything of the connection in them."""
    failure: BaseException
    try:
        return await work
    except CAUGHT as error:
        failure = client_error(error, token)
    except BaseException as error:  # noqa: BLE001 - re-raised without traceback
        failure = strip_traceback(error)
    raise failure
