"""The lines of the journal's list: what is shown and sorted by of each trade or position, computed once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from keydesk.calc.trade_journal.groups import session_of
from keydesk.calc.trade_journal.trades import JournalTrade, roll_up

Pips = Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A trade or a position; money is in home currency."""

    trade: JournalTrade
    time_ns: int  # of the closing, of an open one of the opening
    profit: Decimal  # price profit booked
    beside: Decimal  # financing, dividends and fees
    result: Decimal
    r: Decimal | None
    pips: Decimal | None
    session: str  # at the entry
    is_open: bool
    held_ns: int | None = None  # None while it is open
    text: str = ""  # of the trade itself, that letters are looked for in


def line_of(trade: JournalTrade, pips: Pips) -> JournalLine:
    """Return the line of a trade."""
    pip = pips.get(trade.instrument)
    profit, beside = trade.profit, trade.costs.booked
    is_closed = trade.is_closed
    return JournalLine(
        trade,
        trade.opened_ns if trade.closed_ns is None else trade.closed_ns,
        profit,
        beside,
        profit + beside,
        trade.r if is_closed else None,
        None if pip is None else trade.pips(pip),
        session_of(trade.opened_ns),
        not is_closed,
        trade.hold_ns,
        _words(trade, profit + beside),
    )


def _words(trade: JournalTrade, result: Decimal) -> str:
    outcome = "win" if result > 0 else "loss" if result < 0 else ""
    words = (
        *(f"#{trade.id}", trade.instrument, "long" if trade.is_long else "short"),
        *((outcome if trade.is_closed else "open"), session_of(trade.opened_ns)),
        *(trade.tag, trade.comment),
    )
    return " ".join(filter(None, words))


@dataclass(slots=True)
class JournalLines:
    """The lines of all trades by id, and of all positions by the id of their first trade."""

    pips: Pips
    trades: dict[str, JournalLine] = field(default_factory=dict)
    positions: dict[str, JournalLine] = field(default_factory=dict)
    _members: dict[str, list[str]] = field(default_factory=dict)  # trades by position

    @classmethod
    def of(cls, trades: Iterable[JournalTrade], pips: Pips) -> "JournalLines":
        """Return the lines of trades."""
        lines = cls(pips)
        for each in trades:
            lines._put(each)
        for position in lines._members:
            lines._roll_up(position)
        return lines

    def update(self, trades: Iterable[JournalTrade]) -> None:
        """Take trades that are new or changed."""
        changed = list(trades)
        for each in changed:
            self._put(each)
        for position in {each.position_id for each in changed}:
            self._roll_up(position)

    def _put(self, trade: JournalTrade) -> None:
        if trade.id not in self.trades:
            self._members.setdefault(trade.position_id, []).append(trade.id)
        self.trades[trade.id] = line_of(trade, self.pips)

    def _roll_up(self, position: str) -> None:
        members = [self.trades[id_] for id_ in self._members[position]]
        if len(members) == 1:
            self.positions[position] = members[0]
        else:
            [together] = roll_up(each.trade for each in members)
            self.positions[position] = line_of(together, self.pips)
