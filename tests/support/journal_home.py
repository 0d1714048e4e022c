"""Fixed trades in the journal of a practice account, for pictures: its files are written beforehand, nothing is read."""

import json
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.records.excursions import KeptExcursion, write_excursions
from keydesk.records.journal import JournalRecords
from keydesk_client.auth.private_files import replace_file
from support.year_of_trades import events_of_days, notes_of_days


def fill_journal(home: Path, days: int = 120, trades_a_day: int = 6) -> None:
    """Replace the trades of the account whose journal was read once by those of so many days of trading."""
    [path] = home.rglob("records/*.sqlite")
    records, events = JournalRecords(path), tuple(events_of_days(days, trades_a_day))
    kept = records.kept()
    records.begin_part(kept.account_id, kept.created_ns, 0)
    records.add(kept._replace(last_id=0), kept.last_id, events)
    noted = [
        {"trade": trade_id, "tags": list(note.tags), "setup": note.setup, "rating": note.rating}
        | {"mistake": note.mistake}
        for trade_id, note in notes_of_days(days, trades_a_day).items()
    ]
    notes = path.parent.parent / "journal" / f"{path.stem}.notes.jsonl"
    notes.parent.mkdir(mode=0o700, exist_ok=True)
    replace_file(notes, "".join(f"{json.dumps(each)}\n" for each in noted).encode())
    with records.database.change() as connection:
        write_excursions(connection, dict(_excursions(events)))
    records.database.close()


def _excursions(events: Sequence[Event]) -> Iterator[tuple[str, KeptExcursion]]:
    """Yield excursions by trade: each as far as its trade went, and a random way beyond."""
    rng = random.Random(5)
    for trade in rebuild(events).closed:
        if trade.initial_stop is None or trade.exit_price is None:
            continue
        r = abs(trade.entry_price - trade.initial_stop)
        moved = trade.exit_price - trade.entry_price
        gain = moved if trade.is_long else -moved
        adverse = max(-gain, r * Decimal(str(round(rng.betavariate(1.3, 3), 2))))
        favourable = max(gain, r * Decimal(str(round(rng.expovariate(1.6), 2))))
        closed = trade.closed_ns or 0
        yield trade.id, KeptExcursion(trade.opened_ns, closed, adverse, favourable)
