"""The ledgers that are kept beside the one in use: list, name and delete them, and put one of them in its place.

A ledger that is left for a replay is kept as `home.sqlite3`, so that the way back needs no record that could be lost. Every
other one is `ledger-NAME.sqlite3`, where NAME is the time at which it was left until somebody names it. A change of ledgers
is written to a file before its first step and removed after its last one; `undo_change` reads it, also at the start after
a kill, and brings back the ledger that was left.
"""

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_file import (
    FILE_NAME,
    check_copy,
    check_unused,
    move_ledger,
    path_by_time,
    remove_ledger,
    translated_errors,
)
from keydesk_practice.ledger.ledger_store import (
    HOME,
    KeptLedger,
    Source,
    check_new_name,
    named,
    unknown,
)
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger

CHECKPOINTS = "checkpoints"  # the folder
_PREFIX, _END = "ledger-", ".sqlite3"
_CHANGE = "ledger-change.json"


def kept_ledgers(folder: Path) -> list[KeptLedger]:
    """Return the kept ledgers, that of the account which was left for a replay first, then the newest first."""
    paths = sorted(
        folder.glob(f"{_PREFIX}*{_END}"), key=lambda one: (-one.stat().st_mtime_ns, one.name)
    )
    return [_kept(path) for path in (home_path(folder), *paths) if path.exists()]


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a kept ledger; raise `UnknownLedger`, which lists those that there are."""
    kept = named(kept_ledgers(folder), name)
    return home_path(folder) if kept.name == HOME else _path(folder, kept.name)


def name_ledger(folder: Path, name: str, new: str) -> None:
    """Give a kept ledger another name; raise `LedgerUnavailable` for one that cannot be used."""
    check_new_name(kept_ledgers(folder), name, new)
    move_ledger(path_of(folder, name), _path(folder, new))


def delete_ledger(folder: Path, name: str) -> None:
    """Delete a kept ledger for ever."""
    path = path_of(folder, name)
    with translated_errors(path):
        remove_ledger(path)


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


class FolderLedgerStore:
    """The kept ledgers and the checkpoints of a data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self) -> list[KeptLedger]:
        """Return the kept ledgers, that of the account which was left for a replay first, then the newest first."""
        return kept_ledgers(self._folder)

    def rename(self, name: str, new: str) -> None:
        """Give a kept ledger another name; raise `LedgerUnavailable` for one that cannot be used."""
        name_ledger(self._folder, name, new)

    def delete(self, name: str) -> None:
        """Delete a kept ledger for ever."""
        delete_ledger(self._folder, name)

    def checkpoints(self) -> list[str]:
        """Return the names of the checkpoints."""
        return sorted(path.stem for path in (self._folder / CHECKPOINTS).glob(f"*{_END}"))

    def save_checkpoint(self, ledger: LedgerInterface, name: str) -> None:
        """Copy the committed ledger; a checkpoint of the same name is replaced."""
        assert isinstance(ledger, SqliteLedger)  # noqa: S101 - the only one in a folder
        path = self._checkpoint(name)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        ledger.copy_to(path)

    def facts(self, source: Source) -> Mapping[str, str]:
        """Return the facts of a kept ledger or a checkpoint; raise `UnknownLedger`, which lists those that there are."""
        return facts_of(self._path(source))

    async def problem(self, source: Source) -> str | None:
        """Return what is damaged in it, None when nothing is."""
        try:
            problems = (await asyncio.to_thread(check_copy, self._path(source))).problems
        except LedgerUnavailable as error:
            return str(error)
        return problems[0] if problems else None

    @contextlib.contextmanager
    def change(
        self, ledger: LedgerInterface, source: Source | None, *, as_home: bool, keep: bool
    ) -> Iterator[LedgerInterface]:
        """Put another ledger in the place of the one in use, which is closed."""
        opened = None if source is None or source.is_checkpoint else self._path(source)
        ledger.close()
        left = set_ledger_aside(self._folder, as_home=as_home and keep, opened=opened)
        if source is not None and source.is_checkpoint:
            shutil.copyfile(self._path(source), self._folder / FILE_NAME)
            (self._folder / FILE_NAME).chmod(0o600)
        new = SqliteLedger.open(self._folder)
        try:
            yield new
        except BaseException:
            new.close()
            raise
        end_change(self._folder)
        if not keep:
            remove_ledger(left)

    def former(self) -> LedgerInterface:
        """Return the ledger that was in use before a change that failed."""
        undo_change(self._folder)
        return SqliteLedger.open(self._folder)

    def _path(self, source: Source) -> Path:
        if not source.is_checkpoint:
            return path_of(self._folder, source.name)
        path = self._checkpoint(source.name)
        if not path.exists():
            raise unknown(source, self.checkpoints())
        return path

    def _checkpoint(self, name: str) -> Path:
        return self._folder / CHECKPOINTS / f"{name}{_END}"


def _kept(path: Path) -> KeptLedger:
    name = path.name.removeprefix(_PREFIX).removesuffix(_END)
    return KeptLedger(name, path.stat().st_size, facts_of(path))


def _path(folder: Path, name: str) -> Path:
    return folder / f"{_PREFIX}{name}{_END}"
