"""Rebuild the trades of an account from its events, oldest first.

Every booked amount belongs to a trade, to a transfer, or to `unattributed`, so that their sum is the change of the balance to
the last decimal. A commission of a fill that closed one trade and opened another is split by units; the last gets the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.trade_journal.events import (
    Booking,
    ClosedPart,
    Event,
    Fill,
    Opening,
    OrderPrice,
    Retag,
    StopSet,
    Transfer,
)
from keydesk.calc.trade_journal.trades import Costs, Execution, JournalTrade
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import slippage
from keydesk_client.arithmetic.risk import (
    FIRST_STOP_WITHIN_NS,
    initial_risk,
    nearest_stop,
    trailing_stop,
)


class BalancePoint(Struct, frozen=True):
    """The balance after an event, and the transfer in it."""

    time_ns: int
    balance: Decimal
    transfer: Decimal = ZERO


class Journal(Struct, frozen=True):
    """All trades in the order of their opening, and what the balance did."""

    trades: tuple[JournalTrade, ...] = ()
    balances: tuple[BalancePoint, ...] = ()
    start_balance: Decimal = ZERO  # before the first event
    transfers: Decimal = ZERO
    unattributed: Decimal = ZERO  # booked, but of no trade that the events know

    @property
    def closed(self) -> tuple[JournalTrade, ...]:
        """The closed trades in the order of their closing."""
        trades = [each for each in self.trades if each.is_closed]
        return tuple(sorted(trades, key=lambda each: each.closed_ns or 0))

    @property
    def booked(self) -> Decimal:
        """What all trades, transfers and unattributed bookings did to the balance."""
        results = sum((each.result for each in self.trades), ZERO)
        return results + self.transfers + self.unattributed


class RebuiltTrade(Struct):
    """A trade while it is rebuilt: what later events change of it stands beside it."""

    trade: JournalTrade
    exits: list[Execution] = field(default_factory=list[Execution])
    costs: Costs = field(default_factory=Costs)
    left: Decimal = ZERO
    closing: Decimal | None = None  # closing-side price at the fill
    premium: Decimal = ZERO  # of the initial stop, price units

    @classmethod
    def of(cls, trade: JournalTrade) -> "RebuiltTrade":
        """Return a trade to which nothing more happens."""
        return cls(trade, list(trade.exits), trade.costs, trade.open_units)

    @property
    def as_it_is(self) -> JournalTrade:
        """The trade as the events so far left it."""
        return replace(self.trade, exits=tuple(self.exits), costs=self.costs)


class Rebuilder(Struct):
    """Takes events one by one; `journal` may be read at any time."""

    _trades: dict[str, RebuiltTrade] = field(default_factory=dict)
    _open_sides: dict[tuple[str, bool], dict[str, str]] = field(default_factory=dict)
    _order_prices: dict[str, Decimal] = field(default_factory=dict)
    _balances: list[BalancePoint] = field(default_factory=list)
    _start_balance: Decimal = ZERO
    _transfers: Decimal = ZERO
    _unattributed: Decimal = ZERO

    @classmethod
    def resume(
        cls,
        sums: Journal,
        trades: Iterable[RebuiltTrade],
        order_prices: Mapping[str, Decimal],
    ) -> "Rebuilder":
        """Return one that goes on after the events that were taken by another.

        Args:
            sums: The journal of those events: its last balance and sums.
            trades: The trades that later events touch, and all open ones, in the order of their opening.
            order_prices: The prices of orders that later events fill.
        """
        rebuilder = cls(
            _order_prices=dict(order_prices),
            _balances=list(sums.balances[-1:]),
            _start_balance=sums.start_balance,
            _transfers=sums.transfers,
            _unattributed=sums.unattributed,
        )
        for each in trades:
            trade = each.trade
            rebuilder._trades[trade.id] = each
            if each.left:
                sides = rebuilder._open_sides.setdefault((trade.instrument, trade.is_long), {})
                sides[trade.id] = trade.position_id
        return rebuilder

    def apply(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Fill():
                self._fill(event)
            case OrderPrice():
                self._order_prices[event.id] = event.price
            case StopSet():
                self._stop(event)
            case Booking():
                self._book(event)
            case Transfer():
                self._transfers += event.amount
                self._point(event, event.amount, transfer=event.amount)
            case Retag():
                self._retag(event)

    def journal(self) -> Journal:
        """Return the journal of the events so far."""
        return Journal(
            tuple(each.as_it_is for each in self._trades.values()),
            tuple(self._balances),
            self._start_balance,
            self._transfers,
            self._unattributed,
        )

    def trade(self, id_: str) -> RebuiltTrade | None:
        """Return a trade as the events so far left it, None if they do not know it."""
        return self._trades.get(id_)

    def _point(
        self,
        event: Fill | Booking | Transfer,
        booked: Decimal,
        *,
        transfer: Decimal = ZERO,
    ) -> None:
        """Record the balance after an event; a change before it that no event booked is unattributed."""
        before = event.balance - booked
        if self._balances:
            self._unattributed += before - self._balances[-1].balance
        else:
            self._start_balance = before
        self._balances.append(BalancePoint(event.time_ns, event.balance, transfer))

    def _fill(self, fill: Fill) -> None:
        charged = [each.trade_id for each in fill.parts]
        sizes = [abs(each.units) for each in fill.parts]
        if fill.opening is not None:
            charged.append(fill.opening.trade_id)
            sizes.append(abs(fill.opening.units))
        commissions = dict(zip(charged, split(fill.commission, sizes), strict=True))
        slip = _slippage(fill, self._order_prices.pop(fill.order_id, None))
        attributed = ZERO
        for part in fill.parts:
            attributed += self._reduce(fill, part, commissions[part.trade_id], slip)
        if fill.opening is not None:
            attributed += self._open(fill, fill.opening, commissions[fill.opening.trade_id], slip)
        booked = fill.profit + fill.financing - fill.commission - fill.guarantee_fee
        self._unattributed += booked - attributed
        self._point(fill, booked)

    def _open(
        self, fill: Fill, opening: Opening, commission: Decimal, slip: Decimal | None
    ) -> Decimal:
        side = self._open_sides.setdefault((fill.instrument, opening.units > 0), {})
        position = next(iter(side.values()), opening.trade_id)
        side[opening.trade_id] = position
        entry = Execution(fill.time_ns, opening.units, opening.price, fill.reason, ZERO, slip)
        trade = JournalTrade(
            id=opening.trade_id,
            position_id=position,
            trade_ids=(opening.trade_id,),
            instrument=fill.instrument,
            entries=(replace(entry, half_spread=opening.half_spread),),
            home_factor=fill.loss_factor,
            tag=opening.tag,
            comment=opening.comment,
        )
        costs = Costs(commission=commission, guarantee_fee=opening.guarantee_fee)
        closing = fill.best_bid if opening.units > 0 else fill.best_ask
        self._trades[trade.id] = RebuiltTrade(trade, [], costs, opening.units, closing)
        return costs.booked

    def _reduce(
        self, fill: Fill, part: ClosedPart, commission: Decimal, slip: Decimal | None
    ) -> Decimal:
        known = self._trades.get(part.trade_id)
        if known is None:
            return ZERO
        costs = Costs(
            financing=part.financing, commission=commission, guarantee_fee=part.guarantee_fee
        )
        known.exits.append(
            Execution(
                fill.time_ns,
                part.units,
                part.price,
                fill.reason,
                part.profit,
                slip,
                part.half_spread,
            )
        )
        known.costs = known.costs.plus(costs)
        known.left += part.units
        if not known.left:
            side = self._open_sides.get((fill.instrument, part.units < 0), {})
            side.pop(part.trade_id, None)
        return part.profit + costs.booked

    def _stop(self, stop: StopSet) -> None:
        """Take the first stop that is set soon after the fill as the initial one; of several set by the fill the nearest."""
        known = self._trades.get(stop.trade_id)
        if known is None:
            return
        trade = known.trade
        is_first = trade.initial_stop is None or stop.on_fill
        if not is_first or stop.time_ns - trade.opened_ns > FIRST_STOP_WITHIN_NS:
            return
        price = nearest_stop(trade.units, (_beginning(known, stop), trade.initial_stop))
        if price is None:
            return
        known.premium = max(known.premium, stop.premium)
        risk = None
        if trade.home_factor is not None:
            risk = initial_risk(
                trade.units, trade.entry_price, price, known.premium, trade.home_factor
            )
        known.trade = replace(trade, initial_stop=price, initial_risk=risk)

    def _book(self, booking: Booking) -> None:
        attributed = ZERO
        for trade_id, amount in booking.shares:
            known = self._trades.get(trade_id)
            if known is not None:
                is_financing = booking.kind == "financing"
                own = Costs(financing=amount) if is_financing else Costs(dividends=amount)
                known.costs = known.costs.plus(own)
                attributed += amount
        self._unattributed += booking.amount - attributed
        self._point(booking, booking.amount)

    def _retag(self, change: Retag) -> None:
        known = self._trades.get(change.trade_id)
        if known is None:
            return
        if change.tag is not None:
            known.trade = replace(known.trade, tag=change.tag)
        if change.comment is not None:
            known.trade = replace(known.trade, comment=change.comment)


def trades_of(event: Event) -> tuple[str, ...]:
    """Return the ids of the trades that an event may change."""
    match event:
        case Fill():
            opened = () if event.opening is None else (event.opening.trade_id,)
            return *opened, *(each.trade_id for each in event.parts)
        case StopSet() | Retag():
            return (event.trade_id,)
        case Booking():
            return tuple(id_ for id_, _ in event.shares)
        case _:
            return ()


def rebuild(events: Iterable[Event]) -> Journal:
    """Return the journal of events, oldest first."""
    rebuilder = Rebuilder()
    for each in events:
        rebuilder.apply(each)
    return rebuilder.journal()


def _beginning(known: RebuiltTrade, stop: StopSet) -> Decimal | None:
    """Return the price at which a stop began: a trailing one at its distance from the closing price at the fill."""
    if stop.price is not None or stop.distance is None:
        return stop.price
    closing = known.trade.entry_price if known.closing is None else known.closing
    return trailing_stop(known.trade.units, closing, stop.distance)


def _slippage(fill: Fill, order_price: Decimal | None) -> Decimal | None:
    """Return the distance of the fill from the order's price, else of a market order from the best price at the fill."""
    if fill.price is None:
        return None
    is_market = fill.reason.startswith("MARKET_ORDER")
    best = (fill.best_ask if fill.units > 0 else fill.best_bid) if is_market else None
    return slippage(fill.units, fill.price, order_price, best)


def split(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return shares of an amount by weight, in its own decimals; they add up to it exactly."""
    total = sum(weights, ZERO)
    if not total:
        return [ZERO for _ in weights]
    shares = [(amount * weight / total).quantize(amount) for weight in weights[:-1]]
    return [*shares, amount - sum(shares, ZERO)]
