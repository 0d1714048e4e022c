"""Two-key commands, such as `g` `t`: which key may follow the first one, and the state between the two."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from keydesk.keys.keymap import DIGITS, ROWS, SHOWN, KeyMap
from keydesk.text.sanitize import Printable, safe

# For the footer; a chord without a word shows its sentence.
WORDS: Mapping[str, Printable] = {
    "timeframes": "timeframe",
    "go-watchlist": "watchlist",
    "go-chart": "chart",
    "go-trades": "trades",
    "go-orders": "orders",
    "go-positions": "positions",
    "go-books": "books",
    "go-log": "log",
    "sessions": "hours",
    "account-page": "account",
    "exposure-page": "exposure",
    "instrument-page": "instrument",
    "outcomes": "outcomes",
    "journal": "journal",
    "statistics": "statistics",
    "day-page": "day",
    "limits": "limits",
    "alerts": "alerts",
    "jump": "bookmark or layout",
    "bookmark": "bookmarks the instrument",
    "copy-row": "row",
    "copy-id": "id",
    "copy-pane": "pane",
    "page-copy": "copies the page",
    "replay-status": "status",
    "replay-pause": "pause/play",
    "replay-step": "candle",
    "replay-faster": "faster",
    "replay-slower": "slower",
    "replay-jump": "jump",
    "replay-random": "random",
    "replay-blind": "blind",
    "replay-scenario": "scenario",
    "replay-present": "present",
    "replay-finish": "finish",
    "replay-shock": "shock",
    "replay-faults": "faults",
    "replay-deposit": "deposit",
    "replay-withdraw": "withdraw",
    "replay-save": "checkpoint",
    "replay-restore": "back to one",
    "top": "first row",
    "bottom": "last row",
    "table-again": "sort now",
    "table-live": "held/live",
    "table-filter": "filter",
    "table-whole": "every row",
    "sort-again": "sort now",
    "sort-live": "held/live",
    "list-next": "next list",
    "list-number": "list",
    "list-remove": "remove",
    "list-down": "row down",
    "list-up": "row up",
    "list-new": "new list",
    "list-rename": "rename",
    "list-columns": "columns",
    "list-held": "own only",
    "list-open": "open only",
    "list-whole": "every row",
    "newest": "now",
    "chart-pin": "pin",
    "chart-book-older": "before",
    "chart-book-newer": "after",
    "chart-book-newest": "newest",
    "books-newest": "now",
    "journal-whole": "every trade",
}


class Continuation(Struct, frozen=True):
    """A key that may follow the first one of a chord."""

    id: str
    key: Printable  # as it is written; "1-9" and "a-z" stand for several
    word: Printable  # for the footer
    text: Printable  # the sentence of the help


def continuations(keymap: KeyMap, context: str, first: str) -> Sequence[Continuation]:
    """Return what may follow the first key of a chord in a context: the pane's own first, moving among rows last."""
    rows = []
    for entry in sorted(keymap.with_chords(context), key=lambda entry: entry.context == ROWS):
        seconds = [key.split()[1] for key in entry.keys if key.startswith(f"{first} ")]
        if seconds:
            names = [SHOWN.get(key, key) for key in seconds]
            several = len(names) >= DIGITS - 1
            shown = f"{names[0]}-{names[-1]}" if several else " ".join(names)
            word = WORDS.get(entry.id) or safe(entry.hint or entry.text)
            rows.append(Continuation(entry.id, safe(shown), word, safe(entry.text)))
    return rows


class Chords(Struct):
    """Holds the first key of a chord until the second one comes; the screen shows meanwhile what may follow."""

    keymap: KeyMap
    first: str = ""

    def key(self, key: str, context: str) -> str | None:
        """Return the action of a complete chord, "" for a key that is consumed, None for any other key.

        A capital that ends no chord has its own meaning: the first key of a chord never swallows an exit.
        """
        first, self.first = self.first, ""
        if first:
            action = self.keymap.chord(context, first, key)
            return None if action is None and _is_capital(key) else action or ""
        if key in self.keymap.prefixes(context):
            self.first = key
            return ""
        return self.keymap.lone(context, key)


def _is_capital(key: str) -> bool:
    return len(key) == 1 and key.isascii() and key.isupper()
