"""The control interface over all workers: what concerns the market is changed for all of them, an account at its worker.

What must be equal everywhere happens while every worker is paused at the same time of the market. A worker
that had ended during a change receives it when it joins again.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from keydesk_practice.broker.clock import Clock
from keydesk_practice.broker.opening import default_accounts
from keydesk_practice.cluster.forwarding import SECRET
from keydesk_practice.cluster.peers import PeerRequest, Peers
from keydesk_practice.control.accounts import FIRST_ADDED_OWNER, checked_token, next_id
from keydesk_practice.control.clock import checked_speed
from keydesk_practice.control.faults import SetFaults, chosen_profile
from keydesk_practice.control.operations import BASE, OPERATIONS, Operation
from keydesk_practice.control.records import (
    AccountState,
    AddAccount,
    AddShock,
    AddToken,
    BeginReplay,
    Checkpoints,
    Jump,
    Named,
    Nothing,
    Play,
    Scenarios,
    Speed,
    State,
    Step,
    TokenAccounts,
)
from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import to_wire
from keydesk_practice.errors import NotExecuted, OutcomeUnknown
from keydesk_practice.http.errors import HttpError, invalid_value
from keydesk_practice.http.faults import NO_FAULTS
from keydesk_practice.http.middleware import digest_of
from keydesk_practice.ledger.placement import worker_of
from keydesk_practice.workers.operations import SHARED_STATE
from keydesk_practice.workers.pool import Worker
from keydesk_practice.workers.settings import AccountTerms, Report, SharedState, TokenDigest

WAIT_SECONDS = 15.0  # for a worker that is being restarted
ANSWER_SECONDS = 600.0  # a jump over months ticks every account
PAUSE_SECONDS = 0.1  # before it is asked again
_AWAY = frozenset({503, 504})
_FIRST_ERROR = 400
_AT_HOME = frozenset({"reset_account", "clone_account", "transfer", "set_margin"})
_BY_NAME = {one.name: one for one in OPERATIONS}
Handler = Callable[..., Awaitable[Any]]
log = logging.getLogger("keydesk.practice.workers")


@dataclass(slots=True)
class WorkersControl:
    """The workers under control, and what they agree about."""

    clock: Clock
    seed: int
    peers: Peers
    secret: bytes
    address_of: Callable[[int], str]
    workers: list[Worker] = field(default_factory=list)
    shared: SharedState = field(default_factory=SharedState)
    owners: tuple[int, ...] = ()  # of the tokens of the start
    start_digests: frozenset[str] = frozenset()
    ledger_number: int = 0
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    accounts: dict[int, tuple[AccountTerms, ...]] = field(default_factory=dict)  # by worker

    # --- asking workers ---

    async def join(self, worker: Worker) -> None:
        """Send a started worker the state that all workers share, then let it serve."""
        await self._send_shared(worker)
        worker.up.set()
        await (
            self.publish()
        )  # what was changed since it was asked, and the accounts that it has now

    def known_accounts(self) -> dict[str, AccountTerms]:
        """Return the accounts of all workers by their ids."""
        return {one.id: one for several in self.accounts.values() for one in several}

    async def read_report(self, worker: Worker) -> Report:
        """Return what a worker found in its ledger at its start."""
        answer = await self._send(worker, "GET", SHARED_STATE, Nothing())
        return read_record(Report, answer)

    async def publish(self) -> None:
        """Send every worker what all must agree about, until none adds an account, as one does for a new token.

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

    async def _repeat(self, worker: Worker, ask: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
        """Ask a worker for what may be done twice, again when it was restarted meanwhile."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            await self._wait_for(worker)
            try:
                return await ask()
            except HttpError as error:
                if error.status not in _AWAY or time.monotonic() > deadline:
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

    async def _do(self, worker: Worker, name: str, request: object, **parameters: str) -> Any:  # noqa: ANN401
        """Return the answer of one worker to an operation."""
        await self._wait_for(worker)
        operation = _BY_NAME[name]
        path = operation.path.format(**parameters)
        answer = await self._send(worker, operation.method, path, request)
        return read_record(operation.answer, answer)

    async def _do_everywhere(self, name: str, request: object) -> list[Any]:
        """Return the answers of all workers to an operation that may be done twice."""
        answers = await asyncio.gather(
            *(
                self._repeat(worker, lambda worker=worker: self._do(worker, name, request))  # type: ignore[misc]
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

    # --- the market's time ---

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Pause every worker at the same time of the market; go on afterwards if the market ran."""
        running = self.clock.running
        await self._stop()
        try:
            yield
        finally:
            if running:
                self.clock.play()
                await self.publish()

    async def _stop(self) -> None:
        states = await self._do_everywhere("pause", Nothing())
        self.clock.pause()
        self.clock.set(max(self.clock(), *(one.time for one in states)))
        await self.publish()

    async def state(self, _: Nothing) -> State:
        """Return the market and the accounts of all workers."""
        states: list[State] = await self._do_everywhere("state", Nothing())
        accounts = sorted(
            (one for state in states for one in state.accounts), key=lambda one: one.id
        )
        return replace(
            states[0],
            time=max(one.time for one in states),
            running=self.clock.running,
            speed=f"{self.clock.speed:g}",
            seed=self.seed,
            accounts=tuple(accounts),
            ledger_number=self.ledger_number,
        )

    async def pause(self, _: Nothing) -> State:
        """Stop the market's time."""
        await self._stop()
        return await self.state(Nothing())

    async def play(self, request: Play) -> State:
        """Let the market run on."""
        speed = None if request.speed is None else checked_speed(request.speed)
        await self._stop()
        self.clock.play(speed)
        await self.publish()
        return await self.state(Nothing())

    async def set_speed(self, request: Speed) -> State:
        """Change the speed; a paused market stays paused."""
        speed = checked_speed(request.speed)
        async with self.held():
            self.clock.set(self.clock(), speed)
        await self.publish()
        return await self.state(Nothing())

    async def step(self, request: Step) -> State:
        """Pause, then go on to the end of a candle."""
        await self._stop()
        first = await self._do(self.workers[0], "step", request)
        self.clock.set(first.time)
        await self._move_on(first.time)
        return await self.state(Nothing())

    async def jump(self, request: Jump) -> State:
        """Go on to a later time."""
        async with self.held():
            await self._do(self.workers[0], "jump", request)
            await self._move_on(request.time)
        return await self.state(Nothing())

    async def _move_on(self, until: int) -> None:
        """Let the other workers go where the first one went, by the same steps."""

        async def jump(worker: Worker) -> None:
            with_time = Jump(time=until)
            if (await self._do(worker, "state", Nothing())).time < until:
                await self._do(worker, "jump", with_time)

        await asyncio.gather(
            *(self._repeat(worker, lambda worker=worker: jump(worker)) for worker in self.workers)  # type: ignore[misc]
        )
        self.clock.set(until)
        await self.publish()

    # --- shocks, faults, replays and checkpoints ---

    async def add_shock(self, request: AddShock) -> State:
        """Add a shock from the next grid point on, or from a later time."""
        return await self._change_shocks("add_shock", request)

    async def cancel_shocks(self, request: Nothing) -> State:
        """Cancel the shocks that have not begun; those in progress continue."""
        return await self._change_shocks("cancel_shocks", request)

    async def _change_shocks(self, name: str, request: object) -> State:
        async with self.held():
            await self._do(self.workers[0], name, request)
            await self._read_shocks()
            await self.publish()
        return await self.state(Nothing())

    async def _read_shocks(self) -> None:
        report = await self.read_report(self.workers[0])
        self.shared = replace(self.shared, shocks=report.shocks)

    async def set_faults(self, request: SetFaults) -> State:
        """Switch faults on, in place of those that were on."""
        self.shared = replace(self.shared, faults=chosen_profile(request))
        await self.publish()
        return await self.state(Nothing())

    async def clear_faults(self, _: Nothing) -> State:
        """Switch every fault off."""
        self.shared = replace(self.shared, faults=NO_FAULTS)
        await self.publish()
        return await self.state(Nothing())

    async def scenarios(self, _: Nothing) -> Scenarios:
        """List the named scenarios."""
        found: Scenarios = await self._do(self.workers[0], "scenarios", Nothing())
        return found

    async def begin_replay(self, request: BeginReplay) -> State:
        """Begin anew at another time, with fresh accounts."""
        runs = request.running or request.present
        if request.random and request.draw is None:
            request = replace(request, draw=secrets.randbits(63))
        return await self._replace_ledgers(
            "begin_replay", replace(request, running=False), speed=request.speed, runs=runs
        )

    async def finish_replay(self, _: Nothing) -> State:
        """Pause, and show which instrument and which time a blind replay was about."""
        await self._stop()
        await self._do_everywhere("finish_replay", Nothing())
        return await self.state(Nothing())

    async def checkpoints(self, _: Nothing) -> Checkpoints:
        """List the saved checkpoints."""
        lists: list[Checkpoints] = await self._do_everywhere("checkpoints", Nothing())
        common = set.intersection(*(set(one.checkpoints) for one in lists))
        return Checkpoints(checkpoints=tuple(sorted(common)))

    async def save_checkpoint(self, request: Named) -> Checkpoints:
        """Save the accounts and the market's time under a name; one of the same name is replaced."""
        async with self.held():
            await self._do_everywhere("save_checkpoint", request)
        return await self.checkpoints(Nothing())

    async def restore_checkpoint(self, request: Named) -> State:
        """Go back to a checkpoint, paused; the present ledger is kept beside it."""
        known = (await self.checkpoints(Nothing())).checkpoints
        if request.name not in known:
            words = ", ".join(known) or "none is saved"
            raise HttpError(404, f"There is no checkpoint {request.name!r}: {words}")
        return await self._replace_ledgers("restore_checkpoint", request)

    async def _replace_ledgers(
        self, name: str, request: object, *, speed: float | None = None, runs: bool = False
    ) -> State:
        """Let every worker go on with another ledger, then agree about its market."""
        async with self.held_if_refused():
            states = await self._do_everywhere(name, request)
        self.ledger_number += 1
        self.clock.pause()
        self.clock.set(max(one.time for one in states), speed)
        await self._read_shocks()
        await self.publish()
        if runs:
            self.clock.play()
            await self.publish()
        return await self.state(Nothing())

    @asynccontextmanager
    async def held_if_refused(self) -> AsyncIterator[None]:
        """Pause every worker; go on only when what is done then is refused."""
        running = self.clock.running
        await self._stop()
        try:
            yield
        except HttpError:
            if running:
                self.clock.play()
                await self.publish()
            raise

    # --- accounts and tokens ---

    async def add_account(self, request: AddAccount) -> AccountState:
        """Add an account to a token."""
        if request.owner not in self.all_owners():
            raise invalid_value("owner", ": there is no such token")
        worker = self._owner_of(next_id(self.known_accounts(), request.owner))
        found: AccountState = await self._do(worker, "add_account", request)
        await self.publish()
        return found

    async def add_token(self, request: AddToken) -> TokenAccounts:
        """Add a token; only its digest is kept, so the answer is the one place that shows it."""
        token = checked_token(request)
        digest = digest_of(token.encode()).hex()
        if digest in self.start_digests or digest in {one.digest for one in self.shared.tokens}:
            raise HttpError(409, "This token is in use already: choose another one")
        owner = max((FIRST_ADDED_OWNER - 1, *self.all_owners())) + 1
        added = TokenDigest(owner=owner, digest=digest)
        self.shared = replace(self.shared, tokens=(*self.shared.tokens, added))
        await self.publish()
        ids = tuple(one.id for one in default_accounts(owner, fifo=False))
        return TokenAccounts(token=token, owner=owner, accounts=ids)

    def all_owners(self) -> set[int]:
        """Return the owner numbers of all tokens."""
        return {*self.owners, *(one.owner for one in self.shared.tokens)}

    def _owner_of(self, account: str) -> Worker:
        return self.workers[worker_of(account, len(self.workers))]

    # --- the operations ---

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations of the control interface, over all workers."""
        return tuple(replace(one, handler=self._handler(one)) for one in OPERATIONS)

    def _handler(self, operation: Operation) -> Handler:
        """Return a handler with the name and the summary of the operation, for the log and the OpenAPI document."""

        async def handler(_: object, request: object, **parameters: str) -> object:
            if operation.name in _AT_HOME:
                return await self._do_at_owner(operation, request, **parameters)
            own: Handler = getattr(self, operation.name)
            return await own(request)

        handler.__name__, handler.__doc__ = operation.name, operation.summary
        return handler

    async def _do_at_owner(self, operation: Operation, request: object, account: str) -> object:
        """Return the answer of an account's worker."""
        known = self.known_accounts()
        if account not in known:
            words = ", ".join(sorted(known))
            raise HttpError(404, f"There is no account {account}: use one of {words}")
        answer: object = await self._do(
            self._owner_of(account), operation.name, request, account=account
        )
        await self.publish()
        return answer
