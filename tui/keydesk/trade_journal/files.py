"""Where the files of an account's journal are. A module of its own: the desk knows them before it loads the journal."""

import json
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keydesk_client.auth.private_files import private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

MAX_BYTES = 1_000  # bytes


class JournalFiles(Struct, frozen=True):
    """The files of an account's journal, the same for desk and command line."""

    records: Path
    notes: Path
    screens: Path  # a folder

    @classmethod
    def of(cls, folder: Path, records: str) -> "JournalFiles":
        """Return the files in a folder by the name of the account's records: those of the account that was open last."""
        first, last = _opened(folder, records)
        return cls._named(folder, records if first == last else f"{records}@{last}")

    @classmethod
    def of_account(cls, folder: Path, records: str, created_ns: int) -> "JournalFiles":
        """Return the files of the account of a time of creation, and note that it is open.

        The first account of a name has the plain names. Later ones are those of replays of the practice market, whose
        trades have the same ids.
        """
        first, last = _opened(folder, records)
        if created_ns not in (0, last):
            first = first or created_ns
            content = json.dumps({"first": first, "last": created_ns}).encode()
            with suppress(OSError, UnsafeFile):  # the journal works without
                private_folder(folder)
                replace_file(_note(folder, records), content)
        name = records if created_ns in (0, first) else f"{records}@{created_ns}"
        return cls._named(folder, name)

    @classmethod
    def _named(cls, folder: Path, name: str) -> "JournalFiles":
        return cls(
            folder.parent / "records" / f"{name}.sqlite",
            folder / f"{name}.notes.jsonl",
            folder / f"{name}.screens",
        )


def _note(folder: Path, records: str) -> Path:
    return folder / f"{records}.accounts"


def _opened(folder: Path, records: str) -> tuple[int, int]:
    """Return when the first account of a name was created, and the one that was open last; 0 where none was."""
    with suppress(OSError, UnsafeFile, ValueError, KeyError, TypeError):
        members = json.loads(read_private(_note(folder, records), MAX_BYTES))
        return int(members["first"]), int(members["last"])
    return 0, 0
