"""Fixed trades in the journal of a practice account, for pictures: its files are written beforehand, nothing is read."""

import json
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.trade_journal.cache import CachedEvents, append_cache, mark_of
from keydesk_client.auth.private_files import replace_file
from support.year_of_trades import events_of_days, notes_of_days


def fill_journal(home: Path, days: int = 120, trades_a_day: int = 6) -> None:
    """Replace the events of the account whose journal was read once by those of so many days of trading."""
    [cache] = home.rglob("*.events")
    _, account, created, last_id, *_ = json.loads(mark_of(cache).read_text())
    events = tuple(events_of_days(days, trades_a_day))
    unread = CachedEvents(account, created)  # what is appended to it replaces the file
    append_cache(cache, unread, CachedEvents(account, created, last_id, events))
    noted = [
        {"trade": trade_id, "tags": list(note.tags), "setup": note.setup, "rating": note.rating}
        | {"mistake": note.mistake}
        for trade_id, note in notes_of_days(days, trades_a_day).items()
    ]
    notes = cache.with_name(f"{cache.stem}.notes.jsonl")
    replace_file(notes, "".join(f"{json.dumps(each)}\n" for each in noted).encode())
    excursions = cache.with_suffix(".excursions")
    replace_file(excursions, "".join(_excursions(events)).encode())


def _excursions(events: Sequence[Event]) -> Iterator[str]:
    """Yield lines of the file of excursions: each as far as its trade went, and a random way beyond."""
    rng = random.Random(5)
    for trade in rebuild(events).closed:
        if trade.initial_stop is None or trade.exit_price is None:
            continue
        r = abs(trade.entry_price - trade.initial_stop)
        moved = trade.exit_price - trade.entry_price
        gain = moved if trade.is_long else -moved
        adverse = max(-gain, r * Decimal(str(round(rng.betavariate(1.3, 3), 2))))
        favourable = max(gain, r * Decimal(str(round(rng.expovariate(1.6), 2))))
        line = [trade.id, trade.opened_ns, trade.closed_ns, str(adverse), str(favourable)]
        yield json.dumps(line, separators=(",", ":")) + "\n"
