"""The audit log: every decision at the keys and what became of it, appended as a JSON line, for its owner only."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

from keydesk.text.sanitize import clean

LONGEST = 2000  # characters of one entry


@dataclass(slots=True)
class AuditLog:
    """An append-only file, mode 0600; a full disk never stands before an exit."""

    path: Path
    wall_ns: Callable[[], int] = time_ns
    failed: str = field(default="", init=False)  # why the last write failed

    def write(self, what: str, words: str) -> None:
        """Append one entry."""
        entry = {"time_ns": self.wall_ns(), "what": what, "words": clean(words, LONGEST)}
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            self.failed = f"{error.strerror}: {self.path}"
        else:
            self.failed = ""
