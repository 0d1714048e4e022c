"""The messages to the trader, kept over a restart: a bounded file of JSON lines for each account."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import get_args

from msgspec import Struct

from keydesk.store.state import Notice, NoticeLevel
from keydesk.store.store import NOTICE_LIMIT
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean
from keydesk.trading.line_file import LineFile, newest_text

MAX_BYTES = 128_000  # more than the limit of messages
OLD_FILES = 1
MAX_LENGTH = 600  # characters of a message


class MessageLog(Struct):
    """Appends messages; an error of the disk is kept in `failed`, and nothing is shown less for it."""

    path: Path
    redact: Callable[[str], str] = str  # returns text without the account's token
    failed: str = ""

    def write(self, messages: Iterable[Notice]) -> None:
        """Append messages in one write."""
        lines = [
            json.dumps(
                {
                    "time_ns": each.time_ns,
                    "level": each.level,
                    "ledger": each.ledger or 0,
                    "text": clean(self.redact(each.text), MAX_LENGTH),
                }
            )
            for each in messages
        ]
        try:
            LineFile(self.path, MAX_BYTES, OLD_FILES).append("\n".join((*lines, "")).encode())
        except OSError as error:
            self.failed = file_trouble(error, self.path)


def read_messages(path: Path) -> list[Notice]:
    """Return the newest messages, newest last; lines that cannot be read are skipped, and so is a file that cannot."""
    try:
        text = newest_text(path, MAX_BYTES)
    except OSError:
        return []
    return list(_messages(text))[-NOTICE_LIMIT:]


def _messages(text: bytes) -> Iterator[Notice]:
    levels = get_args(NoticeLevel)
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            members = json.loads(line)
            time, level = members["time_ns"], members["level"]
            ledger = members.get("ledger", 0)
            if isinstance(time, int) and isinstance(ledger, int) and level in levels:
                words = clean(str(members["text"]), MAX_LENGTH)
                yield Notice(level, words, time, seen=True, ledger=ledger)
