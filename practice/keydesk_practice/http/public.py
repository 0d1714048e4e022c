"""Requests without a token: health, the OpenAPI document, and preflight requests of named origins; and the request log."""

import logging
import time
from collections.abc import Awaitable, Callable, Collection
from importlib.resources import files
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.broker import Broker
from keydesk_practice.engine.wire_form import rfc3339
from keydesk_practice.http.middleware import Application
from keydesk_practice.http.responses import json_bytes

HEALTH, DOCUMENT = "/health", "/openapi.json"
DOCUMENT_FILE = "v20_openapi.json"
_METHODS = b"GET, POST, PUT, PATCH"
_REQUEST_HEADERS = b"Authorization, Content-Type, Accept-Datetime-Format, ClientRequestID"
_RESPONSE_HEADERS = b"RequestID, Location, Link, Retry-After"
_DAY = b"86400"
log = logging.getLogger("keydesk.practice.requests")
Headers = list[tuple[bytes, bytes]]
Health = tuple[int, dict[str, Any]]  # status and body


def v20_document() -> bytes:
    """Return the OpenAPI document of the v20 interface as JSON."""
    return (files("keydesk_practice.http") / DOCUMENT_FILE).read_bytes()


class PublicPaths:
    """Answers what needs no token; every other request goes on to the v20 interface."""

    def __init__(
        self,
        broker: Broker,
        interface: Application,
        *,
        origins: Collection[str] = (),
        logs_requests: bool = False,
        health: Callable[[], Awaitable[Health]] | None = None,
    ) -> None:
        self._broker = broker
        self._others_health = health
        self._interface = interface
        self._origins = frozenset(origin.encode() for origin in origins)
        self._logs_requests = logs_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] != "http":
            return
        if self._logs_requests:
            send = _logged(scope, send)
        origin = self._allowed_origin(scope) if self._origins else None
        if origin is not None:
            send = _with_headers(send, _cors_headers(origin))
        path, method = scope["path"], scope["method"]
        if origin is not None and method == "OPTIONS":
            await _send(send, 204, b"", _preflight_headers())
        elif path == HEALTH and method == "GET":
            status, body = await self._health()
            await _send(send, status, json_bytes(body))
        elif path == DOCUMENT and method == "GET":
            await _send(send, 200, v20_document())
        else:
            await self._interface(scope, receive, send)

    async def _health(self) -> Health:
        if self._others_health is not None:
            return await self._others_health()
        failure = self._broker.commits.failure
        members = {"status": "ok", "time": rfc3339(self._broker.now())}
        if failure is None:
            return 200, members
        return 503, {**members, "status": "failed", "reason": str(failure)}

    def _allowed_origin(self, scope: Scope) -> bytes | None:
        origin: bytes | None = dict(scope["headers"]).get(b"origin")
        if origin in self._origins or (origin and b"*" in self._origins):
            return origin
        return None


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
            log.info("%s %s %d %.1f ms id %s", scope["method"], path, status, took, request_id)

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
