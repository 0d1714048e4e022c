"""Forms that reverse a position or flatten the account; both require a challenge letter."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal

from msgspec.structs import replace

from keydesk.calc.market.sessions import closed_text
from keydesk.calc.orders.checks import old_price_text, unconfirmed_warnings, under_way_refusals
from keydesk.calc.orders.field_draft import Entry, UnreadableText, shown_number
from keydesk.calc.orders.first_draft import first_draft
from keydesk.calc.orders.instructions import Flatten
from keydesk.calc.orders.limits import limit_refusals
from keydesk.calc.orders.order_options import OrderOptions
from keydesk.calc.orders.ticket import Plan, work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import levels_of, sendable
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.form import Form
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, figure, signed_money
from keydesk.forms.ticket_lines import choices_line, labelled, quote_line
from keydesk.forms.trades.cancel_orders import ENTRY_TYPES
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import FLATTEN, FLATTEN_SCOPES
from keydesk.store.risk import open_risk_of
from keydesk.store.unknown import is_known, unknown_text
from keydesk.text.format import EMPTY, money, pair, price, units
from keydesk.text.sanitize import safe
from keydesk.trading.entry_requests import Reverse, reversal_of
from keydesk.values import Command, OrderRow, PositionRow
from keydesk.words.order_text import order_name
from keydesk_client.errors import InvalidRequest

SHOWN_POSITIONS = 6
SHOWN_ENTRIES = 4


class ReverseForm(Form[Reverse]):
    """Turns a net position round by one order of twice its size, with the template's bracket."""

    ACTION: ClassVar[Action] = Action.REVERSE

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context)
        self.instrument = instrument

    def trading_context(self) -> TradingContext | None:
        """Return rules, price and funds for the instrument, None while one is missing."""
        return self.trading_context_about(self.instrument)

    def draft(self, context: TradingContext) -> Draft:
        """Return the order as a ticket: the bracket is the template's, the size twice the position."""
        net = context.funds.net_units
        side: Literal["BUY", "SELL"] = "SELL" if net > 0 else "BUY"
        template = self.context.template_of(self.instrument)
        market = replace(template, kind="MARKET", expiry="")
        ticket = first_draft(side, self.instrument, context, market, self.context.preset)
        target = ticket.target if ticket.stop.text else Entry("", "R")  # no R without a stop
        size = Entry(f"{2 * abs(net):f}", "units")
        return replace(ticket, size=size, target=target, members=OrderOptions(fill="REDUCE_FIRST"))

    def headline(self) -> TextLine:
        """Say what the position becomes."""
        context = self.trading_context()
        net = context.funds.net_units if context else Decimal(0)
        turn = f"{units(net, signed=True)} → {units(-net, signed=True)}"
        return (
            ("REVERSE ", "bright"),
            (safe(f"{pair(self.instrument)} {turn}"), "bright"),
            (" at market", "plain"),
        )

    def effect(self) -> Sequence[TextLine]:
        """Show the order, its bracket and its risk."""
        context = self.trading_context()
        if context is None or not context.funds.net_units:
            return ()
        plan = self.plan(context)
        digits, levels = context.rules.price_precision, plan.levels
        risk = EMPTY if plan.risk is None else money(-plan.risk, signed=True)
        return [
            figure("worst price", (price(shown_number(levels.bound), digits), "plain")),
            figure("new stop", (price(shown_number(levels.stop), digits), "plain")),
            figure("new target", (price(shown_number(levels.target), digits), "plain")),
            *_trail_lines(plan, context),
            BLANK,
            figure("at stop", (risk, "loss"), context.funds.currency),
            (("the old stop and target are cancelled", "muted"),),
        ]

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        context = self.trading_context()
        return () if context is None else quote_line(context)

    def opens_on(self) -> str:
        """Name the instrument: half of the order opens."""
        return self.instrument

    def plan(self, context: TradingContext) -> Plan:
        """Return the order with its levels, margin and risk."""
        return work_out(self.draft(context), context, self.context.limits)

    def refusals(self) -> Sequence[str]:
        """Refuse without a net position, a market, or the margin for the other side."""
        context = self.trading_context()
        if context is None:
            return ["Waiting for a price"]
        if not context.funds.net_units:
            return ["There is no net position to reverse"]
        in_flight = self.context.store.in_flight_of(self.instrument)
        waiting = under_way_refusals(self.instrument, in_flight)
        if waiting:
            return waiting
        stop = levels_of(self.draft(context), context).stop
        if isinstance(stop, UnreadableText):  # of a template that counts in ATR
            return [
                f"stop: {stop.text} {stop.reason}: close the position, then open the other side"
            ]
        return [
            *_reversal_refusals(context, self.context),
            *_size_refusals(self.plan(context), context),
            *self._limit_refusals(context),
        ]

    def _limit_refusals(self, context: TradingContext) -> list[str]:
        """Refuse a new side that passes a limit: half of the order, beside what else is open."""
        plan = self.plan(context)
        opened = replace(plan, units=plan.units / 2, notional=plan.notional / 2)
        beside = open_risk_of(self.context.store, without=self.instrument)
        return list(limit_refusals(opened, context, self.context.limits, beside))

    def warnings(self) -> Sequence[str]:
        """Warn of orders whose outcome is not known yet."""
        return unconfirmed_warnings(self.context.store.in_flight_of(self.instrument))

    def request(self) -> Reverse | None:
        """Freeze the order."""
        context = self.trading_context()
        if context is None:
            return None
        draft = self.draft(context)
        levels = sendable(levels_of(draft, context))
        if levels is None or levels.bound is None:
            return None
        try:
            return reversal_of(draft, -2 * context.funds.net_units, levels)
        except InvalidRequest:
            return None


class FlattenForm(Form[Flatten]):
    """Closes every position and cancels every entry order; works at every level but READ-ONLY."""

    ACTION: ClassVar[Action] = Action.FLATTEN
    KEY_CONTEXT: ClassVar[str] = FLATTEN
    WIDTH: ClassVar[int] = 68

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context)
        self.instrument = instrument
        self.everywhere = True

    @property
    def positions(self) -> Sequence[PositionRow]:
        """Return the positions in the scope."""
        rows = self.context.store.positions.values()
        return [row for row in rows if self.everywhere or row.instrument == self.instrument]

    @property
    def entries(self) -> Sequence[OrderRow]:
        """Return the entry orders in the scope."""
        rows = self.context.store.orders.values()
        return [
            row
            for row in rows
            if row.type in ENTRY_TYPES and (self.everywhere or row.instrument == self.instrument)
        ]

    @property
    def in_flight(self) -> Sequence[Command]:
        """Return the orders in the scope whose outcome is not known: they may open a trade."""
        openings = self.context.store.openings_in_flight()
        return [each for each in openings if self.everywhere or each.concerns(self.instrument)]

    def headline(self) -> TextLine:
        """Return the scope."""
        where = "EVERYTHING" if self.everywhere else pair(self.instrument)
        return (
            (safe(f"FLATTEN {where}"), "danger"),
            (": close positions, cancel entries", "plain"),
        )

    def effect(self) -> Sequence[TextLine]:
        """List the positions to close and the orders to cancel."""
        positions, entries = self.positions, self.entries
        lines = [_position_line(row) for row in positions[:SHOWN_POSITIONS]]
        if len(positions) > SHOWN_POSITIONS:
            lines.append(
                ((safe(f"and {len(positions) - SHOWN_POSITIONS} more positions"), "muted"),)
            )
        lines.extend(
            ((safe(f"cancel {order_name(row)}"), "plain"),) for row in entries[:SHOWN_ENTRIES]
        )
        if len(entries) > SHOWN_ENTRIES:
            lines.append(
                ((safe(f"and {len(entries) - SHOWN_ENTRIES} more entry orders"), "muted"),)
            )
        if unknown := unknown_text(self.context.store):
            text = safe(f"and what the broker names: {unknown} could not be read here")
            lines.append(((text, "warn"),))
        lines.extend(
            ((safe(f"NOT KNOWN {each.text}: it may still take effect"), "warn"),)
            for each in self.in_flight[:SHOWN_ENTRIES]
        )
        everything, (key, _) = labelled(FLATTEN_SCOPES)
        return [*lines, BLANK, choices_line((everything, (key, pair(self.instrument))))]

    def refusals(self) -> Sequence[str]:
        """Refuse when there is nothing to do; what is not known may be open."""
        is_flat = not (self.positions or self.entries or self.in_flight)
        is_flat = is_flat and is_known(self.context.store)
        return ["FLAT: no position, no entry order"] if is_flat else ()

    def request(self) -> Flatten:
        """Return the scope; positions and orders are read again when it is carried out."""
        return Flatten(None if self.everywhere else self.instrument)

    def action_scope(self, scope: Literal["all", "one"]) -> None:
        """Turn between everything and the instrument."""
        self.everywhere = scope == "all"
        self.redraw()


def _trail_lines(plan: Plan, context: TradingContext) -> Sequence[TextLine]:
    trail = shown_number(plan.levels.trail)
    if trail is None:
        return ()
    return (figure("trail", (money(trail / context.rules.pip, 1), "plain"), "pips"),)


def _reversal_refusals(context: TradingContext, form_context: FormContext) -> list[str]:
    if not context.tradeable:
        return [f"Halted: {closed_text(form_context.store.now_ns)}"]
    old = old_price_text(context, form_context.store.sent.quote_trouble.get(context.rules.name, ""))
    if old:
        return [old]
    return []


def _size_refusals(plan: Plan, context: TradingContext) -> list[str]:
    """Refuse an order that is too large for one, a position that may not grow so far, and margin that is not there."""
    rules, name = context.rules, pair(context.rules.name)
    remedy = "close the position, then open the other side"
    held = max(plan.effect.long_after, plan.effect.short_after)
    if plan.units > rules.maximum_order_units:
        most = units(rules.maximum_order_units)
        return [f"size: one order of {name} may have at most {most}: {remedy}"]
    if rules.maximum_position and held > rules.maximum_position:
        return [f"size: the position may grow to {units(rules.maximum_position)}: {remedy}"]
    if plan.margin > context.funds.margin_available:
        free = money(context.funds.margin_available)
        return [f"size: margin {money(plan.margin)} is over the {free} available: {remedy}"]
    return []


def _position_line(row: PositionRow) -> TextLine:
    net = row.long_units + row.short_units
    side = "LONG" if net > 0 else "SHORT" if net < 0 else "HEDGED"
    words: TextLine = ((safe(f"close {side} {units(abs(net))} {pair(row.instrument)}  "), "plain"),)
    return words if row.unrealized_pl is None else (*words, signed_money(row.unrealized_pl))
