"""The control interface over all workers: what concerns the market is changed for all of them, an account at its worker.

What must be equal everywhere happens while every worker is paused at the same time of the market.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from keydesk_practice.broker.startup import default_accounts
from keydesk_practice.control.accounts import FIRST_ADDED_OWNER, checked_token, next_id
from keydesk_practice.control.clock import checked_speed
from keydesk_practice.control.faults import SetFaults, chosen_profile
from keydesk_practice.control.operations import OPERATIONS, Operation
from keydesk_practice.control.records import (
    AccountState,
    AddAccount,
    AddShock,
    AddToken,
    BeginReplay,
    CheckpointName,
    Checkpoints,
    Jump,
    NoMembers,
    Play,
    Scenarios,
    Speed,
    State,
    Step,
    TokenAccounts,
)
from keydesk_practice.http.errors import HttpError, invalid_value
from keydesk_practice.http.faults import NO_FAULTS
from keydesk_practice.http.middleware import digest_of
from keydesk_practice.ledger.placement import worker_of
from keydesk_practice.workers.group import WorkerGroup
from keydesk_practice.workers.pool import Worker
from keydesk_practice.workers.settings import TokenDigest

_AT_OWNER = frozenset({"reset_account", "clone_account", "transfer", "set_margin"})
Handler = Callable[..., Awaitable[Any]]


@dataclass(slots=True)
class WorkersControl:
    """The control interface over a group of workers."""

    group: WorkerGroup
    seed: int
    owners: tuple[int, ...] = ()  # of the tokens of the start
    start_digests: frozenset[str] = frozenset()
    ledger_number: int = 0
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # --- the market's time ---

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Pause every worker at the same time of the market; go on afterwards if the market ran."""
        running = self.group.clock.running
        await self._stop()
        try:
            yield
        finally:
            if running:
                self.group.clock.play()
                await self.group.publish()

    async def _stop(self) -> None:
        states = await self.group.ask_all("pause", NoMembers())
        self.group.clock.pause()
        self.group.clock.set(max(self.group.clock(), *(one.time for one in states)))
        await self.group.publish()

    async def state(self, _: NoMembers) -> State:
        """Return the market and the accounts of all workers."""
        states: list[State] = await self.group.ask_all("state", NoMembers())
        accounts = sorted(
            (one for state in states for one in state.accounts), key=lambda one: one.id
        )
        return replace(
            states[0],
            time=max(one.time for one in states),
            running=self.group.clock.running,
            speed=f"{self.group.clock.speed:g}",
            seed=self.seed,
            accounts=tuple(accounts),
            ledger_number=self.ledger_number,
        )

    async def pause(self, _: NoMembers) -> State:
        """Stop the market's time."""
        await self._stop()
        return await self.state(NoMembers())

    async def play(self, request: Play) -> State:
        """Let the market run on."""
        speed = None if request.speed is None else checked_speed(request.speed)
        await self._stop()
        self.group.clock.play(speed)
        await self.group.publish()
        return await self.state(NoMembers())

    async def set_speed(self, request: Speed) -> State:
        """Change the speed; a paused market stays paused."""
        speed = checked_speed(request.speed)
        async with self.paused():
            self.group.clock.set(self.group.clock(), speed)
        await self.group.publish()
        return await self.state(NoMembers())

    async def step(self, request: Step) -> State:
        """Pause, then go on to the end of a candle."""
        await self._stop()
        first = await self.group.ask(self.group.workers[0], "step", request)
        self.group.clock.set(first.time)
        await self._move_on(first.time)
        return await self.state(NoMembers())

    async def jump(self, request: Jump) -> State:
        """Go on to a later time."""
        async with self.paused():
            await self.group.ask(self.group.workers[0], "jump", request)
            await self._move_on(request.time)
        return await self.state(NoMembers())

    async def _move_on(self, until: int) -> None:
        """Let the other workers go where the first one went, by the same steps."""

        async def jump(worker: Worker) -> None:
            with_time = Jump(time=until)
            if (await self.group.ask(worker, "state", NoMembers())).time < until:
                await self.group.ask(worker, "jump", with_time)

        await asyncio.gather(
            *(self.group.repeat(worker, partial(jump, worker)) for worker in self.group.workers)
        )
        self.group.clock.set(until)
        await self.group.publish()

    # --- shocks, faults, replays and checkpoints ---

    async def add_shock(self, request: AddShock) -> State:
        """Add a shock from the next grid point on, or from a later time."""
        return await self._change_shocks("add_shock", request)

    async def cancel_shocks(self, request: NoMembers) -> State:
        """Cancel the shocks that have not begun; those in progress continue."""
        return await self._change_shocks("cancel_shocks", request)

    async def _change_shocks(self, name: str, request: object) -> State:
        async with self.paused():
            await self.group.ask(self.group.workers[0], name, request)
            await self._read_shocks()
            await self.group.publish()
        return await self.state(NoMembers())

    async def _read_shocks(self) -> None:
        report = await self.group.read_report(self.group.workers[0])
        self.group.shared = replace(self.group.shared, shocks=report.shocks)

    async def set_faults(self, request: SetFaults) -> State:
        """Switch faults on, in place of those that were on."""
        self.group.shared = replace(self.group.shared, faults=chosen_profile(request))
        await self.group.publish()
        return await self.state(NoMembers())

    async def clear_faults(self, _: NoMembers) -> State:
        """Switch every fault off."""
        self.group.shared = replace(self.group.shared, faults=NO_FAULTS)
        await self.group.publish()
        return await self.state(NoMembers())

    async def scenarios(self, _: NoMembers) -> Scenarios:
        """List the named scenarios."""
        found: Scenarios = await self.group.ask(self.group.workers[0], "scenarios", NoMembers())
        return found

    async def begin_replay(self, request: BeginReplay) -> State:
        """Begin anew at another time, with fresh accounts."""
        runs = request.running or request.present
        if request.random and request.draw is None:
            request = replace(request, draw=secrets.randbits(63))
        return await self._replace_ledgers(
            "begin_replay", replace(request, running=False), speed=request.speed, runs=runs
        )

    async def finish_replay(self, _: NoMembers) -> State:
        """Pause, and show which instrument and which time a blind replay was about."""
        await self._stop()
        await self.group.ask_all("finish_replay", NoMembers())
        return await self.state(NoMembers())

    async def checkpoints(self, _: NoMembers) -> Checkpoints:
        """List the saved checkpoints."""
        lists: list[Checkpoints] = await self.group.ask_all("checkpoints", NoMembers())
        common = set.intersection(*(set(one.checkpoints) for one in lists))
        return Checkpoints(checkpoints=tuple(sorted(common)))

    async def save_checkpoint(self, request: CheckpointName) -> Checkpoints:
        """Save the accounts and the market's time under a name; one of the same name is replaced."""
        async with self.paused():
            await self.group.ask_all("save_checkpoint", request)
        return await self.checkpoints(NoMembers())

    async def restore_checkpoint(self, request: CheckpointName) -> State:
        """Go back to a checkpoint, paused; the present ledger is kept beside it."""
        known = (await self.checkpoints(NoMembers())).checkpoints
        if request.name not in known:
            text = ", ".join(known) or "none is saved"
            raise HttpError(404, f"There is no checkpoint {request.name!r}: {text}")
        await self.group.ask_all("check_checkpoint", request)  # before any worker changes
        return await self._replace_ledgers("restore_checkpoint", request)

    async def _replace_ledgers(
        self, name: str, request: object, *, speed: float | None = None, runs: bool = False
    ) -> State:
        """Have every worker switch to another ledger, then give all of them the same time and shocks."""
        async with self.paused_until_success():
            states = await self.group.ask_all(name, request)
        self.ledger_number += 1
        self.group.clock.pause()
        self.group.clock.set(max(one.time for one in states), speed)
        await self._read_shocks()
        await self.group.publish()
        if runs:
            self.group.clock.play()
            await self.group.publish()
        return await self.state(NoMembers())

    @asynccontextmanager
    async def paused_until_success(self) -> AsyncIterator[None]:
        """Pause every worker; resume the market only if the block raises an `HttpError`."""
        running = self.group.clock.running
        await self._stop()
        try:
            yield
        except HttpError:
            if running:
                self.group.clock.play()
                await self.group.publish()
            raise

    # --- accounts and tokens ---

    async def add_account(self, request: AddAccount) -> AccountState:
        """Add an account to a token."""
        if request.owner not in self.all_owners():
            raise invalid_value("owner", ": there is no such token")
        worker = self._owner_of(next_id(self.group.known_accounts(), request.owner))
        found: AccountState = await self.group.ask(worker, "add_account", request)
        await self.group.publish()
        return found

    async def add_token(self, request: AddToken) -> TokenAccounts:
        """Add a token; only its digest is kept, so the answer is the one place that shows it."""
        token = checked_token(request)
        digest = digest_of(token.encode()).hex()
        if digest in self.start_digests or digest in {
            one.digest for one in self.group.shared.tokens
        }:
            raise HttpError(409, "This token is in use already: choose another one")
        owner = max((FIRST_ADDED_OWNER - 1, *self.all_owners())) + 1
        added = TokenDigest(owner=owner, digest=digest)
        self.group.shared = replace(self.group.shared, tokens=(*self.group.shared.tokens, added))
        await self.group.publish()
        ids = tuple(one.id for one in default_accounts(owner, fifo=False))
        return TokenAccounts(token=token, owner=owner, accounts=ids)

    def all_owners(self) -> set[int]:
        """Return the owner numbers of all tokens."""
        return {*self.owners, *(one.owner for one in self.group.shared.tokens)}

    def _owner_of(self, account: str) -> Worker:
        return self.group.workers[worker_of(account, len(self.group.workers))]

    # --- the operations ---

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations of the control interface, over all workers."""
        return tuple(replace(one, handler=self._handler(one)) for one in OPERATIONS)

    def _handler(self, operation: Operation) -> Handler:
        """Return a handler with the name and the summary of the operation, for the log and the OpenAPI document."""

        async def handler(_: object, request: object, **parameters: str) -> object:
            if operation.name in _AT_OWNER:
                return await self._do_at_owner(operation, request, **parameters)
            own: Handler = getattr(self, operation.name)
            return await own(request)

        handler.__name__, handler.__doc__ = operation.name, operation.summary
        return handler

    async def _do_at_owner(self, operation: Operation, request: object, account: str) -> object:
        """Return the answer of an account's worker."""
        known = self.group.known_accounts()
        if account not in known:
            text = ", ".join(sorted(known))
            raise HttpError(404, f"There is no account {account}: use one of {text}")
        answer: object = await self.group.ask(
            self._owner_of(account), operation.name, request, account=account
        )
        await self.group.publish()
        return answer
