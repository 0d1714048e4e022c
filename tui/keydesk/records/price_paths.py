"""The table of the price paths of closed trades. It may be emptied at any time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from keydesk.calc.trade_journal.price_paths import PricePath
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.database import Database
from keydesk.records.errors import DamagedRecords
from keydesk.records.json_text import JsonText

_paths = JsonText(PricePath)


class KeptPaths(Mapping[str, PricePath]):
    """The paths of some trades: kept ones are read where they are looked up, others are held."""

    def __init__(
        self, database: Database, kept: Iterable[str], held: Mapping[str, PricePath] | None = None
    ) -> None:
        self._database, self._kept, self._held = database, set(kept), dict(held or {})

    @classmethod
    def of(cls, database: Database, trades: Sequence[JournalTrade]) -> "KeptPaths":
        """Return those that are kept of some trades: after a reset another trade may have an id."""
        with database.snapshot() as connection:
            query = "SELECT trade, opened_ns, closed_ns FROM price_paths"
            kept = {id_: (opened, closed) for id_, opened, closed in connection.execute(query)}
        own = (each for each in trades if kept.get(each.id) == (each.opened_ns, each.closed_ns))
        return cls(database, (each.id for each in own))

    def __getitem__(self, trade_id: str) -> PricePath:
        """Return the path of a trade."""
        if trade_id in self._held:
            return self._held[trade_id]
        if trade_id not in self._kept:
            raise KeyError(trade_id)
        query = "SELECT path FROM price_paths WHERE trade = ?"
        with self._database.snapshot() as connection:
            found = connection.execute(query, (trade_id,)).fetchone()
        try:
            return _paths.read("" if found is None else found[0])
        except DamagedRecords as error:
            where = self._database.path or "memory"
            raise DamagedRecords(f"{where}: the price path of trade {trade_id}") from error

    def __contains__(self, trade_id: object) -> bool:
        """Return whether a path is known, without reading it."""
        return trade_id in self._held or trade_id in self._kept

    def __iter__(self) -> Iterator[str]:
        """Yield the trades whose path is known."""
        return iter({*self._held, *self._kept})

    def __len__(self) -> int:
        """Return how many paths are known."""
        return len(self._held.keys() | self._kept)

    def as_known_now(self) -> "KeptPaths":
        """Return the same paths, to which later ones are not added."""
        return KeptPaths(self._database, self._kept, self._held)

    def hold(self, trade_id: str, path: PricePath) -> None:
        """Take a path that is not kept, since it may still grow."""
        self._held[trade_id] = path

    def keep(self, paths: Sequence[tuple[JournalTrade, PricePath]]) -> None:
        """Write paths, in a thread."""
        rows = [
            (trade.id, trade.opened_ns, trade.closed_ns, _paths.write(path))
            for trade, path in paths
        ]
        with self._database.change() as connection:
            connection.executemany("INSERT OR REPLACE INTO price_paths VALUES (?, ?, ?, ?)", rows)
        self._kept.update(trade.id for trade, _ in paths)
