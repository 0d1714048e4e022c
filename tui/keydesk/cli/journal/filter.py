"""The filter of trades, and the what-if rule, that the options of `keydesk journal` make."""

import argparse
from collections.abc import Iterable, Mapping

from msgspec import Struct

from keydesk.calc.trade_journal.notes import NO_NOTE, TradeNote
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.calc.trade_journal.what_if import WhatIf


class TradeFilter(Struct, frozen=True):
    """Criteria for trades; None and empty ones do not filter. Times are those of the closing, else of the opening."""

    from_ns: int | None = None
    to_ns: int | None = None
    instrument: str = ""
    side: str = ""  # "long" or "short"
    outcome: str = ""  # "win" or "loss"
    tag: str = ""
    setup: str = ""
    rating: int | None = None
    text: str = ""  # in a note, a mistake, a tag or a comment
    with_open: bool = False

    def takes(self, trade: JournalTrade, note: TradeNote = NO_NOTE) -> bool:
        """Return whether a trade is among those."""
        return self._takes_trade(trade) and self._takes_note(trade, note)

    def _takes_trade(self, trade: JournalTrade) -> bool:
        at = trade.opened_ns if trade.closed_ns is None else trade.closed_ns
        return (
            (trade.is_closed or self.with_open)
            and (self.from_ns is None or at >= self.from_ns)
            and (self.to_ns is None or at < self.to_ns)
            and self.instrument in {"", trade.instrument}
            and self.side in {"", "long" if trade.is_long else "short"}
            and (self.outcome != "win" or trade.result > 0)
            and (self.outcome != "loss" or trade.result < 0)
        )

    def _takes_note(self, trade: JournalTrade, note: TradeNote) -> bool:
        words = (note.note, note.mistake, note.setup, *note.tags, trade.tag, trade.comment)
        return (
            self.tag.lower() in {"", *note.tags, trade.tag.lower()}
            and self.setup.lower() in {"", note.setup.lower()}
            and self.rating in {None, note.rating}
            and (not self.text or any(self.text.lower() in each.lower() for each in words))
        )


def chosen(
    trades: Iterable[JournalTrade], filter_: TradeFilter, notes: Mapping[str, TradeNote]
) -> list[JournalTrade]:
    """Return the trades that a filter takes, in their order."""
    return [each for each in trades if filter_.takes(each, notes.get(each.id, NO_NOTE))]


def rule_of(options: argparse.Namespace) -> WhatIf:
    """Return the rule of a what-if."""
    return WhatIf(options.stop, options.target, options.break_even)
