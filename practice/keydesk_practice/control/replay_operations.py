"""Begin and finish replays, save and restore checkpoints: each has a ledger of its own."""

import random
import secrets
import time
from decimal import Decimal

from keydesk_practice.broker.anonymizer import anonymizer_of
from keydesk_practice.broker.replay_facts import (
    SCENARIOS,
    Replay,
    load_replay,
    random_start,
    revealed,
    save_replay,
)
from keydesk_practice.broker.startup import (
    MODEL,
    create_account,
)
from keydesk_practice.control.bodies import (
    BeginReplay,
    CheckpointName,
    Checkpoints,
    NoMembers,
    Scenarios,
    ScenarioState,
    State,
)
from keydesk_practice.control.clock_operations import MAX_SPEED, settle
from keydesk_practice.control.context import Control
from keydesk_practice.control.ledger_operations import (
    Change,
    catch_up,
    change_ledger,
    go_home,
    has_home,
    is_replay,
    open_source,
    replays_begun,
)
from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.http.error_responses import HttpError, invalid_value
from keydesk_practice.http.middleware import TOKEN_FACT
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_store import NAME, Source
from keydesk_practice.market.practice_market import MARKET_MODEL
from keydesk_practice.options import nanoseconds

_MAX_BALANCE = Decimal(1_000_000_000)


async def scenarios(_: Control, __: NoMembers) -> Scenarios:
    """List the named scenarios."""
    return Scenarios(
        scenarios=tuple(
            ScenarioState(
                name=one.name,
                start=nanoseconds(one.start),
                instrument=one.instrument,
                facts=one.facts,
                days=one.days,
                range_pips=one.range_pips,
            )
            for one in SCENARIOS.values()
        )
    )


async def begin_replay(control: Control, request: BeginReplay) -> State:
    """Begin anew at another time, with fresh accounts, or go back to the accounts that were left for a replay."""
    balance = checked_balance(request.balance)
    if not 0 < request.speed <= MAX_SPEED:
        raise invalid_value("speed", f": use a number above 0, at most {MAX_SPEED:g}")
    replay = _chosen(control, request)
    broker, in_replay = control.broker, is_replay(control.broker)
    if request.present and not in_replay:
        await catch_up(control, request.speed)
        return control.state()
    if request.present and has_home(control):
        await go_home(control, request.speed)
        return control.state()
    begun = replays_begun(broker.ledger)
    facts = {
        "seed": broker.ledger.fact("seed") or "1",
        MODEL: str(MARKET_MODEL),
        **broker.ledger.facts(TOKEN_FACT),
    }
    accounts = broker.ledger.accounts()

    def fill(ledger: LedgerInterface) -> None:
        for name, value in facts.items():
            ledger.set_fact(name, value)
        if not request.present:
            save_replay(ledger, replay)
        broker.adopt_ledger(ledger, replay.began + replay.delta + begun, ((), replay.anonymizer))
        for account in accounts:
            create_account(broker, account, balance)

    change = Change(fill, as_home=not in_replay, begins_replay=request.keep_ledger)
    await change_ledger(control, change, keep=request.keep_ledger)
    if request.running or request.present:
        broker.play(request.speed)
    else:
        broker.clock.set(broker.now(), request.speed)
    return control.state()


async def finish_replay(control: Control, _: NoMembers) -> State:
    """Pause, and show which instrument and which time a blind replay was about."""
    replay = load_replay(control.broker.ledger)
    if replay is None:
        raise HttpError(409, "There is no replay in progress: begin one first")
    await settle(control)
    save_replay(control.broker.ledger, revealed(replay))
    return control.state()


async def checkpoints(control: Control, _: NoMembers) -> Checkpoints:
    """List the saved checkpoints."""
    return Checkpoints(checkpoints=tuple(control.store.checkpoints()))


async def save_checkpoint(control: Control, request: CheckpointName) -> Checkpoints:
    """Save the accounts and the market's time under a name; one of the same name is replaced."""
    _check_name(request.name)
    control.broker.save_state()
    control.store.save_checkpoint(control.broker.ledger, request.name)
    return await checkpoints(control, NoMembers())


async def restore_checkpoint(control: Control, request: CheckpointName) -> State:
    """Go back to a checkpoint, paused; the present ledger is kept beside it."""
    _check_name(request.name)
    await open_source(control, Source(request.name, is_checkpoint=True))
    return control.state()


def checked_balance(balance: Decimal | None) -> Decimal | None:
    """Return a start balance, None for the usual one; raise a 400 `HttpError` for one that no account can have."""
    if balance is not None and not 0 < balance <= _MAX_BALANCE:
        raise invalid_value("balance", f": use an amount above 0, at most {_MAX_BALANCE:,}")
    return balance


def _chosen(control: Control, request: BeginReplay) -> Replay:
    """Return the replay that a request chooses; raise a 400 `HttpError` when it chooses none, or two."""
    dated = [request.start is not None, request.scenario is not None]
    if sum([*dated, request.random, request.present]) != 1:
        raise HttpError(400, "Give exactly one of 'start', 'scenario', 'random' and 'present'")
    if request.present and request.blind:
        raise HttpError(400, "The present cannot be hidden: leave out 'blind' or 'present'")
    instrument = request.instrument
    if request.scenario is not None:
        scenario = SCENARIOS.get(request.scenario)
        if scenario is None:
            raise invalid_value("scenario", f": use one of {', '.join(SCENARIOS)}")
        began, instrument = nanoseconds(scenario.start), instrument or scenario.instrument
    elif request.random:
        seed = secrets.randbits(64) if request.draw is None else request.draw
        last_day = int(control.broker.market.rates.days[-1])
        began, drawn = random_start(random.Random(seed), last_day)  # noqa: S311 - no secret
        instrument = instrument or (drawn if request.blind else None)
    else:
        began = time.time_ns() if request.present else request.start or 0
    return _anonymized(control, request, began, instrument)


def _anonymized(
    control: Control, request: BeginReplay, began: int, instrument: str | None
) -> Replay:
    market = control.broker.market
    try:
        offered = market.at(began).instruments()
    except TimeOutsideRates as error:
        raise invalid_value("start", f": {error}") from None
    if instrument is not None and instrument not in offered:
        raise invalid_value("instrument", ": it has no prices at that time")
    if not request.blind:
        return Replay(began, request.scenario, instrument)
    if instrument is None:
        raise HttpError(400, "A blind replay needs an 'instrument', a 'scenario' or 'random'")
    anonymizer = anonymizer_of(instrument, began, market)
    return Replay(
        began,
        request.scenario,
        instrument,
        blind=True,
        factor=str(anonymizer.factor),
        delta=anonymizer.delta,
    )


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise invalid_value("name", ": use letters, digits, dot, hyphen and underscore")
