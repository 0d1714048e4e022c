"""The text of the screen at entry and exit of a trade, one private file for each, bounded in number and size.

The account's number is replaced by its last four characters. A file of a trade that had the same id before the account
began anew is recognized by its time.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from keydesk.text.sanitize import SafeText, clean
from keydesk_client.auth.private_files import private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.calc.trade_journal.trades import JournalTrade

Moment = Literal["entry", "exit"]
MAX_FILES = 400
MAX_BYTES = 200_000
MAX_ROWS, MAX_COLUMNS = 200, 400
LAST = 4  # characters of the account's number that stay
LEAST_MASKED = 8  # characters of a number that is cut off at the edge of a pane
CLOSE_NS = 60_000_000_000  # a screen further from its trade's fill belongs to another trade
NAME = re.compile(r"([0-9A-Za-z]{1,24})\.(entry|exit)\.txt")
UNREADABLE = (OSError, UnsafeFile, ValueError)


class KeptScreen(Struct, frozen=True):
    """The screen at a fill."""

    trade_id: str
    moment: Moment
    time_ns: int
    lines: tuple[SafeText, ...]

    def is_of(self, trade: "JournalTrade") -> bool:
        """Return whether it was kept at a fill of this trade."""
        fills = trade.entries if self.moment == "entry" else trade.exits
        return any(abs(each.time_ns - self.time_ns) < CLOSE_NS for each in fills)


def write_screen(folder: Path, screen: KeptScreen, account_id: str) -> None:
    """Write a screen; the oldest beyond the bound are removed. Where that fails, it is not kept."""
    lines = [masked(each, account_id)[:MAX_COLUMNS] for each in screen.lines[:MAX_ROWS]]
    text = "\n".join([str(screen.time_ns), *lines]) + "\n"
    name = f"{screen.trade_id}.{screen.moment}.txt"
    with suppress(*UNREADABLE):
        if NAME.fullmatch(name) and len(text.encode()) <= MAX_BYTES:
            private_folder(folder.parent)
            private_folder(folder)
            replace_file(folder / name, text.encode())
            _remove_oldest(folder)


def _remove_oldest(folder: Path) -> None:
    files = [each for each in folder.iterdir() if NAME.fullmatch(each.name)]
    files.sort(key=lambda each: each.stat().st_mtime_ns)
    for each in files[: max(0, len(files) - MAX_FILES)]:
        each.unlink(missing_ok=True)


def masked(text: str, account_id: str) -> str:
    """Return text in which the account's number, also one that is cut off, is replaced by its last four characters."""
    hidden = f"…{account_id[-LAST:]}"
    text = text.replace(account_id, f"{hidden:<{len(account_id)}}")
    for size in range(len(account_id) - 1, LEAST_MASKED - 1, -1):
        if account_id[:size] in text:
            text = text.replace(account_id[:size], f"{hidden:<{size}}")
    return text


def read_screens(folder: Path, trade: "JournalTrade") -> Sequence[KeptScreen]:
    """Return the kept screens of a trade, entry before exit; what cannot be read is left out."""
    screens = []
    for moment in get_args(Moment):
        name = f"{trade.id}.{moment}.txt"
        with suppress(*UNREADABLE):
            if NAME.fullmatch(name):
                head, *lines = read_private(folder / name, MAX_BYTES).decode().split("\n")
                shown = tuple(clean(each, MAX_COLUMNS) for each in lines[:MAX_ROWS])
                screen = KeptScreen(trade.id, moment, int(head), shown)
                screens += [screen] if screen.is_of(trade) else []
    return screens


def trades_with_screens(folder: Path) -> frozenset[str]:
    """Return the ids of trades of which a screen is kept."""
    with suppress(OSError):
        return frozenset(_ids(each.name for each in folder.iterdir()))
    return frozenset()


def _ids(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if match := NAME.fullmatch(name):
            yield match[1]
