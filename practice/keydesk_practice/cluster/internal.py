"""The internal interface of a node: requests that other nodes forward, authenticated by the secret of the cluster."""

import hmac
import logging
from collections.abc import Mapping
from typing import Protocol

from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.cluster.forwarding import (
    NOT_EXECUTED,
    NOT_STORED,
    OUTCOME,
    OWNER,
    REQUEST,
    SECRET,
    UNKNOWN,
    account_of,
    read_body,
)
from keydesk_practice.errors import NotExecuted, NotStored, OutcomeUnknown
from keydesk_practice.http.errors import HttpError, unauthorized
from keydesk_practice.http.faults import Faults
from keydesk_practice.http.middleware import Application, response_format_of
from keydesk_practice.http.responses import Response, render

log = logging.getLogger("keydesk.practice.cluster")


class Executor(Protocol):
    """Answers requests for accounts of this process."""

    async def execute(
        self, account: str, scope: Scope, body: bytes, send: Send, then: Receive | None = None
    ) -> None:
        """Answer one; raise `NotExecuted` for an account that is not here."""


class InternalApplication:
    """Answers the requests of other nodes for accounts of this one; never forwards."""

    def __init__(
        self,
        budget: WorkBudget,
        router: Executor,
        control: Application,
        secret: bytes,
        faults: Faults,
        *,
        trusts_proxy: bool,
    ) -> None:
        self._budget = budget
        self._router = router
        self._control = control
        self._secret = secret
        self._faults = faults
        self._trusts_proxy = trusts_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request of another node."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        scope["state"] = {
            "request_id": headers.get(REQUEST, b"").decode("latin-1"),
            "response_format": response_format_of(headers),
            "trusts_proxy": self._trusts_proxy,
            "faults": self._faults,
        }
        scope["path"] = scope["raw_path"].decode("latin-1")
        sender = _Sender(send)
        try:
            self._check_secret(headers)
            await self._answer(scope, headers, receive, sender)
        except HttpError as error:
            await self._send_error(error, scope, receive, sender)
        except NotExecuted as error:
            outcome = NOT_STORED if isinstance(error, NotStored) else NOT_EXECUTED
            await self._send_outcome(outcome, error, scope, receive, sender)
        except OutcomeUnknown as error:
            await self._send_outcome(UNKNOWN, error, scope, receive, sender)
        except Exception:
            log.exception("forwarded request %s %s failed", scope["method"], scope["path"])
            if not sender.started:
                fault = HttpError(500, "The practice broker failed on this request")
                await self._send_error(fault, scope, receive, sender)

    def _check_secret(self, headers: Mapping[bytes, bytes]) -> None:
        if not hmac.compare_digest(headers.get(SECRET, b""), self._secret):
            raise unauthorized()

    async def _answer(
        self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        account = account_of(scope["path"])
        if account is None:
            await self._control(scope, receive, send)
            return
        scope["state"]["owner"] = int(headers.get(OWNER, b"-1"))
        await self._router.execute(account, scope, await read_body(receive), send, receive)

    async def _send_outcome(
        self, outcome: bytes, reason: Exception, scope: Scope, receive: Receive, send: "_Sender"
    ) -> None:
        words = {OUTCOME.decode(): outcome.decode()}
        await self._send_error(HttpError(503, str(reason), headers=words), scope, receive, send)

    async def _send_error(
        self, error: HttpError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        response = Response(error.body(), error.status, error.headers)
        rendered = await render(response, scope["state"]["response_format"], self._budget)
        await rendered(scope, receive, send)


class _Sender:
    """An ASGI `send` that notes that the response has started."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        self.started = True
        await self._send(message)
