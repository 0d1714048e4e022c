"""What a trader decided in a form: values that the forms return and the commands carry out."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal

from keydesk.calc.ticket_draft import Kind


class Left(Enum):
    """A dependent order that an instruction does not touch."""

    ALONE = "left as it is"


LEFT_ALONE = Left.ALONE
Change = Decimal | None | Left  # a new value; None takes the order away; left alone


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Buy or sell, now or when the price comes."""

    instrument: str
    kind: Kind
    units: Decimal  # signed
    price: Decimal | None = None  # of a pending order
    bound: Decimal | None = None  # a market order fills no worse than this
    expected: Decimal | None = None  # the price seen; slippage is measured from it
    stop: Decimal | None = None
    target: Decimal | None = None
    trail: Decimal | None = None  # distance in price units
    expiry: str = "FOK"
    reduces: bool = False  # it may never open anything

    @property
    def side(self) -> Literal["BUY", "SELL"]:
        """The side in words."""
        return "BUY" if self.units > 0 else "SELL"


@dataclass(frozen=True, slots=True)
class CloseTrades:
    """Close trades, one or all of a position; units only of one trade, None: all of it."""

    instrument: str
    trade_ids: tuple[str, ...]
    units: Decimal | None = None  # magnitude


CloseSide = Literal["ALL"] | Decimal | None  # in full, by units, or (None) not at all


@dataclass(frozen=True, slots=True)
class ClosePosition:
    """Close the long or short side of a position or both, oldest trades first."""

    instrument: str
    long_units: CloseSide = None  # magnitude
    short_units: CloseSide = None  # magnitude


@dataclass(frozen=True, slots=True)
class SetProtection:
    """Set, move or take away what protects one trade."""

    trade_id: str
    instrument: str
    stop: Change = LEFT_ALONE
    target: Change = LEFT_ALONE
    trail: Change = LEFT_ALONE  # distance in price units


@dataclass(frozen=True, slots=True)
class MoveEntry:
    """Replace a pending entry order by one at another price; its bracket moves along."""

    order_id: str
    instrument: str
    price: Decimal
    stop: Decimal | None
    target: Decimal | None


@dataclass(frozen=True, slots=True)
class CancelOrders:
    """Cancel these orders."""

    order_ids: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Reverse:
    """Turn a net position round by one order of twice its size."""

    instrument: str
    units: Decimal  # signed: minus twice the net units
    bound: Decimal
    expected: Decimal
    stop: Decimal | None
    target: Decimal | None


@dataclass(frozen=True, slots=True)
class Flatten:
    """Close every position and cancel every entry order; of one instrument, or (None) of all."""

    instrument: str | None = None


Instruction = (
    OpenOrder
    | CloseTrades
    | ClosePosition
    | SetProtection
    | MoveEntry
    | CancelOrders
    | Reverse
    | Flatten
)
