"""Where the files of an account's journal are. A module of its own: the desk knows them before it loads the journal."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class JournalFiles:
    """The files of an account's journal, the same for desk and command line."""

    events: Path
    excursions: Path
    notes: Path
    screens: Path  # a folder

    @classmethod
    def of(cls, folder: Path, records: str) -> "JournalFiles":
        """Return the files in a folder by the name of the account's records."""
        return cls(
            folder / f"{records}.events",
            folder / f"{records}.excursions",
            folder / f"{records}.notes.jsonl",
            folder / f"{records}.screens",
        )
