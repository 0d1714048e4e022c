"""The ledgers that are kept beside the one in use: list, name and delete them, and put one of them in its place.

A ledger that is left for a replay is kept as `home.sqlite3`, so that the way back needs no record that could be lost. Every
other one is `ledger-NAME.sqlite3`, where NAME is the time at which it was left until somebody names it. A change of ledgers
is written to a file before its first step and removed after its last one; `undo_change` reads it, also at the start after
a kill, and brings back the ledger that was left.
"""

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.ledger_file import (
    FILE_NAME,
    check_unused,
    move_ledger,
    path_by_time,
    remove_ledger,
    translated_errors,
)

HOME = "home"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
NAME_HINT = "use 1 to 64 letters, digits, dots, hyphens and underscores"
_PREFIX, _END = "ledger-", ".sqlite3"
_CHANGE = "ledger-change.json"


class UnknownLedger(LedgerUnavailable):
    """No kept ledger has this name."""


@dataclass(frozen=True, slots=True)
class KeptLedger:
    """A kept ledger; its facts are empty where it cannot be read."""

    name: str
    path: Path
    size: int  # bytes
    facts: Mapping[str, str]


def kept_ledgers(folder: Path) -> list[KeptLedger]:
    """Return the kept ledgers, that of the account which was left for a replay first, then the newest first."""
    paths = [home_path(folder), *folder.glob(f"{_PREFIX}*{_END}")]
    found = [_kept(path) for path in paths if path.exists()]
    return sorted(found, key=lambda one: (one.name != HOME, -one.path.stat().st_mtime_ns, one.name))


def kept_ledger(folder: Path, name: str) -> KeptLedger:
    """Return a kept ledger; raise `UnknownLedger`, which lists those that there are."""
    for one in kept_ledgers(folder):
        if one.name == name:
            return one
    known = ", ".join(one.name for one in kept_ledgers(folder)) or "none is kept"
    raise UnknownLedger(f"there is no kept ledger {name!r}: {known}")


def name_ledger(folder: Path, name: str, new: str) -> None:
    """Give a kept ledger another name; raise `LedgerUnavailable` for one that cannot be used."""
    kept = kept_ledger(folder, name)
    if kept.name == HOME:
        raise LedgerUnavailable(
            f"{HOME!r} cannot be renamed: a replay goes back to it by this name"
        )
    if new == HOME or not NAME.fullmatch(new):
        raise LedgerUnavailable(f"invalid name {new!r}: {NAME_HINT}, other than {HOME!r}")
    path = _path(folder, new)
    if path.exists():
        raise LedgerUnavailable(f"there is a kept ledger {new!r} already: choose another name")
    move_ledger(kept.path, path)


def delete_ledger(folder: Path, name: str) -> None:
    """Delete a kept ledger for ever."""
    kept = kept_ledger(folder, name)
    with translated_errors(kept.path):
        remove_ledger(kept.path)


def home_path(folder: Path) -> Path:
    """Return the path of the ledger that was left for a replay."""
    return folder / f"{HOME}{_END}"


def facts_of(path: Path) -> dict[str, str]:
    """Return the facts of a ledger that no process has open, empty where it cannot be read."""
    with contextlib.suppress(sqlite3.Error, OSError):
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            return dict(connection.execute("SELECT name, value FROM facts").fetchall())
    return {}


def set_ledger_aside(folder: Path, *, as_home: bool = False, opened: Path | None = None) -> Path:
    """Keep the ledger of `folder` under another name, and put the kept one `opened` in its place; return the path it has now.

    The change is not complete before `end_change`. A former home makes room for another one.
    """
    if as_home and home_path(folder).exists():
        move_ledger(home_path(folder), path_by_time(folder))
    left = home_path(folder) if as_home else path_by_time(folder)
    members = {"left": left.name, "opened": None if opened is None else opened.name}
    check_unused(folder / FILE_NAME)
    descriptor = os.open(folder / _CHANGE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(members, file)
        file.flush()
        os.fsync(descriptor)
    move_ledger(folder / FILE_NAME, left)
    if opened is not None:
        move_ledger(opened, folder / FILE_NAME)
    return left


def end_change(folder: Path) -> None:
    """Note that the change of ledgers is complete."""
    (folder / _CHANGE).unlink(missing_ok=True)


def undo_change(folder: Path) -> bool:
    """Bring back the ledger that was left by a change that is not complete; return whether there was one."""
    path = folder / _CHANGE
    try:
        members = json.loads(path.read_text("utf-8"))
        left = folder / str(members["left"])
        opened = None if members["opened"] is None else folder / str(members["opened"])
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):  # killed while it was written: nothing moved
        path.unlink(missing_ok=True)
        return False
    if left.exists():
        if opened is not None and not opened.exists():
            move_ledger(folder / FILE_NAME, opened)
        else:
            remove_ledger(folder / FILE_NAME)
        move_ledger(left, folder / FILE_NAME)
    end_change(folder)
    return True


def _kept(path: Path) -> KeptLedger:
    name = path.name.removeprefix(_PREFIX).removesuffix(_END)
    return KeptLedger(name, path, path.stat().st_size, facts_of(path))


def _path(folder: Path, name: str) -> Path:
    return folder / f"{_PREFIX}{name}{_END}"
