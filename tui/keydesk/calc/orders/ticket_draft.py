"""The fields of a ticket as typed, and how a key changes them: letters select a field, digits fill it.

A field is a number, None (left empty) or `UnreadableText`: three types, so that unreadable text cannot count as empty.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry, Reading, above_zero
from keydesk.calc.orders.fields import FieldName, Unit
from keydesk.calc.orders.lifetime import (
    PENDING_EXPIRIES,
    TYPED_EXPIRY,
)
from keydesk.calc.orders.order_options import (
    LEVELS,
    DependentName,
    OptionName,
    OrderOptions,
    TextName,
)

Side = Literal["BUY", "SELL"]
Kind = Literal["MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED"]
TicketField = Literal[
    "",
    "size",
    "price",
    "stop",
    "target",
    "trail",
    "bound",
    "expiry",
    "guarantee",
    "trigger",
    "fill",
    "tag",
    "comment",
]
"""What a rejection may be about; "" is nothing that the ticket has."""

KINDS: tuple[Kind, ...] = ("MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED")
KIND_WORDS: dict[Kind, str] = {
    "MARKET": "market",
    "LIMIT": "limit",
    "STOP": "stop",
    "MARKET_IF_TOUCHED": "if touched",
}
BY_THE_STOP: frozenset[Unit] = frozenset(("risk %", "loss"))
"""The units of a size that follows from the stop."""
DISTANCES: frozenset[FieldName] = frozenset(LEVELS)
"""The fields that may count in average true ranges."""
ABOVE_ZERO: frozenset[FieldName] = frozenset(("size", "trail", "bound"))
MARKET_EXPIRIES = ("FOK", "IOC")


def expiries_of(kind: Kind) -> Sequence[str]:
    """Return the times in force that an order type takes, the usual one first."""
    match kind:
        case "MARKET":
            return MARKET_EXPIRIES
        case "MARKET_IF_TOUCHED":
            return PENDING_EXPIRIES
        case _:
            return (*PENDING_EXPIRIES, *MARKET_EXPIRIES)


def kind_at(side: Side, price: Decimal, bid: Decimal, ask: Decimal) -> Kind:
    """Return the order that rests at a price: a limit on the better side of the market, a stop on the other."""
    is_better = price <= ask if side == "BUY" else price >= bid
    return "LIMIT" if is_better else "STOP"


def limit_side(price: Decimal, bid: Decimal, ask: Decimal) -> Side:
    """Return the side whose order at a price is a limit: bought below the market, sold above it."""
    return "BUY" if price <= (bid + ask) / 2 else "SELL"


class Draft(Struct, frozen=True):
    """A ticket as typed; side and instrument never change while it is open."""

    side: Side
    instrument: str
    kind: Kind = "MARKET"
    size: Entry = field(default_factory=lambda: Entry(unit="units"))
    price: Entry = field(default_factory=lambda: Entry(unit="price"))
    stop: Entry = field(default_factory=Entry)
    target: Entry = field(default_factory=lambda: Entry(unit="R"))
    trail: Entry = field(default_factory=Entry)
    bound: Entry = field(default_factory=Entry)
    expiry: str = "FOK"
    active: FieldName = "size"
    members: OrderOptions = field(default_factory=OrderOptions)

    @property
    def direction(self) -> int:
        """+1 for a buy, -1 for a sell."""
        return 1 if self.side == "BUY" else -1

    @property
    def fields(self) -> tuple[FieldName, ...]:
        """The fields in screen order; a market order has no price, a limit order no bound."""
        if self.kind == "MARKET":
            return ("size", "stop", "target", "trail", "bound")
        if self.kind == "LIMIT":
            return ("size", "price", "stop", "target", "trail")
        return ("size", "price", "stop", "target", "trail", "bound")

    def entry(self, name: FieldName) -> Entry:
        """Return a field by its name."""
        entry = getattr(self, name)
        assert isinstance(entry, Entry)  # noqa: S101 - the names are closed
        return entry

    def reading(self, name: FieldName) -> Reading:
        """Return the number in a field, None if it is empty, else why it cannot be read."""
        value = self.entry(name).value
        return above_zero(value) if name in ABOVE_ZERO else value

    def pick(self, name: FieldName) -> "Draft":
        """Make a field the active one."""
        if name not in self.fields:
            return self
        return self.with_field(name, replace(self.entry(name), fresh=True), active=name)

    def next_field(self, step: int = 1) -> "Draft":
        """Make the next field the active one."""
        names = self.fields
        at = names.index(self.active) if self.active in names else 0
        return self.pick(names[(at + step) % len(names)])

    def with_field(self, name: FieldName, entry: Entry, active: FieldName | None = None) -> "Draft":
        """Return the draft with that field changed."""
        changed = {
            each: entry if each == name else self.entry(each)
            for each in ("size", "price", "stop", "target", "trail", "bound")
        }
        return Draft(
            side=self.side,
            instrument=self.instrument,
            kind=self.kind,
            expiry=self.expiry,
            active=active or self.active,
            members=self.members,
            **changed,
        )

    def typed(self, key: str) -> "Draft":
        """Append a digit, point or minus to the active field."""
        return self.with_field(self.active, self.entry(self.active).typed(key))

    def erased(self) -> "Draft":
        """Remove the last character of the active field."""
        return self.with_field(self.active, self.entry(self.active).erased())

    def next_kind(self) -> "Draft":
        """Select the next order type; expiry and active field follow."""
        kind = KINDS[(KINDS.index(self.kind) + 1) % len(KINDS)]
        expiry = MARKET_EXPIRIES[0] if kind == "MARKET" else PENDING_EXPIRIES[0]
        cycled = replace(self, kind=kind, expiry=expiry)
        return cycled.pick("size" if kind == "MARKET" else "price")

    def next_expiry(self) -> "Draft":
        """Select the next time in force of this order type."""
        choices = expiries_of(self.kind)
        at = choices.index(self.expiry) if self.expiry in choices else -1
        return replace(self, expiry=choices[(at + 1) % len(choices)])

    def cycled(self, name: OptionName) -> "Draft":
        """Select the next choice of an option."""
        return replace(self, members=self.members.cycled(name))

    def with_guarantee(self, *, guaranteed: bool) -> "Draft":
        """Make the stop a guaranteed one, or a usual one."""
        return replace(self, members=replace(self.members, guaranteed=guaranteed))

    def with_stop_from_fill(self, *, counts: bool) -> "Draft":
        """Have the broker count the stop from the fill, or set it at a price."""
        return replace(self, members=replace(self.members, stop_from_fill=counts))

    @property
    def stop_counts_from_fill(self) -> bool:
        """Whether the stop is sent as a distance: only a market order fills at a price that is not known."""
        return self.members.stop_from_fill and self.kind == "MARKET"

    @property
    def active_level(self) -> DependentName | None:
        """The active field where it is stop, target or trail: each lives as long as is chosen for it."""
        return next((name for name in LEVELS if name == self.active), None)

    def put_text(self, name: TextName, text: str, now_ns: int) -> "Draft":
        """Put text in a field; a typed expiry is the ticket's, a typed end that of the active level."""
        members = self.members.put_text(name, text, now_ns, self.active_level or "stop")
        expiry = TYPED_EXPIRY if name == "until" else self.expiry
        return replace(self, members=members, expiry=expiry)

    def text(self, name: TextName) -> str:
        """Return the text of a field; of the ends, that of the active level."""
        return self.members.text(name, self.active_level or "stop")

    def next_lifetime(self, level: DependentName) -> "Draft":
        """Select how long a level lives."""
        lifetime = self.members.lifetime(level).cycled(PENDING_EXPIRIES)
        return replace(self, members=self.members.with_lifetime(level, lifetime))
