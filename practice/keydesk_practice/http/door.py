"""The door of the HTTP face: every request passes here first and every answer last.

It gives the request its id, checks the token, turns refusals into answers, and is the last resort for a fault of ours,
which is logged and answered, never dropped.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.turns import Turns
from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.http.access import Doorkeeper
from keydesk_practice.http.answers import Answer, Wishes, response_of
from keydesk_practice.http.refusals import Refused

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
log = logging.getLogger("keydesk.practice")


class Door:
    """The ASGI application that uvicorn runs, around the router."""

    def __init__(self, inside: Application, keeper: Doorkeeper, turns: Turns) -> None:
        self._inside = inside
        self._keeper = keeper
        self._turns = turns
        self._request_ids = itertools.count(time.time_ns() // 1_000 * 10)  # ascends over restarts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request_id = str(next(self._request_ids))
        reply = _Reply(send, request_id)
        headers = Headers(scope=scope)
        state = scope["state"] = {"request_id": request_id, "wishes": wishes_of(headers)}
        scope["path"] = scope["raw_path"].decode(
            "latin-1"
        )  # decoded after routing: ids may hold a slash
        try:
            now = asyncio.get_running_loop().time()
            state["owner"] = self._keeper.owner(headers.get("authorization", ""), now)
            await self._inside(scope, receive, reply)
        except Refused as refusal:
            await self._refuse(refusal, scope, receive, reply)
        except ClientDisconnect:
            return
        except LedgerWriteFailed as error:
            log.critical("%s", error)
            await self._refuse(_stopping(error), scope, receive, reply)
        except Exception:
            log.exception("request %s %s failed", scope["method"], scope["path"])
            if not reply.begun:
                fault = Refused(
                    500, "The practice broker failed on this request", "INTERNAL_SERVER_ERROR"
                )
                await self._refuse(fault, scope, receive, reply)

    async def _refuse(
        self, refusal: Refused, scope: Scope, receive: Receive, reply: "_Reply"
    ) -> None:
        answer = Answer(refusal.body(), refusal.status, refusal.headers)
        response = await response_of(answer, scope["state"]["wishes"], self._turns)
        await response(scope, receive, reply)


def wishes_of(headers: Headers) -> Wishes:
    """Return how a client wants its answers."""
    encodings = headers.get("accept-encoding", "").lower()
    return Wishes(
        unix_times=headers.get("accept-datetime-format", "").strip().upper() == "UNIX",
        zipped="gzip" in encodings and "gzip;q=0" not in encodings.replace(" ", ""),
    )


def _stopping(error: LedgerWriteFailed) -> Refused:
    return Refused(503, f"The practice broker is stopping: {error}")


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
