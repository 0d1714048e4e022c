"""Instructions that forms return and commands execute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.lifetime import UNCHANGED_LIFETIME, Lifetime
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitPlan, ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.ticket_draft import Draft, Fill, Kind, TicketField, Trigger
from keydesk_client.account.records import DependentType
from keydesk_client.unset import UNSET, Unset

CloseSide = Literal["ALL"] | Decimal | None  # in full, by units, or (None) not at all


Change = Decimal | None | Unset  # a new value; None cancels the order; UNSET leaves it as it is


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Open a trade at market or by a pending order."""

    instrument: str
    kind: Kind
    units: Decimal  # signed
    price: Decimal | None = None  # of a pending order
    bound: Decimal | None = None  # a market order fills no worse than this
    expected: Decimal | None = None  # the price seen
    stop: Decimal | None = None
    target: Decimal | None = None
    trail: Decimal | None = None  # distance in price units
    expiry: str = "FOK"
    reduces: bool = False  # it may never open anything
    gtd_ns: int | None = None  # when it ends, of an expiry that was typed
    guaranteed: bool = False  # the stop is a guaranteed one
    stop_distance: Decimal | None = None  # it counts from the fill; `stop` is where it is expected
    fill: Fill = "DEFAULT"
    trigger: Trigger = "DEFAULT"
    stop_lifetime: Lifetime = UNCHANGED_LIFETIME
    target_lifetime: Lifetime = UNCHANGED_LIFETIME
    trail_lifetime: Lifetime = UNCHANGED_LIFETIME
    tag: str = ""
    comment: str = ""
    trade_id: str = ""  # client id of the trade that it opens
    exit_rules: ExitRules = NO_RULES  # the exit plan of the trade that it opens
    parts: tuple[OrderPart, ...] = ()  # sent one after the other in its place
    draft: Draft | None = field(default=None, compare=False, repr=False)  # it came from

    @property
    def side(self) -> Literal["BUY", "SELL"]:
        """The side in words."""
        return "BUY" if self.units > 0 else "SELL"


class RefusedTicket(Struct, frozen=True):
    """A ticket that the broker rejected or cancelled at once: it opens again as typed, on the field that is at fault."""

    draft: Draft
    field: TicketField
    text: str


class CloseTrades(Struct, frozen=True):
    """Close trades; `units` closes a part of a single trade, None all of it."""

    instrument: str
    trade_ids: tuple[str, ...]
    units: Decimal | None = None  # magnitude


class ClosePosition(Struct, frozen=True):
    """Close the long or short side of a position or both, oldest trades first."""

    instrument: str
    long_units: CloseSide = None  # magnitude
    short_units: CloseSide = None  # magnitude


class CloseParts(Struct, frozen=True):
    """Close these trades, each all of it (None) or so many units of it (magnitude)."""

    instrument: str
    parts: tuple[tuple[str, Decimal | None], ...]


class SetProtection(Struct, frozen=True):
    """Set, move or cancel the stop, target, trailing stop and guaranteed stop of a trade."""

    trade_id: str
    instrument: str
    stop: Change = UNSET
    target: Change = UNSET
    trail: Change = UNSET  # distance in price units
    guaranteed: Change = UNSET  # price of the guaranteed stop
    expiry: str = ""  # of what is set or moved: GFD, GTD 4h; "": as it was
    gtd_ns: int | None = None  # when that ends, of an end that was typed
    trigger: Trigger | Literal[""] = ""  # the price side that triggers it; "": as it was

    @property
    def lifetime(self) -> Lifetime:
        """How long what is set or moved lives."""
        return Lifetime(self.expiry, self.gtd_ns)

    @property
    def levels(self) -> Mapping[DependentType, Change]:
        """The changes by the dependent order that each is of."""
        return {
            "stop_loss": self.stop,
            "take_profit": self.target,
            "trailing_stop": self.trail,
            "guaranteed_stop": self.guaranteed,
        }

    def with_levels(
        self, levels: Mapping[DependentType, Change], trigger: Trigger | Literal[""]
    ) -> SetProtection:
        """Return the instruction with these changes only."""
        return replace(
            self,
            stop=levels.get("stop_loss", UNSET),
            target=levels.get("take_profit", UNSET),
            trail=levels.get("trailing_stop", UNSET),
            guaranteed=levels.get("guaranteed_stop", UNSET),
            trigger=trigger,
        )


class SetExitPlan(Struct, frozen=True):
    """Set, change or (None) take away the exit plan of a trade; nothing is sent by this."""

    trade_id: str
    instrument: str
    plan: ExitPlan | None


class MoveEntry(Struct, frozen=True):
    """Replace a pending entry order by one at another price; its bracket moves with it."""

    order_id: str
    instrument: str
    price: Decimal
    stop: Decimal | None
    target: Decimal | None
    trail: Change = UNSET  # distance in price units
    units: Decimal | None = None  # signed; None: as many as before
    lifetime: Lifetime = UNCHANGED_LIFETIME
    trigger: Trigger | Literal[""] = ""  # "": as it was


class CancelOrders(Struct, frozen=True):
    """Cancel these orders."""

    order_ids: tuple[str, ...]
    text: str


class Reverse(Struct, frozen=True):
    """Reverse a net position by one order of twice its size."""

    instrument: str
    units: Decimal  # signed: minus twice the net units
    bound: Decimal
    expected: Decimal
    stop: Decimal | None
    target: Decimal | None
    trail: Decimal | None = None  # distance in price units


class Flatten(Struct, frozen=True):
    """Close all positions and cancel all entry orders of an instrument, or (None) of the account."""

    instrument: str | None = None


Instruction = (
    OpenOrder
    | CloseTrades
    | ClosePosition
    | CloseParts
    | SetProtection
    | SetExitPlan
    | MoveEntry
    | CancelOrders
    | Reverse
    | Flatten
)
