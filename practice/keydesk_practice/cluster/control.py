"""The control interface of a cluster: clock, shocks, accounts and tokens are changed for all nodes, an account at its owner."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

from keydesk_practice.broker.startup import default_accounts, new_account_history
from keydesk_practice.cluster.forwarding import SECRET
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import PeerRequest, Peers
from keydesk_practice.control import accounts, clock, shocks
from keydesk_practice.control.context import Control, account_state
from keydesk_practice.control.operations import BASE, OPERATIONS, Operation
from keydesk_practice.control.records import (
    AccountState,
    AddAccount,
    AddShock,
    AddToken,
    Jump,
    NoMembers,
    Play,
    ResetAccount,
    Speed,
    State,
    Step,
    TokenAccounts,
)
from keydesk_practice.control.replays import checked_balance
from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import SECOND, to_wire
from keydesk_practice.errors import (
    LedgerUnreachable,
    LedgerWriteFailed,
    NotExecuted,
    OutcomeUnknown,
    PracticeError,
)
from keydesk_practice.http.errors import HttpError
from keydesk_practice.http.middleware import TOKEN_FACT, digest_of

PAUSE_AHEAD = 0.3  # seconds in which the notification reaches every node before the market stops
PEER_SECONDS = 1.5
ARRIVAL_SECONDS = 1.0  # for an account that is being loaded
ACCOUNTS_HERE = "/cluster/v1/accounts"
TIME_HERE = "/cluster/v1/time"
_AT_OWNER = frozenset({"transfer", "set_margin"})
_NOT_IN_CLUSTER = frozenset(
    {
        "begin_replay",
        "finish_replay",
        "checkpoints",
        "save_checkpoint",
        "restore_checkpoint",
        "clone_account",
    }
)
_FIRST_ERROR = 400
Handler = Callable[..., Awaitable[Any]]


class ClusterControl:
    """The operations of the control interface over all nodes."""

    def __init__(self, node: Node, peers: Peers, secret: bytes) -> None:
        self._node = node
        self._peers = peers
        self._secret = secret
        self._own: dict[str, Handler] = {
            "state": self._state,
            "pause": self._pause,
            "play": self._play,
            "set_speed": self._set_speed,
            "step": self._step,
            "jump": self._jump,
            "add_shock": self._add_shock,
            "cancel_shocks": self._cancel_shocks,
            "add_account": self._add_account,
            "add_token": self._add_token,
        }

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations for clients."""
        return tuple(replace(one, handler=_named(self._handler(one), one)) for one in OPERATIONS)

    def inner_operations(self) -> tuple[Operation, ...]:
        """Return the operations that other nodes forward, for accounts of this node."""
        at_owner = [one for one in OPERATIONS if one.name in {*_AT_OWNER, "reset_account"}]
        return tuple(replace(one, handler=_named(self._here(one), one)) for one in at_owner)

    def accounts_here(self, control: Control) -> list[dict[str, Any]]:
        """Return the accounts of this node and their numbers as JSON."""
        return [to_wire(account_state(one)) for one in control.broker.sessions.values()]

    async def time_here(self) -> dict[str, Any]:
        """Return the market's time of this node, which has read what others changed; raise `LedgerUnreachable`."""
        await self._node.follow_control()
        await self._node.refresh()
        return {"time": self._node.clock()}

    def _handler(self, operation: Operation) -> Handler:
        if operation.name in _NOT_IN_CLUSTER:
            return _refuse
        if operation.name in {*_AT_OWNER, "reset_account"}:
            return self._at_owner(operation)
        return _translated(self._own.get(operation.name, operation.handler))

    def _here(self, operation: Operation) -> Handler:
        handler: Handler = operation.handler
        if operation.name == "reset_account":
            handler = self._reset_account

        async def here(control: Control, request: object, account: str) -> object:
            if account in self._node.accounts and not self._node.owns(account):
                await self._node.loader.wait_for(account, ARRIVAL_SECONDS)
                if not self._node.owns(account):
                    raise NotExecuted("The account is moving to another node: try again")
            return await handler(control, request, account=account)

        return _translated(here)

    def _at_owner(self, operation: Operation) -> Handler:
        here = self._here(operation)

        async def at_owner(control: Control, request: object, account: str) -> object:
            if self._node.owns(account):
                return await here(control, request, account=account)
            path = BASE + operation.path.format(account=account)
            return await self._ask_owner(account, operation, path, json.dumps(to_wire(request)))

        return at_owner

    async def _ask_owner(self, account: str, operation: Operation, path: str, body: str) -> object:
        owner = self._node.owners.get(account)
        if account not in self._node.accounts:
            raise HttpError(404, f"There is no account {account}: {BASE}/state lists them")
        if owner is None:
            raise HttpError(503, "The account is moving to another node: try again")
        request = PeerRequest(operation.method, path.encode(), (), body.encode())
        try:
            answer = await self._peers.send(
                owner.address, request, ((SECRET, self._secret),), PEER_SECONDS
            )
        except NotExecuted as error:
            raise HttpError(503, str(error)) from None
        except OutcomeUnknown as error:
            raise HttpError(504, str(error)) from None
        members = json.loads(answer.body)
        if answer.status >= _FIRST_ERROR:
            raise HttpError(answer.status, str(members.get("errorMessage", "refused")))
        return read_record(operation.answer, members)

    async def _state(self, control: Control, _: NoMembers) -> State:
        """Return the market, and the accounts of all nodes that answer."""
        own = control.state()
        addresses = {one.address for one in self._node.owners.values() if one is not None}
        lists = await asyncio.gather(*map(self._accounts_of, addresses))
        found = {one.id: one for several in lists for one in several}
        found |= {one.id: one for one in own.accounts}
        return replace(own, accounts=tuple(found[id_] for id_ in sorted(found)))

    async def _accounts_of(self, address: str) -> list[AccountState]:
        request = PeerRequest("GET", ACCOUNTS_HERE.encode(), (), b"")
        try:
            answer = await self._peers.send(
                address, request, ((SECRET, self._secret),), PEER_SECONDS
            )
            return [read_record(AccountState, one) for one in json.loads(answer.body)["accounts"]]
        except (NotExecuted, OutcomeUnknown, ValueError, LookupError, HttpError):
            return []  # its accounts are moving to another node

    async def _pause(self, control: Control, _: NoMembers) -> State:
        """Stop the market's time, at the same instant on every node."""
        market_clock = self._node.clock
        ahead = round(PAUSE_AHEAD * market_clock.speed * SECOND)
        if market_clock.running:
            await self._node.change_pace(lambda: market_clock.changed(stops=market_clock() + ahead))
            await asyncio.sleep(PAUSE_AHEAD)
            await self._let_others_follow()
            await self._node.follow_control()
        await self._arrive(market_clock())
        return await self._state(control, NoMembers())

    async def _let_others_follow(self) -> None:
        """Return when every other node that answers has read what was changed, and has moved the stop if it was past it.

        One that does not answer does the same when it hears of the change.
        """
        owners = [one for one in self._node.owners.values() if one is not None]
        addresses = {one.address for one in owners if one.node != self._node.number}
        await asyncio.gather(*map(self._let_follow, addresses))

    async def _let_follow(self, address: str) -> None:
        request = PeerRequest("GET", TIME_HERE.encode(), (), b"")
        with contextlib.suppress(NotExecuted, OutcomeUnknown):
            await self._peers.send(address, request, ((SECRET, self._secret),), PEER_SECONDS)

    async def _play(self, control: Control, request: Play) -> State:
        """Let the market run on."""
        speed = None if request.speed is None else clock.checked_speed(request.speed)
        await self._node.change_pace(lambda: self._node.clock.changed(speed=speed))
        return await self._state(control, NoMembers())

    async def _set_speed(self, control: Control, request: Speed) -> State:
        """Change the speed; a paused market stays paused."""
        speed, market_clock = clock.checked_speed(request.speed), self._node.clock
        await self._node.change_pace(
            lambda: market_clock.changed(speed=speed, stops=market_clock.pace.stops)
        )
        return await self._state(control, NoMembers())

    async def _step(self, control: Control, request: Step) -> State:
        """Pause, then go on to the end of a candle."""
        await self._pause(control, NoMembers())
        until = clock.end_of_step(control, request)
        clock.check_distance(control, until)
        return await self._go_to(control, until)

    async def _jump(self, control: Control, request: Jump) -> State:
        """Go on to a later time, on every node."""
        clock.check_jump(control, request.time)
        return await self._go_to(control, request.time)

    async def _go_to(self, control: Control, until: int) -> State:
        market_clock = self._node.clock
        stops = None if market_clock.running else until
        await self._node.change_pace(lambda: market_clock.changed(market=until, stops=stops))
        await self._arrive(until)
        return await self._state(control, NoMembers())

    async def _arrive(self, until: int) -> None:
        """Return when the accounts of this node were ticked up to a time."""
        while self._node.broker.ticked_until < until and not self._node.away:  # noqa: ASYNC110 - of the market's steps
            await asyncio.sleep(0.02)

    async def _add_shock(self, control: Control, request: AddShock) -> State:
        """Add a shock on every node."""
        with self._shocks_of_all():
            await shocks.add_shock(control, request)
        await self._node.announce_control()
        return await self._state(control, NoMembers())

    async def _cancel_shocks(self, control: Control, request: NoMembers) -> State:
        """Cancel the shocks that have not begun, on every node."""
        with self._shocks_of_all():
            await shocks.cancel_shocks(control, request)
        await self._node.announce_control()
        return await self._state(control, NoMembers())

    @contextlib.contextmanager
    def _shocks_of_all(self) -> Iterator[None]:
        """Begin with the shocks that other nodes have stored, and let none of them store others meanwhile."""
        with self._node.ledger.setup():
            self._node.follow_shocks()
            yield

    async def _add_account(self, control: Control, request: AddAccount) -> AccountState:
        """Add an account to a token; a node takes it at once."""
        balance, ledger = checked_balance(request.balance), self._node.ledger
        with ledger.setup():  # no other node adds one meanwhile
            known = [one.id for one in ledger.accounts()]
            account = accounts.account_to_add(control, request, known)
            state, entries = new_account_history(
                control.broker.board, account, balance, request.alias, request.margin_rate
            )
            ledger.create_account(account, entries)
        await self._announce_accounts()
        return AccountState(
            id=account.id,
            owner=account.owner,
            currency=account.currency,
            hedging=account.hedging,
            fifo=account.fifo,
            balance=state.balance,
            nav=state.balance,
            open_trades=0,
            pending_orders=0,
            last_transaction=str(state.last_transaction_id),
            alias=state.alias,
            paid_in=state.balance,
        )

    async def _add_token(self, control: Control, request: AddToken) -> TokenAccounts:
        """Add a token on every node, with two accounts of its own."""
        token = accounts.checked_token(request)
        digest, ledger = digest_of(token.encode()), self._node.ledger
        with ledger.setup():  # no other node adds one meanwhile
            load_tokens(self._node, control)
            owner = accounts.free_owner(control, digest)
            ledger.set_fact(f"{TOKEN_FACT}{owner}", digest.hex())
            added = default_accounts(owner, fifo=control.options.fifo)
            for account in added:
                entries = new_account_history(control.broker.board, account)[1]
                ledger.create_account(account, entries)
        control.authenticator.add(digest, owner)
        await self._announce_accounts()
        return TokenAccounts(token=token, owner=owner, accounts=tuple(one.id for one in added))

    async def _reset_account(
        self, control: Control, request: ResetAccount, account: str
    ) -> AccountState:
        """Begin an account of this node anew under its id."""
        session = control.session(account)
        new = accounts.account_after_reset(session.account, request)
        balance = checked_balance(request.balance)
        await control.broker.commits.wait_until_committed(account)
        state, entries = new_account_history(
            control.broker.board, new, balance, None, request.margin_rate
        )
        self._node.replace(new, entries)
        await self._announce_accounts()
        return replace(account_state(session), currency=new.currency, hedging=new.hedging,
                       balance=state.balance, nav=state.balance, open_trades=0, pending_orders=0,
                       last_transaction=str(state.last_transaction_id))  # fmt: skip

    async def _announce_accounts(self) -> None:
        """Return when every node that answers knows the accounts and tokens that were added or begun anew."""
        await self._node.announce_control()
        await self._node.refresh()
        await self._let_others_follow()


def load_tokens(node: Node, control: Control) -> None:
    """Let in the tokens that were added, here or by another node."""
    for fact, digest in node.ledger.facts(TOKEN_FACT).items():
        control.authenticator.add(bytes.fromhex(digest), int(fact.removeprefix(TOKEN_FACT)))


async def _refuse(*_: object, **__: object) -> None:
    raise HttpError(409, "This is not available in a cluster: use a practice broker of one process")


def _translated(handler: Handler) -> Handler:
    """Return a handler that answers 503 while the database does not answer."""

    async def handle(*arguments: Any, **parameters: Any) -> Any:  # noqa: ANN401 - of any operation
        try:
            return await handler(*arguments, **parameters)
        except OutcomeUnknown as error:
            raise HttpError(504, str(error)) from None
        except (LedgerUnreachable, LedgerWriteFailed, NotExecuted) as error:
            raise HttpError(503, str(error)) from None
        except PracticeError as error:
            raise HttpError(409, str(error)) from None

    return handle


def _named(handler: Handler, operation: Operation) -> Handler:
    """Return a handler with the name and the summary of the operation, for the OpenAPI document and the log."""

    async def named(*arguments: Any, **parameters: Any) -> Any:  # noqa: ANN401 - of any operation
        return await handler(*arguments, **parameters)

    named.__name__, named.__doc__ = operation.name, operation.summary
    return named
