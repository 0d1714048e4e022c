"""What the preview of a ticket said is what the practice broker then does, to the cent.

Random tickets on random accounts, USD and EUR home, netting and hedging: the order goes over the wire's form, the broker
decides, and units, margin, both sides of the position, exposure, open risk, and the profit or loss at the stop and at the
target are compared. A ticket that the desk would send is never one that the broker rejects.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.fields import TICKET_FIELDS, FieldName
from keydesk.calc.orders.order_options import Fill, OrderOptions
from keydesk.calc.orders.preview import Preview, preview_of
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft, Kind, Side
from keydesk.calc.risk.exposure import Holding, exposure_of
from keydesk.calc.risk.financing import financing_of
from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.confirm import Letters, Step
from keydesk.store.state import Arming
from keydesk.trade_journal.reading import events_of
from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.models import Instrument
from keydesk_client.models._core.decoder import Reader
from keydesk_practice.engine.commands import Finance, MarketRequest, PlaceOrder, StopLossDetails
from keydesk_practice.engine.state.account import Position, Terms
from keydesk_practice.engine.transactions import DailyFinanced, OrderFilled
from keydesk_practice.http.account_endpoints import instrument_view
from keydesk_practice.http.order_endpoints import read_order
from keydesk_practice.http.requests import JsonReader
from support.data.entry_orders import price_of
from support.fakes.still_market import NOON
from support.folded_account import FoldedAccount, read_from_wire
from support.practised_account import PractisedAccount

D = Decimal
FILLS: tuple[Fill, ...] = ("DEFAULT", "OPEN_ONLY", "REDUCE_FIRST", "REDUCE_ONLY")
CENT = D("0.01")
ROUNDING = D("0.0006")  # the broker rounds each trade to four decimals
_instruments = Reader(Instrument)
WEDNESDAY = 2  # of `NOON`
NAMES = ("EUR_USD", "USD_JPY", "EUR_GBP")
TERMS = [
    Terms(currency=currency, hedging=hedging)
    for currency in ("USD", "EUR")
    for hedging in (False, True)
]


@dataclass(frozen=True)
class Drawn:
    """A random ticket, the trades that were there before, and what the price does after."""

    draft: Draft
    held: tuple[tuple[str, int], ...]
    goes_to: Literal["stop", "target"]
    shallow: int | None = None  # units at the first price level; the rest is two pips beyond


numbers: dict[FieldName, st.SearchStrategy[str]] = {
    "size": st.sampled_from(("1000", "12345", "60000", "1", "0.5", "250", "35")),
    "price": st.sampled_from(("", "12", "30")),
    "stop": st.sampled_from(("", "15", "20", "33.5")),
    "target": st.sampled_from(("", "2", "25", "41")),
    "trail": st.sampled_from(("", "", "18", "40")),
    "bound": st.sampled_from(("", "3")),
}


@st.composite
def entries(draw: st.DrawFn, name: FieldName) -> Entry:
    units = [unit for unit in TICKET_FIELDS[name].units if unit not in {"price", "ATR"}]
    return Entry(draw(numbers[name]), draw(st.sampled_from(units)))


@st.composite
def tickets(draw: st.DrawFn) -> Drawn:
    sides: tuple[Side, Side] = ("BUY", "SELL")
    kinds: tuple[Kind, ...] = ("MARKET", "MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED")
    kind = draw(st.sampled_from(kinds))
    members = OrderOptions(
        guaranteed=draw(st.booleans()), fill=draw(st.sampled_from((*FILLS, "DEFAULT")))
    )
    draft = Draft(
        side=draw(st.sampled_from(sides)),
        instrument=draw(st.sampled_from(NAMES)),
        kind=kind,
        size=draw(entries("size")),
        price=replace(draw(entries("price")), unit="pips"),
        stop=draw(entries("stop")),
        target=draw(entries("target")),
        trail=draw(entries("trail")),
        bound=draw(entries("bound")),
        expiry="FOK" if kind == "MARKET" else "GTC",
        members=members,
    )
    trades = st.tuples(st.sampled_from(NAMES), st.sampled_from((4000, 15_000, -4000, -9000)))
    held = draw(st.lists(trades, max_size=4))
    ends: tuple[Literal["stop", "target"], ...] = ("stop", "target")
    shallow = draw(st.sampled_from((None, 500, 7000)))
    return Drawn(draft, tuple(held), draw(st.sampled_from(ends)), shallow)


def make_shallow(broker: PractisedAccount, name: str, units: int) -> None:
    """Leave so many units at the price of an instrument; the others are at two pips beyond."""
    quote, beyond = (
        broker.market.quote(name),
        2 * broker.market.specifications[name].pip,
    )
    broker.market.levels(
        name,
        [(str(quote.bid), units), (str(quote.bid - beyond), 10_000_000)],
        [(str(quote.ask), units), (str(quote.ask + beyond), 10_000_000)],
    )


class Account:
    """A practised account, the desk's picture of it, and the ticket over both."""

    def __init__(self, terms: Terms, drawn: Drawn) -> None:
        broker = PractisedAccount(terms, deposit="100000")
        for number, (name, units) in enumerate(drawn.held):
            far = StopLossDetails(distance=D(3) if "JPY" in name else D("0.03"))
            stop = far if number % 2 else None
            broker.place(MarketRequest(instrument=name, units=D(units), stop_loss_on_fill=stop))
        if drawn.shallow is not None:
            make_shallow(broker, drawn.draft.instrument, drawn.shallow)
        self.folded, self.broker = FoldedAccount(broker), broker
        for name, known in broker.market.specifications.items():
            view = json.dumps(instrument_view(known))
            self.folded.store.instruments[name] = _instruments.read(view)
        self.folded.value()
        self.folded.store.arming = Arming("ARMED")
        self.name = drawn.draft.instrument
        self.form = TicketForm(self.form_context(), drawn.draft.side, self.name)
        self.form.draft = drawn.draft

    def form_context(self) -> FormContext:
        self.folded.store.wall_ns = lambda: NOON
        return FormContext(
            store=self.folded.store,
            letters=Letters(lambda letters: letters[0]),
            clock=lambda: 1.0,
            guard=None,
        )

    @property
    def used(self) -> Decimal:
        return self.folded.theirs().margin_used or D(0)

    @property
    def available(self) -> Decimal:
        return self.folded.theirs().margin_available or D(0)

    @property
    def position(self) -> Position:
        return self.broker.state.position(self.name)

    def send(self, order: OpenOrder) -> OrderFilled | None:
        """Send an order over the wire's form; a pending one is filled by moving the price to it."""
        body = json.loads(json.dumps(order.request.to_wire()))
        request = read_order(JsonReader({"order": body}), self.broker.market)
        seen = len(self.broker.transactions)
        self.folded.do(PlaceOrder(order=request))
        rejected = [one.type for one in self.broker.transactions[seen:] if "REJECT" in one.type]
        assert not rejected, (rejected, order)
        if (price := price_of(order)) is not None:
            self.move(price, closes=order.request.units < 0)
        fills = [each for each in self.broker.transactions[seen:] if isinstance(each, OrderFilled)]
        own = [each for each in fills if each.order_id == self.broker.transactions[seen].id]
        return own[0] if own else None

    def move(self, price: Decimal, *, closes: bool) -> None:
        """Bring the bid (that closes a long) or the ask to a price."""
        quote = self.broker.market.quote(self.name)
        spread = quote.ask - quote.bid
        bid = price if closes else price - spread
        self.folded.tick(self.name, str(bid), str(bid + spread))

    def closed_by_price(self, trade_id: int, price: Decimal, *, long: bool) -> Decimal | None:
        """Return what the trade made when the price reached a level; None if something else closed it."""
        self.move(price, closes=long)
        for each in self.broker.transactions:
            if isinstance(each, OrderFilled):
                for part in each.trades_closed or ():
                    if part.trade_id == trade_id and "MARGIN" not in each.reason:
                        return part.realized_pl - part.guaranteed_execution_fee
        return None


def check(terms: Terms, drawn: Drawn) -> None:
    account = Account(terms, drawn)
    form = account.form
    context = form.trading_context()
    assert context is not None
    plan = form.plan(context)
    assert plan is not None
    asked = form.confirmation()
    order = form.request()
    if asked.step is Step.REFUSED:
        return
    assert order is not None
    preview = preview_of(drawn.draft, plan, context, NOON)
    used, available = account.used, account.available
    fill = account.send(order)
    does = plan.effect.opened + plan.effect.reduced
    if not does:  # a reduce-only order that waits for something to reduce
        assert fill is None
        return
    assert fill is not None, "what the desk sends, the broker fills"
    assert fill.units == drawn.draft.direction * does
    if plan.realized is not None:
        assert abs(fill.pl - plan.realized) < ROUNDING * 5
    position = account.position
    assert (position.long.units, -position.short.units) == (
        plan.effect.long_after,
        plan.effect.short_after,
    )
    if drawn.draft.kind == "MARKET":
        check_account(account, plan, preview, used, available)
        if fill.trade_opened is not None:
            check_initial_risk(account, plan, str(fill.trade_opened.trade_id))
    if fill.trade_opened is not None:
        check_levels(account, drawn, plan, fill.trade_opened.trade_id)


def check_account(
    account: Account, plan: Plan, preview: Preview, used: Decimal, available: Decimal
) -> None:
    """Margin, exposure and open risk after a market order, at the prices of the preview."""
    assert abs(account.used - used - plan.margin) < ROUNDING * 5
    assert abs(account.available - plan.margin_left) < CENT or not available
    state, market = account.broker.state, account.broker.market
    held = exposure_of(
        Holding(
            each.instrument, each.long.units + each.short.units, market.quote(each.instrument).mid
        )
        for each in state.positions.values()
        if each.is_open
    )
    for change in preview.exposure:
        assert held.get(change.currency, D(0)) == change.after
    after = account.folded.value()
    assert after.open_risk is not None
    assert preview.risk_after is not None
    assert abs(after.open_risk - preview.risk_after) < CENT
    assert after.unprotected_trades == preview.unprotected_after


def check_initial_risk(account: Account, plan: Plan, trade_id: str) -> None:
    """Grid and journal measure R by what the ticket said: spread, depth and premium included."""
    grid = account.folded.store.trades[trade_id]
    told = [read_from_wire(each) for each in account.broker.transactions]
    journal = {each.id: each for each in rebuild(events_of(told)).trades}[trade_id]
    for each in (grid.initial_risk, journal.initial_risk):
        assert (each is None) == (plan.risk is None)
        assert each is None or plan.risk is None or abs(each - plan.risk) < CENT


def check_levels(account: Account, drawn: Drawn, plan: Plan, trade_id: int) -> None:
    """The profit or loss when the price reaches the nearest stop, or the target."""
    entry, target, long = plan.average, plan.levels.target, drawn.draft.direction > 0
    assert entry is not None
    if drawn.goes_to == "target" and isinstance(target, Decimal):
        made, said = account.closed_by_price(trade_id, target, long=long), plan.reward
    elif plan.distance is not None:
        stop = entry - drawn.draft.direction * plan.distance
        made = account.closed_by_price(trade_id, stop, long=long)
        said = None if plan.risk is None else -plan.risk
    else:
        return
    assume(made is not None)
    assert said is not None
    assert made is not None
    assert abs(made - said) < CENT


@pytest.mark.parametrize("units", [200_000, -200_000])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("home", ["USD", "EUR"])
def test_financing_that_a_preview_says_is_what_the_rollover_charges(
    home: str, name: str, units: int
) -> None:
    held = ((name, units),)
    account = Account(Terms(currency=home), Drawn(Draft("BUY", name), held, "stop"))
    context = account.form.trading_context()
    assert context is not None
    said = financing_of(context, D(units), context.rules.financing_days[WEDNESDAY])
    account.folded.do(Finance())
    charged = account.broker.transactions[-1]
    assert isinstance(charged, DailyFinanced)
    assert said is not None
    assert abs(charged.financing - said) < ROUNDING


@pytest.mark.parametrize("terms", TERMS, ids=lambda each: f"{each.currency} {each.hedging}")
@settings(deadline=None, max_examples=12)
@given(drawn=tickets())
def test_what_the_preview_says_is_what_the_broker_does(terms: Terms, drawn: Drawn) -> None:
    check(terms, drawn)


@pytest.mark.soak
@pytest.mark.parametrize("terms", TERMS, ids=lambda each: f"{each.currency} {each.hedging}")
@settings(deadline=None, max_examples=500)
@given(drawn=tickets())
def test_what_two_thousand_previews_say_is_what_the_broker_does(terms: Terms, drawn: Drawn) -> None:
    check(terms, drawn)
