"""Begin and finish replays, save and restore checkpoints: each has a ledger of its own."""

import asyncio
import logging
import random
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path

from keydesk_practice.broker.broker import LAST_SEEN, Broker
from keydesk_practice.broker.disguise import disguise_of
from keydesk_practice.broker.replay import (
    SCENARIOS,
    Replay,
    load_replay,
    nanoseconds,
    random_start,
    revealed,
    save_replay,
    stored_overlay,
)
from keydesk_practice.broker.startup import (
    DEPOSIT,
    MODEL,
    create_account,
    restore_sessions,
)
from keydesk_practice.control.clock import MAX_SPEED, settle
from keydesk_practice.control.context import Control
from keydesk_practice.control.records import (
    BeginReplay,
    CheckpointName,
    Checkpoints,
    NoMembers,
    Scenarios,
    ScenarioState,
    State,
)
from keydesk_practice.errors import LedgerUnavailable, PracticeError, TimeOutsideRates
from keydesk_practice.http.errors import HttpError, invalid_value
from keydesk_practice.http.middleware import TOKEN_FACT
from keydesk_practice.ledger.ledger import Ledger
from keydesk_practice.ledger.ledger_file import (
    FILE_NAME,
    check_copy,
    move_ledger_aside,
    remove_ledger,
)
from keydesk_practice.market.market import MARKET_MODEL

CHECKPOINTS = "checkpoints"  # the folder
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_MAX_BALANCE = Decimal(1_000_000_000)
log = logging.getLogger("keydesk.practice.control")


async def scenarios(_: Control, __: NoMembers) -> Scenarios:
    """List the named scenarios."""
    return Scenarios(
        scenarios=tuple(
            ScenarioState(
                name=one.name,
                start=nanoseconds(one.start),
                instrument=one.instrument,
                facts=one.facts,
            )
            for one in SCENARIOS.values()
        )
    )


async def begin_replay(control: Control, request: BeginReplay) -> State:
    """Begin anew at another time, with fresh accounts."""
    balance = checked_balance(DEPOSIT if request.balance is None else request.balance)
    if not 0 < request.speed <= MAX_SPEED:
        raise invalid_value("speed", f": use a number above 0, at most {MAX_SPEED:g}")
    replay = _chosen(control, request)
    broker = control.broker
    accounts = broker.ledger.accounts()
    facts = {
        "seed": broker.ledger.fact("seed") or "1",
        MODEL: str(MARKET_MODEL),
        **broker.ledger.facts(TOKEN_FACT),
    }

    def fill(ledger: Ledger) -> None:
        for name, value in facts.items():
            ledger.set_fact(name, value)
        if not request.present:
            save_replay(ledger, replay)
        broker.adopt_ledger(ledger, replay.began + replay.delta, ((), replay.disguise))
        for account in accounts:
            create_account(broker, account, balance)

    await _switch(control, fill, keep=request.keep_ledger)
    if request.running or request.present:
        broker.clock.play(request.speed)
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
    names = sorted(path.stem for path in _folder(control).glob("*.sqlite3"))
    return Checkpoints(checkpoints=tuple(names))


async def save_checkpoint(control: Control, request: CheckpointName) -> Checkpoints:
    """Save the accounts and the market's time under a name; one of the same name is replaced."""
    path = _path(control, request.name)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    control.broker.save_state()
    control.broker.ledger.copy_to(path)
    return await checkpoints(control, NoMembers())


async def restore_checkpoint(control: Control, request: CheckpointName) -> State:
    """Go back to a checkpoint, paused; the present ledger is kept beside it."""
    await check_checkpoint(control, request)
    path, data = _path(control, request.name), control.options.data
    await _switch(
        control, partial(_continue, control.broker), lambda: _copy(path, data / FILE_NAME)
    )
    return control.state()


async def check_checkpoint(control: Control, request: CheckpointName) -> NoMembers:
    """Raise a 404 `HttpError` when there is no such checkpoint, a 409 one when it is damaged."""
    path = _path(control, request.name)
    if not path.exists():
        known = ", ".join((await checkpoints(control, NoMembers())).checkpoints) or "none is saved"
        raise HttpError(404, f"There is no checkpoint {request.name!r}: {known}")
    try:
        problems = (await asyncio.to_thread(check_copy, path)).problems
    except LedgerUnavailable as error:
        problems = (str(error),)
    if problems:
        raise HttpError(
            409,
            f"The checkpoint {request.name!r} is damaged, and nothing is changed: {problems[0]}",
        )
    return NoMembers()


def _continue(broker: Broker, ledger: Ledger) -> None:
    """Go on with a ledger where it was left, with its accounts."""
    since = max(int(ledger.fact(LAST_SEEN) or 0), ledger.last_time())
    broker.adopt_ledger(ledger, since, stored_overlay(ledger))
    restore_sessions(broker)


def checked_balance(balance: Decimal) -> Decimal:
    """Return a start balance; raise a 400 `HttpError` for one that no account can have."""
    if not 0 < balance <= _MAX_BALANCE:
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
    return _disguised(control, request, began, instrument)


def _disguised(
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
    disguise = disguise_of(instrument, began, market)
    return Replay(
        began,
        request.scenario,
        instrument,
        blind=True,
        factor=str(disguise.factor),
        delta=disguise.delta,
    )


async def _switch(
    control: Control,
    fill: Callable[[Ledger], None],
    place: Callable[[], None] = lambda: None,
    *,
    keep: bool = True,
) -> None:
    """Replace the ledger, in one iteration of the event loop; streams end, and clients read the accounts anew.

    When it fails half-way the market goes on with the former ledger, paused. The broker stops when that fails, too.
    """
    await settle(control)
    broker, data = control.broker, control.options.data
    broker.end_streams()
    broker.save_state()
    broker.ledger.close()
    kept: Path | None = None
    try:
        kept = move_ledger_aside(data)
        place()
        _use(data, fill)
        broker.commits.flush()
    except (PracticeError, OSError, sqlite3.Error) as error:
        broker.ledger.close()
        _go_back(control, kept, error)
        raise HttpError(503, f"Nothing is changed, and the market is paused: {error}") from error
    if not keep and kept is not None:
        kept.unlink()
    control.interface.restart_request_ids(broker.now())


def _use(data: Path, fill: Callable[[Ledger], None]) -> None:
    ledger = Ledger.open(data)
    try:
        fill(ledger)
    except BaseException:
        ledger.close()
        raise


def _go_back(control: Control, kept: Path | None, cause: Exception) -> None:
    """Go on with the former ledger; raise a 503 `HttpError` when that is not possible."""
    data = control.options.data
    try:
        if kept is not None:
            remove_ledger(data / FILE_NAME)
            kept.rename(data / FILE_NAME)
        _use(data, partial(_continue, control.broker))
    except (PracticeError, OSError, sqlite3.Error) as error:
        log.critical("the market cannot go on: %s", error)
        control.stop()
        raise HttpError(503, f"The practice broker is stopping: {cause}") from cause


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)


def _folder(control: Control) -> Path:
    return control.options.data / CHECKPOINTS


def _path(control: Control, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise invalid_value("name", ": use letters, digits, dot, hyphen and underscore")
    return _folder(control) / f"{name}.sqlite3"
