"""The only door to the HTTP library: a request goes out, an answer or an error of ours comes back.

- httpx's transport is used without its client around it: no redirects, no cookies, no proxies, no settings from
  the environment, no request sent twice, and less work for each call.
- Errors are raised outside the `except` that caught them, and what is not an error of ours, a cancellation above all,
  without its frames: in those of the HTTP library the token's header lies open.
- What comes back is looked through for the token: a service, or something in between, may send back what it got.
- Bytes behind an answer end its connection: the next request would take them for its own answer.
- What tells of lost answers has connections of its own: those of the others may all be waiting for answers.
- Few connections: httpx's pool slows down with the square of the requests that wait in it. And no more than two new
  ones a second, streams included: the service refuses others. This machine does not, and is not held up.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import httpx

from keydesk_client.auth.secret import LogVeil, Secret, without_frames
from keydesk_client.errors import (
    ClientClosed,
    ConnectionLost,
    InvalidRequest,
    InvalidSettings,
    KeydeskClientError,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.connections import Lines, share_pace, tcp_keepalive
from keydesk_client.http.endpoint import Address, address_of
from keydesk_client.http.error_mapping import error_of
from keydesk_client.http.messages import (
    REST,
    REST_HERE,
    STANDARD_TIMEOUTS,
    STREAM,
    Answer,
    Headers,
    Request,
    Timeouts,
    headers_of,
    is_compressed,
    read_answer,
    read_headers,
    without_token,
)
from keydesk_client.http.pacing import CALLS_AT_ONCE, LOOK_UPS_AT_ONCE, MORE_FOR_EXITS, ConnectPace
from keydesk_client.models._core.json import ERROR, LIST

Carrier: TypeAlias = httpx.AsyncBaseTransport
"""What carries requests: tests hand in a MockTransport or one that reaches an app in this process."""

REST_CONNECTIONS = CALLS_AT_ONCE + MORE_FOR_EXITS
LOOK_UP_CONNECTIONS = LOOK_UPS_AT_ONCE
STREAM_CONNECTIONS = 20
IDLE_CONNECTION_S = 30.0
UNUSED_S = IDLE_CONNECTION_S - 5.0
"""After that, a connection is taken for closed, which it soon is."""
NO_EXTENSIONS: Mapping[str, object] = MappingProxyType({})
LONGEST_REASON = 300

CAUGHT = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError, UnicodeError)

TIMEOUTS: tuple[tuple[type[Exception], str, bool], ...] = (
    (httpx.ConnectTimeout, "connect", False),
    (httpx.PoolTimeout, "pool", False),
    (httpx.WriteTimeout, "write", True),
    (httpx.ReadTimeout, "read", True),
    (TimeoutError, "whole", True),
)
"""The exception, its phase, and whether the request may have been sent by then."""

NEVER_MADE = (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError)
"""What the HTTP library says of a request that can not be put into bytes."""
NEVER_CONNECTED = (httpx.ConnectError, httpx.UnsupportedProtocol)

T = TypeVar("T")


class Transport:
    """Carries requests to the REST host and opens streams of the stream host."""

    def __init__(
        self,
        token: Secret,
        rest_url: str,
        stream_url: str,
        *,
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        carrier: Carrier | None = None,
        is_paced: bool | None = None,
    ) -> None:
        token.check()
        self.rest: Address = _usable(address_of(rest_url, "rest_url"))
        self.stream: Address = _usable(address_of(stream_url, "stream_url"))
        self.timeouts: Timeouts = timeouts
        self._token = token
        LOG_VEIL.add(token)
        HTTP_LOG.addFilter(LOG_VEIL)  # once, however often
        self._rest_carrier = carrier or _carrier_to(self.rest, REST_CONNECTIONS)
        self._own_look_up_carrier = carrier
        self._stream_carrier = carrier or _carrier_to(self.stream, STREAM_CONNECTIONS)
        self.pace: ConnectPace = ConnectPace()
        """How often a connection may be made; streams take their turns before they are opened."""
        if is_paced is None:
            is_paced = carrier is None and not self.rest.is_here
        self._lines: Lines | None = None
        self._look_up_lines: Lines | None = None
        if is_paced:
            self._lines = Lines(self.pace, REST_CONNECTIONS, UNUSED_S)
            self._look_up_lines = Lines(self.pace, LOOK_UP_CONNECTIONS, UNUSED_S)
            share_pace(first=self._look_up_lines, second=self._lines)
        self._closed = False

    async def request(self, request: Request, most: int = LIST.size) -> Answer:
        """The answer, whatever its status; raises when there is none, and never sends twice.

        `most` is the size in bytes of the largest body, decompressed.
        """
        lines = self._look_up_lines if request.look_up else self._lines
        if lines is None:
            return await self._sent(request, most)
        return await self._sent_by(lines, request, most)

    async def _sent_by(self, lines: Lines, request: Request, most: int) -> Answer:
        async with AsyncExitStack() as held:
            waiting = _within(
                self.timeouts.pool, held.enter_async_context(lines.line(request.urgent))
            )
            if not await waiting:
                raise TimedOut("the pool phase took too long", phase="pool", sent=False)
            return await self._sent(request, most, {"trace": lines.trace()})

    async def _sent(
        self, request: Request, most: int, extensions: Mapping[str, object] = NO_EXTENSIONS
    ) -> Answer:
        accepted = REST_HERE if self.rest.is_here else REST
        outgoing = self._outgoing(request, self.rest, accepted, self.timeouts.read)
        outgoing.extensions.update(extensions)
        carrier = self._look_up_carrier() if request.look_up else self._rest_carrier
        exchanged = _exchanged(carrier, outgoing, self._token, self.timeouts.whole, most)
        return await _named(exchanged, self._token)

    @asynccontextmanager
    async def open_stream(
        self, request: Request, *, silence: float | None = None, veiled: bool = True
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The bytes of a stream as they come; leaving the block closes the connection.

        An error status is raised as Answered. `silence` is how long not a byte may come before TimedOut;
        with none, the reader keeps watch by itself. `veiled` takes the token out, should the service echo it.
        """
        outgoing = self._outgoing(request, self.stream, STREAM, silence)
        opened = _opened(self._stream_carrier, outgoing, self._token, self.timeouts.opening)
        found = await _named(opened, self._token)
        if isinstance(found, Answer):
            raise error_of(found, request.query)
        if is_compressed(found.headers.get("content-encoding", "identity")):
            await _named(_close(found), self._token)
            raise UnreadableAnswer("the stream is compressed, which was not asked for")
        try:
            pieces = _pieces(found, self._token)
            yield without_token(pieces, self._token) if veiled else pieces
        finally:
            await _named(_close(found), self._token)

    async def close(self) -> None:
        """Close every connection; what is under way ends as ConnectionLost."""
        self._closed = True
        await _named(self._rest_carrier.aclose(), self._token)
        await _named(self._stream_carrier.aclose(), self._token)
        if self._own_look_up_carrier is not None:
            await _named(self._own_look_up_carrier.aclose(), self._token)

    def _look_up_carrier(self) -> Carrier:
        """The connections of look-ups, made when the first answer was lost."""
        if self._own_look_up_carrier is None:
            self._own_look_up_carrier = _carrier_to(self.rest, LOOK_UP_CONNECTIONS)
        return self._own_look_up_carrier

    def _outgoing(
        self, request: Request, address: Address, accepted: Headers, read: float | None
    ) -> httpx.Request:
        if self._closed:
            raise ClientClosed("the client is closed")
        try:
            return httpx.Request(
                request.method,
                address.base + request.target,
                headers=headers_of(request, self._token, accepted),
                content=request.body,
                extensions={"timeout": self.timeouts.phases(read)},
            )
        except NEVER_MADE as error:
            reason = str(error)
        raise InvalidRequest(f"the request can not be sent: {reason[:LONGEST_REASON]}")


LOG_VEIL = LogVeil()
HTTP_LOG = logging.getLogger("httpcore.http11")  # at DEBUG it tells all that a service sent


def _usable(address: Address) -> Address:
    try:
        httpx.URL(address.base)
    except NEVER_MADE as error:
        reason = str(error)
    else:
        return address
    raise InvalidSettings(f"{address.base[:LONGEST_REASON]!r} is not an address: {reason}")


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


async def _exchanged(
    carrier: Carrier, outgoing: httpx.Request, token: Secret, whole: float, most: int
) -> Answer:
    async with asyncio.timeout(whole):
        response = await carrier.handle_async_request(outgoing)
        try:
            return await _read(response, token, most)
        finally:
            await _close(response)


async def _opened(
    carrier: Carrier, outgoing: httpx.Request, token: Secret, opening: float
) -> httpx.Response | Answer:
    """The open stream, or the answer that refuses it."""
    async with asyncio.timeout(opening):
        response = await carrier.handle_async_request(outgoing)
        if response.is_success:
            return response
        try:
            return await _read(response, token, ERROR.size)
        finally:
            await _close(response)


async def _read(response: httpx.Response, token: Secret, most: int) -> Answer:
    headers = read_headers(response.headers.items(), token)
    answer = await read_answer(response.status_code, headers, _body_of(response), token, most)
    if _more_followed(response):
        await _hang_up(response)
    return answer


def _more_followed(response: httpx.Response) -> bool:
    """Whether bytes came behind the answer. Only the parser deep inside knows; where it is not found, none did."""
    found: object = response.stream
    for inner in ("_httpcore_stream", "_stream", "_connection", "_h11_state"):
        found = getattr(found, inner, None)
    behind: tuple[bytes, bool] = getattr(found, "trailing_data", (b"", False))
    return behind[0] != b""


async def _hang_up(response: httpx.Response) -> None:
    """Close the connection under a response: the pool then finds it dead, and does not use it again."""
    connection = response.extensions.get("network_stream")
    if connection is not None:
        with suppress(*CAUGHT):
            await connection.aclose()


async def _pieces(response: httpx.Response, token: Secret) -> AsyncGenerator[bytes]:
    failure: BaseException
    try:
        async for piece in _body_of(response):
            yield piece
    except CAUGHT as error:
        failure = _failure(error, token)
    except BaseException as error:  # noqa: BLE001 - it goes on, without its frames
        failure = without_frames(error)
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


async def _within(seconds: float, work: Awaitable[object]) -> bool:
    """Whether it was done in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work
            return True
    return False


async def _named(work: Awaitable[T], token: Secret) -> T:
    """What comes of the work, or an error that shows nothing of what lies beneath this door."""
    failure: BaseException
    try:
        return await work
    except CAUGHT as error:
        failure = _failure(error, token)
    except BaseException as error:  # noqa: BLE001 - it goes on, without its frames
        failure = without_frames(error)
    raise failure


def _failure(error: Exception, token: Secret) -> KeydeskClientError:
    kind = type(error).__name__
    said = token.veiled(f"{kind}: {error}" if str(error) else kind)[:LONGEST_REASON]
    for kinds, phase, sent in TIMEOUTS:
        if isinstance(error, kinds):
            return TimedOut(f"the {phase} phase took too long", phase=phase, sent=sent)
    if isinstance(error, NEVER_CONNECTED):
        return Unreachable(f"no connection: {said}")
    if isinstance(error, NEVER_MADE):
        return InvalidRequest(f"the request can not be sent: {said}")
    return ConnectionLost(f"the connection broke: {said}")
