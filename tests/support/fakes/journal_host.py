"""What the pages of the journal ask for, kept instead of done."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.journal.trades import JournalForm


@dataclass
class JournalHost:
    """Notes what was asked for."""

    reads: int = 0
    whole_reads: int = 0
    looks: int = 0
    excursions: list[list[str]] = field(default_factory=list)
    filter_text: str = ""
    shown: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    excursion_of: list[str] = field(default_factory=list)
    candles_of: list[str] = field(default_factory=list)
    screens: frozenset[str] = frozenset()

    def read(self) -> None:
        self.reads += 1

    def read_whole(self) -> None:
        self.whole_reads += 1

    def reread_notes(self) -> None:
        self.looks += 1

    def read_excursions(self, ids: Sequence[str]) -> None:
        self.excursions.append(list(ids))

    def ask_filter_text(self, form: JournalForm) -> None:
        form.show_only(self.filter_text)

    def show_trade(self, trade_id: str) -> None:
        self.shown.append(trade_id)

    def write_note(self, trade_id: str) -> None:
        self.noted.append(trade_id)

    def with_screens(self) -> frozenset[str]:
        return self.screens

    def read_candles(self, trade: JournalTrade, _take: object) -> None:
        self.candles_of.append(trade.id)

    def read_excursion(self, trade: JournalTrade) -> None:
        self.excursion_of.append(trade.id)

    def read_kept(self, trade: JournalTrade, take: object) -> None:
        """Nothing is kept here."""
