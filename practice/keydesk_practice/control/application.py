"""The control interface as an ASGI application: own path, own token, by default reachable from this machine only."""

import hmac
import ipaddress
import logging
from contextlib import nullcontext
from typing import Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from keydesk_practice.control.context import Control
from keydesk_practice.control.operations import BASE, OPERATIONS, Operation, control_document
from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import to_wire
from keydesk_practice.errors import LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.http.error_responses import (
    HttpError,
    method_not_allowed,
    not_stored,
    unauthorized,
    unknown_path,
)
from keydesk_practice.http.requests import header_of, read_json_object
from keydesk_practice.http.responses import json_bytes

DOCUMENT = f"{BASE}/openapi.json"
_FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
log = logging.getLogger("keydesk.practice.control")
Match = tuple[Operation, dict[str, str]]


class ControlApplication:
    """Answers the requests whose paths begin with `BASE`."""

    def __init__(
        self,
        control: Control,
        token: str,
        *,
        anywhere: bool = False,
    ) -> None:
        self._control = control
        self._token = token.encode()
        self._anywhere = anywhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        try:
            status, body = 200, await self._answer(scope, receive)
            headers: dict[str, str] = {}
        except HttpError as error:
            status, body, headers = error.status, error.body(), error.headers
        except (LedgerUnreachable, LedgerWriteFailed) as error:
            refusal = not_stored(error)
            status, body, headers = refusal.status, refusal.body(), refusal.headers
        except ClientDisconnect:
            return
        except Exception:
            log.exception("control request %s %s failed", scope["method"], scope["path"])
            message = "The practice broker failed on this request; its log says why"
            status, body, headers = 500, {"errorMessage": message}, {}
        await _send(send, status, body, headers)

    async def _answer(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        self._refuse_remote_clients(scope)
        if scope["path"] == DOCUMENT:
            return control_document()
        scheme, _, token = (header_of(scope, b"authorization") or b"").partition(b" ")
        known = hmac.compare_digest(token.strip(), self._token)
        if scheme.lower() != b"bearer" or not known:
            raise unauthorized()
        return await self._answer_operation(scope, receive)

    def _refuse_remote_clients(self, scope: Scope) -> None:
        """Raise a 403 `HttpError` for a client of another machine, also behind a proxy on this one."""
        if self._anywhere:
            return
        client = scope.get("client")
        host = client[0] if client and client[0] else None  # None: a unix socket
        forwarded = any(name in _FORWARDED for name, _ in scope["headers"])
        if forwarded or (host is not None and not is_loopback(host)):
            raise HttpError(
                403,
                "The control interface answers this machine only: "
                "start the broker with --control-anywhere to open it to others",
            )

    async def _answer_operation(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        """Return the answer to an authorized request; one that changes the market holds the lock `changing`."""
        operation, parameters = _matching(scope["method"], scope["path"])
        members = await read_json_object(scope, receive, optional=True)
        record: object = read_record(operation.request, members)
        async with self._control.changing if operation.is_exclusive else nullcontext():
            answer = await operation.handler(self._control, record, **parameters)
        if operation.method != "GET":
            log.info("%s %s", operation.name, operation.path.format(**parameters))
        return to_wire(answer)


def is_loopback(host: str) -> bool:
    """Return whether an address is one of this machine."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _matching(method: str, path: str) -> Match:
    """Return the operation of a request and its path parameters; raise a 404 or 405 `HttpError`."""
    parts = path.removeprefix(BASE).split("/")
    matching = [
        (one, parameters)
        for one in OPERATIONS
        if (parameters := _parameters(one.path.split("/"), parts)) is not None
    ]
    for operation, parameters in matching:
        if operation.method == method:
            return operation, parameters
    if matching:
        raise method_not_allowed(", ".join(sorted(one.method for one, _ in matching)))
    raise unknown_path()


def _parameters(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    parameters = {}
    for expected, part in zip(pattern, parts, strict=True):
        if expected.startswith("{"):
            parameters[expected[1:-1]] = unquote(part)
        elif expected != part:
            return None
    return parameters


async def _send(send: Send, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
    text = json_bytes(body)
    fields = {"content-type": "application/json", "content-length": str(len(text)), **headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": text})
