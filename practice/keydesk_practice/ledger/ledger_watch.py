"""Notices that the ledger's file was removed, replaced or cut short while the broker writes to it.

SQLite goes on writing to a file that has lost its name; what it acknowledges then is gone with the process.
"""

from pathlib import Path

from keydesk_practice.ledger.ledger_file import FILE_NAME

Identity = tuple[int, int]  # device and inode


class LedgerWatch:
    """What the files of an open ledger were when they were first seen."""

    def __init__(self, folder: Path) -> None:
        self._ledger = folder / FILE_NAME
        self._log = folder / f"{FILE_NAME}-wal"  # made by the first commit
        self._known: dict[Path, Identity] = {}
        self._size = 0
        self.problem()

    def problem(self) -> str | None:
        """Return what happened to the files since they were opened, in words; None while they are as they were."""
        for file in (self._ledger, self._log):
            try:
                found = file.stat()
            except FileNotFoundError:
                if file in self._known:
                    return f"{file} was removed while the broker runs"
                continue
            except OSError as error:
                return f"{file} cannot be looked at: {error.strerror}"
            identity = (found.st_dev, found.st_ino)
            if self._known.setdefault(file, identity) != identity:
                return f"{file} was replaced while the broker runs"
            if file == self._ledger:
                if found.st_size < self._size:  # SQLite never makes it smaller
                    return f"{file} was cut short while the broker runs"
                self._size = found.st_size
        return None
