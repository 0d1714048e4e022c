"""What forms decide about what is open: closes, edits, cancels; commands execute it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.lifetime import UNCHANGED_LIFETIME, Lifetime
from keydesk.calc.orders.order_options import Trigger
from keydesk.calc.orders.plans.exit_plans import ExitPlan
from keydesk.calc.orders.ticket_draft import Draft, TicketField
from keydesk_client.account.records import DependentType
from keydesk_client.unset import UNSET, Unset

CloseSide = Literal["ALL"] | Decimal | None  # in full, by units, or (None) not at all


Change = Decimal | None | Unset  # a new value; None cancels the order; UNSET leaves it as it is


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


class Flatten(Struct, frozen=True):
    """Close all positions and cancel all entry orders of an instrument, or (None) of the account."""

    instrument: str | None = None
