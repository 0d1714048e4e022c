"""A line of the transaction log; apart from the words of transactions, whose records load after the first picture."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk.text.sanitize import Printable

LogKind = Literal[
    "FILL",
    "ORDER",
    "CANCEL",
    "REJECT",
    "CLOSE",
    "FINANCE",
    "FUNDS",
    "CONFIG",
    "MARGIN",
    "LINK",
    "NOTE",
]


class LogLine(Struct, frozen=True):
    """One line of the transaction log; LINK lines are written by the desk itself."""

    id: str  # transaction id, "" for the desk's own lines
    time_ns: int
    kind: LogKind
    instrument: str
    text: Printable
    amount: Decimal | None = None  # change of the balance
    pl: Decimal | None = None
    about: tuple[str, ...] = ()  # ids of the orders, trades and transactions that it names
    filled_order: str = ""  # id of the order whose fill this is
    own: int = 0  # number of a line of the desk's own

    @property
    def key(self) -> str:
        """Return what identifies the line in the log."""
        return self.id or f"own {self.own}"
