"""The door of the HTTP face: every request passes here first and every answer last.

It gives the request its id, checks the token, turns refusals into answers, and is the last resort for a fault of ours,
which is logged and answered, never dropped.

Who may come in: tokens, the accounts they open, and how often each may ask.
"""

import asyncio
import hashlib
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.http.errors import HttpError, forbidden, too_many_requests, unauthorized
from keydesk_practice.http.responses import Response, ResponseFormat, render


@dataclass(slots=True)
class RateLimiter:
    """A bucket that refills with `rate` requests a second and never holds more than one second's worth."""

    rate: int
    left: float
    filled_at: float = 0.0

    def take(self, now: float) -> None:
        """Count one request; refuses it when the bucket is empty."""
        self.left = min(float(self.rate), self.left + (now - self.filled_at) * self.rate)
        self.filled_at = now
        if self.left < 1.0:
            raise too_many_requests(seconds=1)
        self.left -= 1.0


class Authenticator:
    """Knows the tokens by their digests only, and the owner behind each."""

    def __init__(self, tokens: Iterable[str], rate_limit: int) -> None:
        self._owners = {_digest(token): owner for owner, token in enumerate(tokens)}
        self._rate = rate_limit
        self._allowances: dict[int, RateLimiter] = {}

    def owner(self, authorization: str, now: float) -> int:
        """Return whose token an `Authorization` header carries, and count the request.

        Raises:
            Refused: 401 for a missing or unknown token, 429 above the rate limit.
        """
        scheme, _, token = authorization.partition(" ")
        owner = self._owners.get(_digest(token.strip()))
        if scheme.lower() != "bearer" or owner is None:
            raise unauthorized()
        allowance = self._allowances.setdefault(
            owner, RateLimiter(self._rate, float(self._rate), now)
        )
        allowance.take(now)
        return owner


def check_owner(of_token: int, of_account: int) -> None:
    """Refuse a token on somebody else's account."""
    if of_token != of_account:
        raise forbidden()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


Application = Callable[[Scope, Receive, Send], Awaitable[None]]
log = logging.getLogger("keydesk.practice")


class Door:
    """The ASGI application that uvicorn runs, around the router."""

    def __init__(self, inside: Application, keeper: Authenticator, budget: WorkBudget) -> None:
        self._inside = inside
        self._keeper = keeper
        self._turns = budget
        self._request_ids = itertools.count(time.time_ns() // 1_000 * 10)  # ascends over restarts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request_id = str(next(self._request_ids))
        reply = _Reply(send, request_id)
        headers = Headers(scope=scope)
        state = scope["state"] = {"request_id": request_id, "wishes": response_format_of(headers)}
        scope["path"] = scope["raw_path"].decode(
            "latin-1"
        )  # decoded after routing: ids may hold a slash
        try:
            now = asyncio.get_running_loop().time()
            state["owner"] = self._keeper.owner(headers.get("authorization", ""), now)
            await self._inside(scope, receive, reply)
        except HttpError as refusal:
            await self._refuse(refusal, scope, receive, reply)
        except ClientDisconnect:
            return
        except LedgerWriteFailed as error:
            log.critical("%s", error)
            await self._refuse(_stopping(error), scope, receive, reply)
        except Exception:
            log.exception("request %s %s failed", scope["method"], scope["path"])
            if not reply.begun:
                fault = HttpError(
                    500, "The practice broker failed on this request", "INTERNAL_SERVER_ERROR"
                )
                await self._refuse(fault, scope, receive, reply)

    async def _refuse(
        self, refusal: HttpError, scope: Scope, receive: Receive, reply: "_Reply"
    ) -> None:
        answer = Response(refusal.body(), refusal.status, refusal.headers)
        response = await render(answer, scope["state"]["wishes"], self._turns)
        await response(scope, receive, reply)


def response_format_of(headers: Headers) -> ResponseFormat:
    """Return how a client wants its answers."""
    encodings = headers.get("accept-encoding", "").lower()
    return ResponseFormat(
        unix_times=headers.get("accept-datetime-format", "").strip().upper() == "UNIX",
        zipped="gzip" in encodings and "gzip;q=0" not in encodings.replace(" ", ""),
    )


def _stopping(error: LedgerWriteFailed) -> HttpError:
    return HttpError(503, f"The practice broker is stopping: {error}")


class _Reply:
    """The way back, with the `RequestID` on it."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers: list[Any] = list(message.get("headers", ()))
            message = {**message, "headers": [*headers, (b"RequestID", self._request_id)]}
        await self._send(message)
