"""The control operations that a worker offers to its supervisor: those of a broker of one process, and some of its own."""

import json
from dataclasses import asdict

from keydesk_practice.broker.replay import load_shocks, save_shocks
from keydesk_practice.broker.startup import create_account, default_accounts
from keydesk_practice.control.clock import settle
from keydesk_practice.control.context import LocalControl
from keydesk_practice.control.faults import use_faults
from keydesk_practice.control.operations import OPERATIONS, Operation
from keydesk_practice.control.records import CheckpointName, NoMembers
from keydesk_practice.control.replays import check_checkpoint
from keydesk_practice.http.middleware import TOKEN_FACT
from keydesk_practice.market.shocks import Shock
from keydesk_practice.workers.settings import AccountTerms, Report, SharedState, TokenDigest

SHARED_STATE = "/workers/state"
CHECKPOINT = "/workers/checkpoint"


async def report(control: LocalControl, _: NoMembers) -> Report:
    """Return the accounts, tokens, shocks and market time of this worker."""
    broker = control.broker
    return Report(
        state=control.state(),
        accounts=tuple(AccountTerms.of(one.account) for one in broker.sessions.values()),
        tokens=tuple(
            TokenDigest(owner=int(fact.removeprefix(TOKEN_FACT)), digest=digest)
            for fact, digest in broker.ledger.facts(TOKEN_FACT).items()
        ),
        shocks=shocks_text(load_shocks(broker.ledger)),
        market=broker.now(),
        earlier_model=broker.earlier_model,
    )


async def adopt_shared_state(control: LocalControl, request: SharedState) -> Report:
    """Take over the state that all workers share: tokens, accounts, shocks, faults and pace."""
    broker = control.broker
    for token in request.tokens:
        if control.authenticator.add(bytes.fromhex(token.digest), token.owner):
            broker.ledger.set_fact(f"{TOKEN_FACT}{token.owner}", token.digest)
        for account in default_accounts(token.owner, fifo=control.options.fifo):
            if broker.belongs_here(account.id) and account.id not in broker.sessions:
                create_account(broker, account)
    if broker.all_accounts is not None:
        broker.all_accounts.clear()
        broker.all_accounts.update({one.id: one.ledger_account() for one in request.accounts})
    if shocks_text(broker.shocks) != request.shocks:
        shocks = shocks_of(request.shocks)
        save_shocks(broker.ledger, shocks)
        broker.overlay(shocks, broker.disguise)
    use_faults(control, request.faults)
    await _follow_pace(control, request)
    return await report(control, NoMembers())


async def _follow_pace(control: LocalControl, shared: SharedState) -> None:
    clock = control.broker.clock
    if shared.running:
        clock.run_since(max(shared.market, 0), shared.wall, shared.speed)
        return
    await settle(control)
    if shared.market > clock():
        await control.broker.advance(shared.market)
    clock.set(max(shared.market, clock()), shared.speed)


def shocks_text(shocks: tuple[Shock, ...]) -> str:
    """Return shocks as JSON text."""
    return json.dumps([asdict(one) for one in shocks])


def shocks_of(text: str) -> tuple[Shock, ...]:
    """Return the shocks of a JSON text."""
    return tuple(
        Shock(**{**one, "instruments": tuple(one["instruments"])}) for one in json.loads(text)
    )


WORKER_OPERATIONS = (
    *OPERATIONS,
    Operation("GET", SHARED_STATE, report, NoMembers, Report),
    Operation("PUT", SHARED_STATE, adopt_shared_state, SharedState, Report),
    Operation("POST", CHECKPOINT, check_checkpoint, CheckpointName, NoMembers),
)
