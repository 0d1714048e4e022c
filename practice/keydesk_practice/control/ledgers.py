"""Change the ledger in use, and list, open, name and delete the kept ones."""

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.clock import COARSE_STEP
from keydesk_practice.broker.replay import load_replay, stored_overlay
from keydesk_practice.broker.startup import (
    change_model,
    present_time,
    restore_sessions,
    time_left,
)
from keydesk_practice.control.clock import settle
from keydesk_practice.control.context import Control, ledger_state
from keydesk_practice.control.records import (
    LedgerName,
    Ledgers,
    NoMembers,
    RenameLedger,
    State,
)
from keydesk_practice.errors import LedgerUnavailable, PracticeError
from keydesk_practice.http.errors import HttpError
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.kept_ledgers import (
    HOME,
    UnknownLedger,
    delete_ledger,
    end_change,
    facts_of,
    home_path,
    kept_ledger,
    kept_ledgers,
    name_ledger,
    set_ledger_aside,
    undo_change,
)
from keydesk_practice.ledger.ledger import Ledger
from keydesk_practice.ledger.ledger_file import check_copy, remove_ledger

_BEGUN = "replays_begun"  # the ledger's fact with the number of replays that were begun and kept, in all its ledgers
log = logging.getLogger("keydesk.practice.control")


@dataclass(frozen=True, slots=True)
class Change:
    """A change to another ledger.

    `fill` makes the new one ready, or goes on with the one that took its place: a kept one that is `opened`, or a copy that
    `place` puts there. With `as_home` a replay can go back to the one that is left.
    """

    fill: Callable[[Ledger], None]
    opened: Path | None = None
    place: Callable[[], None] = lambda: None
    as_home: bool = False
    begins_replay: bool = False


async def list_ledgers(control: Control, _: NoMembers) -> Ledgers:
    """List the kept ledgers."""
    return ledgers_in(control.options.data)


async def open_ledger(control: Control, request: LedgerName) -> State:
    """Go on with a kept ledger where it was left, paused; the present one is kept."""
    with _refusals():
        kept = kept_ledger(control.options.data, request.name)
        problems = check_copy(kept.path).problems
    if problems:
        raise HttpError(
            409, f"The ledger {kept.name!r} is damaged, and nothing is changed: {problems[0]}"
        )
    _check_seed(control, kept.facts.get("seed"), kept.name)
    as_home = "replay" in kept.facts and not is_replay(control.broker)
    going_on = partial(go_on_with, control.broker)
    await change_ledger(control, Change(going_on, opened=kept.path, as_home=as_home))
    return control.state()


async def rename_ledger(control: Control, request: RenameLedger) -> Ledgers:
    """Give a kept ledger another name."""
    with _refusals():
        name_ledger(control.options.data, request.name, request.new_name)
    return ledgers_in(control.options.data)


async def remove_kept_ledger(control: Control, _: NoMembers, name: str) -> Ledgers:
    """Delete a kept ledger for ever."""
    if name == HOME and is_replay(control.broker):
        raise HttpError(409, f"{HOME!r} is what this replay goes back to: go back first")
    with _refusals():
        delete_ledger(control.options.data, name)
    return ledgers_in(control.options.data)


def ledgers_in(data: Path) -> Ledgers:
    """Return the kept ledgers of a data folder."""
    return Ledgers(ledgers=tuple(map(ledger_state, kept_ledgers(data))))


async def go_home(control: Control, speed: float) -> None:
    """Open the accounts that were left for a replay, and let their market run up to the present and on."""
    home = home_path(control.options.data)
    _check_seed(control, facts_of(home).get("seed"), HOME)
    await change_ledger(control, Change(partial(go_on_with, control.broker), opened=home))
    await catch_up(control, speed)


async def catch_up(control: Control, speed: float) -> None:
    """Let the market run up to the present, by the steps of a start after a pause, and on."""
    await settle(control)
    broker, options = control.broker, control.options
    await broker.advance(present_time(options, broker.now()), COARSE_STEP)
    broker.commits.flush()
    broker.clock.set(present_time(options, broker.now()))  # what the steps took
    broker.clock.play(speed)


def is_replay(broker: Broker) -> bool:
    """Return whether the ledger in use is that of a replay."""
    return load_replay(broker.ledger) is not None


def go_on_with(broker: Broker, ledger: Ledger) -> None:
    """Go on with a ledger where it was left, with its accounts."""
    broker.earlier_model = change_model(ledger)
    broker.adopt_ledger(ledger, time_left(ledger), stored_overlay(ledger))
    restore_sessions(broker)


def replays_begun(ledger: LedgerInterface) -> int:
    """Return how many replays were begun and kept: added to the start of the next one, it tells its accounts from theirs."""
    return int(ledger.fact(_BEGUN) or 0)


async def change_ledger(control: Control, change: Change, *, keep: bool = True) -> None:
    """Change the ledger, in one iteration of the event loop; streams end, and clients read the accounts anew.

    When it fails half-way the market goes on with the former ledger, paused. The broker stops when that fails, too.
    """
    if control.options.ledger is not None:
        raise HttpError(409, "The ledger on PostgreSQL is the only one")
    await settle(control)
    broker, data = control.broker, control.options.data
    broker.end_streams()
    broker.save_state()
    begun = replays_begun(broker.ledger) + change.begins_replay
    broker.ledger.close()
    try:
        left = set_ledger_aside(data, as_home=change.as_home and keep, opened=change.opened)
        change.place()
        _use(data, change.fill)
        broker.commits.flush()
        broker.ledger.set_fact(_BEGUN, str(max(begun, replays_begun(broker.ledger))))
        end_change(data)
    except (PracticeError, OSError, sqlite3.Error) as error:
        broker.ledger.close()
        _go_back(control, error)
        raise HttpError(503, f"Nothing is changed, and the market is paused: {error}") from error
    if not keep:
        remove_ledger(left)
    control.interface.restart_request_ids(broker.now())


def _use(data: Path, fill: Callable[[Ledger], None]) -> None:
    ledger = Ledger.open(data)
    try:
        fill(ledger)
    except BaseException:
        ledger.close()
        raise


def _go_back(control: Control, cause: Exception) -> None:
    """Go on with the former ledger; raise a 503 `HttpError` when that is not possible."""
    data = control.options.data
    try:
        undo_change(data)
        _use(data, partial(go_on_with, control.broker))
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
def _refusals() -> Iterator[None]:
    """Raise what a kept ledger cannot do as an `HttpError`: 404 when there is none of the name, else 409."""
    try:
        yield
    except UnknownLedger as error:
        raise HttpError(404, str(error)) from error
    except LedgerUnavailable as error:
        raise HttpError(409, str(error)) from error
