"""What every request passes before its endpoint.

First `PublicPaths`: the request log, pages of named origins (CORS), health and the OpenAPI document, which need no token, and
applications mounted beside the interface. Then `RequestMiddleware`: request id, authentication, rate limit, and the error
response of every exception.
"""

import asyncio
import contextlib
import hashlib
import itertools
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from importlib.resources import files
from typing import Any

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.broker import Broker
from keydesk_practice.engine.wire_form import rfc3339
from keydesk_practice.errors import LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.http.error_responses import (
    HttpError,
    not_stored,
    too_many_requests,
    unauthorized,
)
from keydesk_practice.http.faults import ConnectionDropped, Faults
from keydesk_practice.http.responses import Response, ResponseFormat, json_bytes, render

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Health = tuple[int, dict[str, Any]]  # status and body
HEALTH, DOCUMENT = "/health", "/openapi.json"
DOCUMENT_FILE = "v20_openapi.json"
_METHODS = b"GET, POST, PUT, PATCH"
_REQUEST_HEADERS = b"Authorization, Content-Type, Accept-Datetime-Format, ClientRequestID"
_RESPONSE_HEADERS = b"RequestID, Location, Link, Retry-After"
_DAY = b"86400"
TOKEN_FACT = "token "  # noqa: S105 - followed by an owner number: the ledger's fact with the digest of a token
log = logging.getLogger("keydesk.practice")
request_log = logging.getLogger("keydesk.practice.requests")


def v20_document() -> bytes:
    """Return the OpenAPI document of the v20 interface as JSON."""
    return (files("keydesk_practice.http") / DOCUMENT_FILE).read_bytes()


class PublicPaths:
    """Answers what needs no token; every other request goes on to the v20 interface.

    `mount` is an application with tokens of its own, such as the control interface, and what its paths begin with.
    """

    def __init__(
        self,
        broker: Broker,
        interface: Application,
        *,
        mount: tuple[str, Application] | None = None,
        origins: Collection[str] = (),
        logs_requests: bool = False,
    ) -> None:
        self._broker = broker
        self._interface = interface
        self._mount = mount
        self._origins = frozenset(origin.encode() for origin in origins)
        self._logs_requests = logs_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] != "http":
            return
        path, method = scope["path"], scope["method"]
        if self._mount is not None:
            beginning, mounted = self._mount
            if path.startswith(beginning):
                await mounted(scope, receive, send)
                return
        if self._logs_requests:
            send = _logged(scope, send)
        origin = self._allowed_origin(scope) if self._origins else None
        if origin is not None:
            send = _with_headers(send, _cors_headers(origin))
        if origin is not None and method == "OPTIONS":
            await _send(send, 204, b"", _preflight_headers())
        elif path == HEALTH and method == "GET":
            status, body = self._health()
            await _send(send, status, json_bytes(body))
        elif path == DOCUMENT and method == "GET":
            await _send(send, 200, v20_document())
        else:
            await self._interface(scope, receive, send)

    def _health(self) -> Health:
        failure = self._broker.commits.failure
        refusal = self._broker.commits.refusal
        members = {"status": "ok", "time": rfc3339(self._broker.now())}
        if failure is None and refusal is not None:
            return 200, {**members, "status": "full", "reason": str(refusal)}
        if failure is None:
            return 200, members
        return 503, {**members, "status": "failed", "reason": str(failure)}

    def _allowed_origin(self, scope: Scope) -> bytes | None:
        origin: bytes | None = dict(scope["headers"]).get(b"origin")
        if origin in self._origins or (origin and b"*" in self._origins):
            return origin
        return None


class RateLimiter(Struct):
    """A token bucket: refilled at `rate` requests a second, up to one second's worth."""

    rate: int
    available: float
    filled_at: float = 0.0

    def acquire(self, now: float) -> None:
        """Count one request; raise the 429 `HttpError` when the bucket is empty."""
        refilled = self.available + (now - self.filled_at) * self.rate
        self.available = min(float(self.rate), refilled)
        self.filled_at = now
        if self.available < 1.0:
            raise too_many_requests(seconds=1)
        self.available -= 1.0


class Authenticator:
    """Maps tokens, kept only as SHA-256 digests, to owner numbers, each with its rate limiter."""

    def __init__(self, tokens: Iterable[str], rate_limit: int) -> None:
        self._owners = {digest_of(token.encode()): owner for owner, token in enumerate(tokens)}
        self._rate = rate_limit
        self._limiters: dict[int, RateLimiter] = {}

    def authenticate(self, authorization: bytes, now: float) -> int:
        """Return the owner number of an `Authorization` header's token, and count the request.

        Raises:
            HttpError: 401 for a missing or unknown token, 429 above the rate limit.
        """
        scheme, _, token = authorization.partition(b" ")
        owner = self._owners.get(digest_of(token.strip()))
        if scheme.lower() != b"bearer" or owner is None:
            raise unauthorized()
        limiter = self._limiters.get(owner)
        if limiter is None:
            limiter = self._limiters[owner] = RateLimiter(self._rate, float(self._rate), now)
        limiter.acquire(now)
        return owner

    def add(self, digest: bytes, owner: int) -> bool:
        """Add a token; return False when it is known already."""
        return self._owners.setdefault(digest, owner) == owner

    def knows(self, digest: bytes) -> bool:
        """Return whether a token is let in."""
        return digest in self._owners

    def owners(self) -> frozenset[int]:
        """Return the owner numbers of all tokens."""
        return frozenset(self._owners.values())


class RequestMiddleware:
    """The ASGI application that uvicorn runs; it calls the router."""

    def __init__(
        self,
        router: Application,
        authenticator: Authenticator,
        budget: WorkBudget,
        *,
        trusts_proxy: bool = False,
    ) -> None:
        self._router = router
        self.authenticator = authenticator
        self._budget = budget
        self._trusts_proxy = trusts_proxy
        self.faults = Faults()
        self.restart_request_ids(time.time_ns())  # ascends over restarts

    def restart_request_ids(self, market_time: int) -> None:
        """Count request ids from a market's time on: the writes of a replay get the same ids each time.

        Reads are counted apart, so that they do not matter for what a write leaves in the ledger.
        """
        first = market_time // 1_000 * 10
        self._write_ids, self._read_ids = itertools.count(first, 2), itertools.count(first + 1, 2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] != "http":
            return
        reads = scope["method"] == "GET"
        request_id = str(next(self._read_ids if reads else self._write_ids))
        if self.faults.active or scope["path"].endswith(
            "/stream"
        ):  # a profile may come while it is open
            send = self.faults.sender(scope, receive, send)
        sender = _ResponseSender(send, request_id)
        headers = dict(reversed(scope["headers"]))  # of a repeated header the first counts
        response_format = response_format_of(headers)
        state = scope["state"] = {
            "request_id": request_id,
            "response_format": response_format,
            "trusts_proxy": self._trusts_proxy,
            "faults": self.faults,
        }
        # Parameters are decoded after routing: a client id may hold an encoded slash.
        scope["path"] = scope["raw_path"].decode("latin-1")
        try:
            now = asyncio.get_running_loop().time()
            authorization = headers.get(b"authorization", b"")
            state["owner"] = self.authenticator.authenticate(authorization, now)
            if self.faults.active:
                await self.faults.before(scope, receive)
            await self._router(scope, receive, sender)
        except HttpError as error:
            await self._send_error(error, scope, receive, sender)
        except (ClientDisconnect, ConnectionDropped):
            return
        except sqlite3.ProgrammingError:  # its ledger was replaced by that of another replay
            gone = HttpError(503, "Another replay has begun: send the request again")
            await self._send_error(gone, scope, receive, sender)
        except (LedgerUnreachable, LedgerWriteFailed) as error:
            await self._send_error(not_stored(error), scope, receive, sender)
        except Exception:
            log.exception("request %s %s failed", scope["method"], scope["path"])
            if not sender.started:
                fault = HttpError(
                    500, "The practice broker failed on this request", "INTERNAL_SERVER_ERROR"
                )
                await self._send_error(fault, scope, receive, sender)

    async def _send_error(
        self, error: HttpError, scope: Scope, receive: Receive, sender: "_ResponseSender"
    ) -> None:
        response = Response(error.body(), error.status, error.headers)
        rendered = await render(response, scope["state"]["response_format"], self._budget)
        with contextlib.suppress(ConnectionDropped):
            await rendered(scope, receive, sender)


def response_format_of(headers: dict[bytes, bytes]) -> ResponseFormat:
    """Return the response format that the request headers ask for."""
    encodings = headers.get(b"accept-encoding", b"").lower()
    return ResponseFormat(
        unix_times=headers.get(b"accept-datetime-format", b"").strip().upper() == b"UNIX",
        gzip=b"gzip" in encodings and b"gzip;q=0" not in encodings.replace(b" ", b""),
    )


def digest_of(token: bytes) -> bytes:
    """Return the digest that a token is known by."""
    return hashlib.sha256(token).digest()


class _ResponseSender:
    """An ASGI `send` that adds the `RequestID` header and notes that the response has started."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers: list[Any] = list(message.get("headers", ()))
            message = {**message, "headers": [*headers, (b"RequestID", self._request_id)]}
        await self._send(message)


def _cors_headers(origin: bytes) -> Headers:
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _RESPONSE_HEADERS),
        (b"vary", b"Origin"),
    ]


def _preflight_headers() -> Headers:
    return [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _REQUEST_HEADERS),
        (b"access-control-max-age", _DAY),
    ]


def _with_headers(send: Send, headers: Headers) -> Send:
    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return send_with


def _logged(scope: Scope, send: Send, clock: Callable[[], float] = time.monotonic) -> Send:
    """Return a `send` that logs method, path, status, time taken and request id; never a header or a query."""
    began, status, request_id = clock(), 0, "-"

    async def send_logged(message: Message) -> None:
        nonlocal status, request_id
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            request_id = headers.get(b"requestid", b"-").decode("ascii", "replace")
        await send(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            path = scope["raw_path"].decode("ascii", "backslashreplace")
            took = (clock() - began) * 1000
            request_log.info(
                "%s %s %d %.1f ms id %s", scope["method"], path, status, took, request_id
            )

    return send_logged


async def _send(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [*fields, *(headers or [])],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body})
