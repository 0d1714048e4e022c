"""Fixed trades in the journal of a practice account, for pictures: the cache of its events is written beforehand."""

import json
from pathlib import Path

from keydesk.trade_journal.cache import CachedEvents, mark_of, write_cache
from keydesk_client.auth.private_files import replace_file
from support.year_of_trades import events_of_days, notes_of_days


def fill_journal(home: Path, days: int = 120, trades_a_day: int = 6) -> None:
    """Replace the events of the account whose journal was read once by those of so many days of trading."""
    [cache] = home.rglob("*.events")
    _, account, created, last_id, *_ = json.loads(mark_of(cache).read_text())
    events = tuple(events_of_days(days, trades_a_day))
    write_cache(cache, CachedEvents(account, created, last_id, events))
    noted = [
        {"trade": trade_id, "tags": list(note.tags), "setup": note.setup, "rating": note.rating}
        | {"mistake": note.mistake}
        for trade_id, note in notes_of_days(days, trades_a_day).items()
    ]
    notes = cache.with_name(f"{cache.stem}.notes.jsonl")
    replace_file(notes, "".join(f"{json.dumps(each)}\n" for each in noted).encode())
