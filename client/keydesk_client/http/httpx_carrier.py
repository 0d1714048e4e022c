"""Carries requests by a transport of httpx, for callers who pass one: a MockTransport, or one that calls an application.

httpx is imported here alone, and only then: with the command line that it brings it takes 5 MB and 0.1 s.
"""

from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

import httpx

from keydesk_client.errors import message_of
from keydesk_client.http.carrier import (
    ConnectionFailed,
    EncodedRequest,
    NotConnected,
    OpenResponse,
    Phase,
    PhaseTimedOut,
    RequestNotEncodable,
    WriteFailed,
)
from keydesk_client.http.messages import header_texts

CAUGHT: Final = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL)
TIMEOUTS: Final[tuple[tuple[type[httpx.TimeoutException], Phase], ...]] = (
    (httpx.ConnectTimeout, "connect"),
    (httpx.PoolTimeout, "pool"),
    (httpx.WriteTimeout, "write"),
    (httpx.ReadTimeout, "read"),
)
NOT_ENCODABLE: Final = (httpx.InvalidURL, httpx.LocalProtocolError)
NOT_CONNECTED: Final = (httpx.ConnectError, httpx.UnsupportedProtocol)


class HttpxCarrier:
    """A transport of httpx."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def send(self, request: EncodedRequest) -> OpenResponse:
        """Send a request once; return the head of its response."""
        try:
            response = await self._transport.handle_async_request(_request_of(request))
        except CAUGHT as error:
            raise _failure_of(error) from error
        return OpenResponse(
            response.status_code, header_texts(response.headers.raw), _Body(response)
        )

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()


class _Body:
    """The body of a response of httpx."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        if not isinstance(response.stream, httpx.AsyncByteStream):
            raise TypeError(
                "the carrier returned a synchronous body: use an asynchronous transport"
            )
        self._stream = response.stream

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        try:
            async for piece in self._stream:
                yield piece
        except CAUGHT as error:
            raise _failure_of(error) from error

    async def aclose(self) -> None:
        """Close the connection, too: bytes behind the response may be left in it."""
        connection = self._response.extensions.get("network_stream")
        if connection is not None:
            with suppress(Exception):
                await connection.aclose()
        with suppress(*CAUGHT):
            await self._response.aclose()


def _request_of(request: EncodedRequest) -> httpx.Request:
    """Return the request as httpx has it, with its whole content in memory."""
    built = httpx.Request(
        request.method,
        request.base + request.target,
        headers=list(request.headers),
        stream=httpx.ByteStream(request.body),
        extensions={"timeout": request.timeouts._asdict()},
    )
    if request.trace is not None:
        built.extensions["trace"] = request.trace
    built.read()
    return built


def _failure_of(error: Exception) -> Exception:
    for kind, phase in TIMEOUTS:
        if isinstance(error, kind):
            return PhaseTimedOut(phase)
    reason = message_of(error)
    if isinstance(error, NOT_CONNECTED):
        return NotConnected(reason)
    if isinstance(error, NOT_ENCODABLE):
        return RequestNotEncodable(reason)
    return WriteFailed(reason) if isinstance(error, httpx.WriteError) else ConnectionFailed(reason)
