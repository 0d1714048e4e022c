"""`Book`: what the functions of this folder read and write. The desk's store is one, `following` has another."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Protocol

from keydesk_client.account.records import (
    AccountFigures,
    OpenPosition,
    OpenTrade,
    Part,
    PendingOrder,
)
from keydesk_client.account.values import CountsUnreadable
from keydesk_client.arithmetic.profit import Conversion
from keydesk_client.models import Instrument


class TwoSided(Protocol):
    """A price with a bid and an ask."""

    @property
    def bid(self) -> Decimal: ...
    @property
    def ask(self) -> Decimal: ...


class Book(CountsUnreadable, Protocol):
    """An account, the prices and terms by which it is valued, and the listeners to its changes."""

    trades: dict[str, OpenTrade]
    positions: dict[str, OpenPosition]
    orders: dict[str, PendingOrder]

    @property
    def account(self) -> AccountFigures | None:
        """The totals; None before the first snapshot."""
        ...

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The known instruments, by name."""
        ...

    @property
    def quotes(self) -> Mapping[str, TwoSided]:
        """The latest price of each instrument."""
        ...

    @property
    def conversions(self) -> Mapping[str, Conversion]:
        """The factors to home currency, by currency."""
        ...

    def set_figures(self, figures: AccountFigures) -> None:
        """Replace the totals."""
        ...

    def changed(self, part: Part, key: str | None = None) -> None:
        """Note that one trade, position or order changed, or (None) that some came or went."""
        ...

    def booked(self, time_ns: int, amount: Decimal) -> None:
        """Note that profit, financing or fees were booked to the balance."""
        ...

    def transferred(self, time_ns: int, amount: Decimal) -> None:
        """Note that money was paid in or out."""
        ...

    def printable(self, text: str) -> str:
        """Return text of the service (an alias, a tag) as this book keeps it."""
        ...
