"""The outermost ASGI application: request ids, authentication, rate limit, and the error response of every exception."""

import asyncio
import contextlib
import hashlib
import itertools
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.http.errors import HttpError, too_many_requests, unauthorized
from keydesk_practice.http.faults import ConnectionDropped, Faults
from keydesk_practice.http.responses import Response, ResponseFormat, render

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
TOKEN_FACT = "token "  # noqa: S105 - followed by an owner number: the ledger's fact with the digest of a token
log = logging.getLogger("keydesk.practice")


@dataclass(slots=True)
class RateLimiter:
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
        self.id_offset = 0  # of one among several workers, so that their request ids never meet
        self.restart_request_ids(time.time_ns())  # ascends over restarts

    def restart_request_ids(self, market_time: int) -> None:
        """Count request ids from a market's time on: the writes of a replay get the same ids each time.

        Reads are counted apart, so that they do not matter for what a write leaves in the ledger.
        """
        self.count_request_ids(self.id_offset + market_time // 1_000 * 10)

    def count_request_ids(self, first: int) -> None:
        """Count request ids from a number on."""
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
        except LedgerWriteFailed as error:
            log.critical("%s", error)
            stopping = HttpError(503, f"The practice broker is stopping: {error}")
            await self._send_error(stopping, scope, receive, sender)
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
