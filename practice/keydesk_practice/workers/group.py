"""The workers as a group: the state that they share is sent to each, and operations are sent to one or to all.

A worker that had ended during a change receives it when it joins again.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from keydesk_practice.broker.clock import Clock
from keydesk_practice.cluster.forwarding import SECRET
from keydesk_practice.cluster.peers import PeerRequest, Peers
from keydesk_practice.control.operations import BASE
from keydesk_practice.control.records import NoMembers
from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import to_wire
from keydesk_practice.errors import NotExecuted, OutcomeUnknown
from keydesk_practice.http.errors import HttpError
from keydesk_practice.workers.operations import SHARED_STATE, WORKER_OPERATIONS
from keydesk_practice.workers.pool import Worker
from keydesk_practice.workers.settings import AccountTerms, Report, SharedState

WAIT_SECONDS = 15.0  # for a worker that is being restarted
ANSWER_SECONDS = 600.0  # a jump over months ticks every account
PAUSE_SECONDS = 0.1  # before it is asked again
_RETRIED_STATUSES = frozenset({503, 504})
_FIRST_ERROR = 400
_BY_NAME = {one.name: one for one in WORKER_OPERATIONS}
log = logging.getLogger("keydesk.practice.workers")


@dataclass(slots=True)
class WorkerGroup:
    """The workers, and the state that they share."""

    clock: Clock
    peers: Peers
    secret: bytes
    address_of: Callable[[int], str]
    workers: list[Worker] = field(default_factory=list)
    shared: SharedState = field(default_factory=SharedState)
    accounts: dict[int, tuple[AccountTerms, ...]] = field(default_factory=dict)  # by worker

    async def join(self, worker: Worker) -> None:
        """Send a started worker the state that all workers share, then let it serve."""
        await self._send_shared(worker)
        worker.up.set()
        # What was changed since it was asked, and the accounts that it has now.
        await self.publish()

    def known_accounts(self) -> dict[str, AccountTerms]:
        """Return the accounts of all workers by their ids."""
        return {one.id: one for several in self.accounts.values() for one in several}

    async def read_report(self, worker: Worker) -> Report:
        """Return what a worker found in its ledger at its start."""
        answer = await self._send(worker, "GET", SHARED_STATE, NoMembers())
        return read_record(Report, answer)

    async def publish(self) -> None:
        """Send every worker the state that all share, until none adds an account, as one does for a new token.

        A worker that is being restarted learns it when it joins.
        """
        before = None
        while before != self.shared.accounts:
            before = self.shared.accounts
            await asyncio.gather(*map(self._publish_to, self.workers))
            known = self.known_accounts()
            self.shared = replace(self.shared, accounts=tuple(known[id_] for id_ in sorted(known)))

    async def _publish_to(self, worker: Worker) -> None:
        if not worker.up.is_set():
            return
        try:
            report = await self._send_shared(worker)
        except HttpError as error:
            log.warning("worker %d does not answer: %s", worker.number + 1, error)
        else:
            self.accounts[worker.number] = report.accounts

    async def _send_shared(self, worker: Worker) -> Report:
        now, wall = self.clock(), time.time_ns()
        shared = replace(
            self.shared,
            market=now,
            wall=wall,
            speed=self.clock.speed,
            running=self.clock.running,
        )
        answer = await self._send(worker, "PUT", SHARED_STATE, shared)
        return read_record(Report, answer)

    async def repeat(self, worker: Worker, ask: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
        """Send an idempotent request to a worker by `ask`, and again if the worker was restarted meanwhile."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            await self._wait_for(worker)
            try:
                return await ask()
            except HttpError as error:
                if error.status not in _RETRIED_STATUSES or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)

    async def _wait_for(self, worker: Worker) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await worker.up.wait()
        except TimeoutError:
            raise HttpError(
                503,
                f"Worker {worker.number + 1} is being restarted: try again",
                headers={"Retry-After": "1"},
            ) from None

    async def ask(self, worker: Worker, name: str, request: object, **parameters: str) -> Any:  # noqa: ANN401
        """Return the answer of one worker to an operation."""
        await self._wait_for(worker)
        operation = _BY_NAME[name]
        path = operation.path.format(**parameters)
        answer = await self._send(worker, operation.method, path, request)
        return read_record(operation.answer, answer)

    async def ask_all(self, name: str, request: object) -> list[Any]:
        """Return the answers of all workers to an operation that may be done twice."""
        answers = await asyncio.gather(
            *(
                self.repeat(worker, lambda worker=worker: self.ask(worker, name, request))  # type: ignore[misc]
                for worker in self.workers
            ),
            return_exceptions=True,
        )
        for one in answers:
            if isinstance(one, BaseException):
                raise one
        return list(answers)

    async def _send(self, worker: Worker, method: str, path: str, body: object) -> dict[str, Any]:
        text = json.dumps(to_wire(body)).encode()
        request = PeerRequest(method, f"{BASE}{path}".encode(), (), text)
        address = self.address_of(worker.number)
        try:
            answer = await self.peers.send(
                address, request, ((SECRET, self.secret),), ANSWER_SECONDS
            )
        except NotExecuted as error:
            raise HttpError(503, str(error), headers={"Retry-After": "1"}) from None
        except OutcomeUnknown as error:
            raise HttpError(504, str(error)) from None
        members: dict[str, Any] = json.loads(answer.body)
        if answer.status >= _FIRST_ERROR:
            raise HttpError(answer.status, str(members.get("errorMessage", "refused")))
        return members
