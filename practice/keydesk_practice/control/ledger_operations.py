"""Change the ledger in use, and list, open, name and delete the kept ones."""

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.market_clock import COARSE_STEP
from keydesk_practice.broker.market_time import present_time, time_left, time_shown
from keydesk_practice.broker.replay_facts import load_replay, stored_overlay
from keydesk_practice.broker.startup import change_model, restore_sessions
from keydesk_practice.control.bodies import (
    LedgerName,
    Ledgers,
    NoMembers,
    RenameLedger,
    State,
)
from keydesk_practice.control.clock_operations import settle
from keydesk_practice.control.context import Control, ledger_state
from keydesk_practice.errors import LedgerUnavailable, LedgerUnreachable, PracticeError
from keydesk_practice.http.error_responses import HttpError
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_store import (
    HOME,
    HOME_IN_USE,
    LedgerStore,
    Source,
    UnknownLedger,
)

_BEGUN = "replays_begun"  # the ledger's fact with the number of replays that were begun and kept, in all its ledgers
log = logging.getLogger("keydesk.practice.control")


class Change(Struct, frozen=True):
    """A change to another ledger.

    `fill` makes a new one ready, or goes on with the `source` that took its place. With `as_home` a replay can go back to the
    one that is left.
    """

    fill: Callable[[LedgerInterface], None]
    source: Source | None = None
    as_home: bool = False
    begins_replay: bool = False


async def list_ledgers(control: Control, _: NoMembers) -> Ledgers:
    """List the kept ledgers."""
    return ledgers_of(control.store)


async def open_ledger(control: Control, request: LedgerName) -> State:
    """Go on with a kept ledger where it was left, paused; the present one is kept."""
    await open_source(control, Source(request.name))
    return control.state()


async def open_source(control: Control, source: Source) -> None:
    """Go on with a kept ledger or a checkpoint, unless it is damaged or of another market."""
    with refusals():
        facts = control.store.facts(source)
    if problem := await control.store.problem(source):
        raise HttpError(
            409,
            f"The {source.kind} {source.name!r} is damaged, and nothing is changed: {problem}",
        )
    _check_seed(control, facts.get("seed"), source.name)
    as_home = "replay" in facts and not is_replay(control.broker)
    change = Change(partial(go_on_with, control.broker), source, as_home=as_home)
    await change_ledger(control, change)


async def rename_ledger(control: Control, request: RenameLedger) -> Ledgers:
    """Give a kept ledger another name."""
    with refusals():
        control.store.rename(request.name, request.new_name)
    return ledgers_of(control.store)


async def remove_kept_ledger(control: Control, _: NoMembers, name: str) -> Ledgers:
    """Delete a kept ledger for ever."""
    if name == HOME and is_replay(control.broker):
        raise HttpError(409, HOME_IN_USE)
    with refusals():
        control.store.delete(name)
    return ledgers_of(control.store)


def ledgers_of(store: LedgerStore) -> Ledgers:
    """Return the kept ledgers."""
    return Ledgers(ledgers=tuple(map(ledger_state, store.kept())))


def has_home(control: Control) -> bool:
    """Return whether accounts were left for a replay."""
    return any(one.name == HOME for one in control.store.kept())


async def go_home(control: Control, speed: float) -> None:
    """Open the accounts that were left for a replay, and let their market run up to the present and on."""
    home = Source(HOME)
    _check_seed(control, control.store.facts(home).get("seed"), HOME)
    await change_ledger(control, Change(partial(go_on_with, control.broker), home))
    await catch_up(control, speed)


async def catch_up(control: Control, speed: float) -> None:
    """Let the market run up to the present, by the steps of a start after a pause, and on."""
    await settle(control)
    broker, options = control.broker, control.options
    await broker.advance(present_time(options, broker.ledger, broker.now()), COARSE_STEP)
    broker.commits.flush()
    broker.clock.set(present_time(options, broker.ledger, broker.now()))  # what the steps took
    broker.play(speed)


def is_replay(broker: Broker) -> bool:
    """Return whether the ledger in use is that of a replay."""
    return load_replay(broker.ledger) is not None


def go_on_with(broker: Broker, ledger: LedgerInterface) -> None:
    """Go on with a ledger where it was left, with its accounts."""
    broker.earlier_model = change_model(ledger)
    broker.adopt_ledger(ledger, time_left(ledger), stored_overlay(ledger))
    restore_sessions(broker)
    if (shown := time_shown(ledger)) > broker.now():  # its broker was killed
        broker.clock.set(shown)
        broker.catch_up()


def replays_begun(ledger: LedgerInterface) -> int:
    """Return how many replays were begun and kept: added to the start of the next one, it tells its accounts from theirs."""
    return int(ledger.fact(_BEGUN) or 0)


async def change_ledger(control: Control, change: Change, *, keep: bool = True) -> None:
    """Change the ledger, in one iteration of the event loop; streams end, and clients read the accounts anew.

    When it fails half-way the market goes on with the former ledger, paused. The broker stops when that fails, too.
    """
    await settle(control)
    broker = control.broker
    broker.end_streams()
    broker.save_state()
    begun = replays_begun(broker.ledger) + change.begins_replay
    try:
        with control.store.change(
            broker.ledger, change.source, as_home=change.as_home, keep=keep
        ) as ledger:
            change.fill(ledger)
            broker.commits.flush()
            ledger.set_fact(_BEGUN, str(max(begun, replays_begun(ledger))))
    except (PracticeError, OSError, sqlite3.Error) as error:
        _go_back(control, error)
        raise HttpError(503, f"Nothing is changed, and the market is paused: {error}") from error
    control.interface.restart_request_ids(broker.now())


def _go_back(control: Control, cause: Exception) -> None:
    """Go on with the former ledger; raise a 503 `HttpError` when that is not possible."""
    try:
        go_on_with(control.broker, control.store.former())
    except LedgerUnreachable:  # another broker may serve it by now
        control.broker.commits.on_failure()
        raise cause from None
    except (PracticeError, OSError, sqlite3.Error) as error:
        log.critical("the market cannot go on: %s", error)
        control.stop()
        raise HttpError(503, f"The practice broker is stopping: {cause}") from cause


def _check_seed(control: Control, seed: str | None, name: str) -> None:
    """Raise a 409 `HttpError` for a ledger of another market than this broker has."""
    if seed is not None and seed != control.broker.ledger.fact("seed"):
        raise HttpError(
            409,
            f"The ledger {name!r} belongs to the market of seed {seed}: stop this broker, open it with "
            f"`keydesk practice ledgers open {name}`, and start again",
        )


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Raise what a kept ledger cannot do as an `HttpError`: 404 when there is none of the name, else 409."""
    try:
        yield
    except UnknownLedger as error:
        raise HttpError(404, str(error)) from error
    except LedgerUnavailable as error:
        raise HttpError(409, str(error)) from error
