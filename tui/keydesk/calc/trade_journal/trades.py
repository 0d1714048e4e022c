"""A trade of the journal: its entries and exits, its result and its costs.

R is the result, financing and fees included, in units of the initial risk: that of the first stop seen within 60 seconds of
the fill. A trade without such a stop has no R.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import average_price, profit_in_pips
from keydesk_client.arithmetic.risk import r_multiple


class Execution(Struct, frozen=True):
    """An entry, or an exit of a part of the trade."""

    time_ns: int
    units: Decimal  # signed as the fill: an exit has the opposite sign of its trade
    price: Decimal
    reason: str  # of the fill, such as STOP_LOSS_ORDER
    profit: Decimal = ZERO  # price profit alone
    slippage: Decimal | None = None  # price units, positive is worse; None: no price to compare
    half_spread: Decimal = ZERO  # home currency


class Costs(Struct, frozen=True):
    """What a trade booked beside its price profit: home currency; fees are positive."""

    financing: Decimal = ZERO
    dividends: Decimal = ZERO
    commission: Decimal = ZERO
    guarantee_fee: Decimal = ZERO

    @property
    def booked(self) -> Decimal:
        """The sum as the balance has it."""
        return self.financing + self.dividends - self.commission - self.guarantee_fee

    def plus(self, other: "Costs") -> "Costs":
        """Return both together."""
        return Costs(
            self.financing + other.financing,
            self.dividends + other.dividends,
            self.commission + other.commission,
            self.guarantee_fee + other.guarantee_fee,
        )


class JournalTrade(Struct, frozen=True):
    """One trade, or a position: the trades of one side between flat and flat."""

    id: str
    position_id: str  # the id of the first trade of its position
    trade_ids: tuple[str, ...]
    instrument: str
    entries: tuple[Execution, ...]
    exits: tuple[Execution, ...] = ()
    costs: Costs = Costs()
    initial_stop: Decimal | None = None
    initial_risk: Decimal | None = None  # home currency
    home_factor: Decimal | None = None  # quote to home currency at the entry, for losses
    tag: str = ""  # the broker's
    comment: str = ""

    @property
    def units(self) -> Decimal:
        """The signed units opened."""
        return sum((each.units for each in self.entries), ZERO)

    @property
    def open_units(self) -> Decimal:
        """The signed units still open."""
        return sum((each.units for each in self.exits), self.units)

    @property
    def is_closed(self) -> bool:
        """Whether nothing of it is open."""
        return not self.open_units

    @property
    def is_long(self) -> bool:
        """Whether it was bought."""
        return self.units > 0

    @property
    def opened_ns(self) -> int:
        """When the first entry was filled."""
        return self.entries[0].time_ns

    @property
    def closed_ns(self) -> int | None:
        """When the last part was closed; None while it is open."""
        return self.exits[-1].time_ns if self.exits and self.is_closed else None

    @property
    def hold_ns(self) -> int | None:
        """How long it was held; None while it is open."""
        return None if self.closed_ns is None else self.closed_ns - self.opened_ns

    @property
    def entry_price(self) -> Decimal:
        """The average entry price."""
        return _average(self.entries) or ZERO

    @property
    def exit_price(self) -> Decimal | None:
        """The average price of what was closed."""
        return _average(self.exits)

    @property
    def profit(self) -> Decimal:
        """The price profit booked."""
        return sum((each.profit for each in self.exits), ZERO)

    @property
    def result(self) -> Decimal:
        """Price profit, financing and dividends less fees: what the balance got from it."""
        return self.profit + self.costs.booked

    @property
    def r(self) -> Decimal | None:
        """The result in R; None without an initial stop."""
        return r_multiple(self.result, self.initial_risk)

    @property
    def spread_paid(self) -> Decimal:
        """The cost of the spread at entries and exits; part of the price profit already."""
        return sum((each.half_spread for each in (*self.entries, *self.exits)), ZERO)

    @property
    def slippage(self) -> Decimal | None:
        """The average slippage of entries and exits that had a price to compare, by units."""
        known = [each for each in (*self.entries, *self.exits) if each.slippage is not None]
        return average_price((abs(each.units), each.slippage or ZERO) for each in known)

    def pips(self, pip: Decimal) -> Decimal | None:
        """Return the average price profit in pips; None while nothing was closed."""
        close = self.exit_price
        if close is None:
            return None
        return profit_in_pips(self.units, self.entry_price, close, pip)


def _average(executions: Sequence[Execution]) -> Decimal | None:
    return average_price((abs(each.units), each.price) for each in executions)


def roll_up(trades: Iterable[JournalTrade]) -> list[JournalTrade]:
    """Return one record for each position, in the order of the positions' first trades."""
    groups: dict[str, list[JournalTrade]] = {}
    for each in trades:
        groups.setdefault(each.position_id, []).append(each)
    return [_together(those) for those in groups.values()]


def _together(trades: Sequence[JournalTrade]) -> JournalTrade:
    """Return a position; its risk is the sum, unknown as soon as one of its trades had no stop."""
    if len(trades) == 1:
        return trades[0]
    risks = [each.initial_risk for each in trades if each.initial_risk is not None]
    costs = Costs()
    for each in trades:
        costs = costs.plus(each.costs)
    return replace(
        trades[0],
        trade_ids=tuple(each.id for each in trades),
        entries=_in_time(execution for each in trades for execution in each.entries),
        exits=_in_time(execution for each in trades for execution in each.exits),
        costs=costs,
        initial_stop=None,
        initial_risk=sum(risks, ZERO) if len(risks) == len(trades) else None,
    )


def _in_time(executions: Iterable[Execution]) -> tuple[Execution, ...]:
    return tuple(sorted(executions, key=lambda each: each.time_ns))
