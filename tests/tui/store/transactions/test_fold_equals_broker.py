"""Whatever the practice engine does to an account, the fold of its transactions is its own snapshot."""

import dataclasses
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk_client.account.snapshot import compare
from keydesk_client.account.synchronizer import Comparison, Continuity, Synchronizer
from keydesk_client.models import TransactionID
from keydesk_client.models.responses import AccountChangesResponse
from keydesk_practice.engine.commands import (
    CancelOrder,
    ClientExtensions,
    ClosePosition,
    CloseTrade,
    Command,
    Configure,
    Finance,
    GuaranteedStopLossDetails,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    PlaceOrder,
    ReplaceOrder,
    SetDependents,
    SetTradeExtensions,
    StopLossDetails,
    StopRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
    TransferFunds,
)
from keydesk_practice.engine.quotes import Quote
from keydesk_practice.engine.state.account import Account, Terms
from support.folded_account import FoldedAccount, picture, read_from_wire, their_picture
from support.practised_account import PractisedAccount
from support.walks import sampled

PIP = {"EUR_USD": Decimal("0.0001"), "USD_JPY": Decimal("0.01"), "EUR_GBP": Decimal("0.0001")}


@dataclass(frozen=True)
class Step:
    """One thing to do, as drawn; what makes no sense is refused, and that is a transaction too."""

    kind: str
    name: str
    units: Decimal
    away: int  # pips
    pick: int  # which trade or order
    account: Account | None = None
    quote: Quote | None = None

    @property
    def distance(self) -> Decimal:
        return (abs(self.away) + 12) * PIP[self.name]

    @property
    def up(self) -> int:
        return 1 if self.units > 0 else -1

    @property
    def price(self) -> Decimal:
        assert self.quote is not None
        return self.quote.bid + self.away * PIP[self.name]

    @property
    def stop(self) -> StopLossDetails:
        assert self.quote is not None
        return StopLossDetails(price=self.quote.bid - self.up * self.distance)

    @property
    def target(self) -> TakeProfitDetails:
        assert self.quote is not None
        return TakeProfitDetails(price=self.quote.ask + self.up * self.distance)

    @property
    def trail(self) -> TrailingStopLossDetails:
        return TrailingStopLossDetails(distance=self.distance)

    @property
    def trade(self) -> str:
        assert self.account is not None
        return _nth(self.account.trades, self.pick)

    @property
    def order(self) -> str:
        assert self.account is not None
        return _nth(self.account.orders, self.pick)

    def market(self) -> MarketRequest:
        return MarketRequest(instrument=self.name, units=self.units)

    def limit(self) -> LimitRequest:
        return LimitRequest(instrument=self.name, units=self.units, price=self.price)


COMMANDS: dict[str, Callable[[Step], Command]] = {
    "market": lambda s: PlaceOrder(order=s.market()),
    "bracket": lambda s: PlaceOrder(
        order=replace(s.market(), stop_loss_on_fill=s.stop, take_profit_on_fill=s.target)
    ),
    "trailing": lambda s: PlaceOrder(order=replace(s.market(), trailing_stop_loss_on_fill=s.trail)),
    "guaranteed": lambda s: PlaceOrder(
        order=replace(
            s.market(),
            guaranteed_stop_loss_on_fill=GuaranteedStopLossDetails(distance=s.distance),
        )
    ),
    "limit": lambda s: PlaceOrder(order=replace(s.limit(), stop_loss_on_fill=s.stop)),
    "stop": lambda s: PlaceOrder(
        order=StopRequest(instrument=s.name, units=s.units, price=s.price)
    ),
    "touched": lambda s: PlaceOrder(
        order=MarketIfTouchedRequest(instrument=s.name, units=s.units, price=s.price)
    ),
    "cancel": lambda s: CancelOrder(specifier=s.order),
    "replace": lambda s: ReplaceOrder(specifier=s.order, order=s.limit()),
    "close": lambda s: CloseTrade(specifier=s.trade),
    "close a part": lambda s: CloseTrade(specifier=s.trade, units=Decimal(500)),
    "close longs": lambda s: ClosePosition(instrument=s.name, long_units="ALL"),
    "close shorts": lambda s: ClosePosition(instrument=s.name, short_units="ALL"),
    "protect": lambda s: SetDependents(
        specifier=s.trade, stop_loss=s.stop, trailing_stop_loss=s.trail
    ),
    "unprotect": lambda s: SetDependents(specifier=s.trade, stop_loss=None, take_profit=s.target),
    "tag": lambda s: SetTradeExtensions(
        specifier=s.trade, client_extensions=ClientExtensions(tag="breakout")
    ),
    "fund": lambda s: TransferFunds(amount=Decimal(s.away)),
    "configure": lambda s: Configure(
        alias="x", margin_rate=Decimal("0.05") if s.away > 0 else None
    ),
    "finance": lambda _: Finance(),
}
TICK = "tick"

sizes = st.sampled_from(["1000", "5000", "20000", "-1000", "-5000", "-20000", "90000000"])
steps = st.builds(
    Step,
    kind=st.sampled_from([*COMMANDS, "market", "bracket", TICK, TICK, TICK, TICK]),
    name=st.sampled_from(sorted(PIP)),
    units=sizes.map(Decimal),
    away=st.integers(-60, 60),
    pick=st.integers(0, 5),
)


def happen(folded: FoldedAccount, drawn: Step) -> None:
    """Do a step at the broker."""
    market = folded.broker.market
    step = dataclasses.replace(drawn, account=folded.broker.state, quote=market.quote(drawn.name))
    if step.kind == TICK:
        folded.tick(step.name, str(step.price), str(step.price + PIP[step.name]))
    else:
        folded.do(COMMANDS[step.kind](step))


def _nth(things: Mapping[int, object], pick: int) -> str:
    ids = list(things)
    return str(ids[pick % len(ids)]) if ids else "999"


TERMS = [Terms(currency="USD"), Terms(currency="EUR", hedging=True)]
HISTORIES = st.lists(steps, min_size=10, max_size=60)


def check_the_fold(terms: Terms, history: list[Step]) -> None:
    folded = FoldedAccount(PractisedAccount(terms, deposit="100000"))
    for step in history:
        happen(folded, step)
        assert folded.doubts == []
        assert compare(folded.store, *folded.poll()).differences == ()
    assert picture(folded.store) == their_picture(folded)


@pytest.mark.parametrize("terms", TERMS)
@settings(deadline=None, max_examples=6)
@given(history=HISTORIES)
def test_the_fold_of_any_history_is_the_brokers_snapshot(terms: Terms, history: list[Step]) -> None:
    check_the_fold(terms, history)


@pytest.mark.soak
@pytest.mark.parametrize("terms", TERMS)
@settings(deadline=None, max_examples=300)
@given(history=HISTORIES)
def test_the_fold_of_hundreds_of_histories_is_the_brokers_snapshot(
    terms: Terms, history: list[Step]
) -> None:
    check_the_fold(terms, history)


@settings(deadline=None, max_examples=10)
@given(history=st.lists(steps, min_size=10, max_size=40))
def test_profit_and_margin_by_our_reckoning_are_the_brokers(
    history: list[Step],
) -> None:
    folded = FoldedAccount(PractisedAccount(deposit="100000"))
    for step in history:
        happen(folded, step)
    ours, theirs = folded.value(), folded.theirs()
    rounding = Decimal("0.0002") * (len(folded.store.trades) + 1)
    assert abs(ours.unrealized_pl - theirs.unrealized_pl) <= rounding
    assert abs(ours.nav - theirs.nav) <= rounding
    assert abs(ours.margin_used - theirs.margin_used) <= rounding
    assert ours.mid_nav is not None
    assert abs(ours.mid_nav - theirs.margin_closeout_nav) <= rounding


class Followed:
    """A desk that follows the account; what the stream and the answers bring lags behind the broker."""

    def __init__(self, terms: Terms, dice: random.Random) -> None:
        self.theirs = FoldedAccount(PractisedAccount(terms, deposit="100000"))
        self.store, self.dice = Store(), dice
        self.doubts: list[str] = []
        self.heard: list[int] = []
        self.synchronizer = Synchronizer(self.store, partial(apply, self.store), self.doubts.append)
        self.synchronizer.gate.listen(lambda each: self.heard.append(int(each.id)))
        self.synchronizer.apply_snapshot(self.theirs.theirs())
        self._brought = self.last

    @property
    def last(self) -> int:
        return len(self.theirs.broker.transactions)

    def go_on(self) -> None:
        """The account trades, and the stream brings some of that."""
        for _ in range(self.dice.randrange(4)):
            happen(self.theirs, self._step())
        self.bring(self.dice.randrange(7))

    def bring(self, count: int) -> None:
        new = self.theirs.broker.transactions[self._brought :][:count]
        self._brought += len(new)
        self.synchronizer.gate.offer_all(map(read_from_wire, new))

    def _step(self) -> Step:
        kind = self.dice.choice([*COMMANDS, "market", "bracket", "protect", TICK, TICK, TICK])
        units = self.dice.choice((1000, 5000, 20000, -1000, -5000, -20000))
        away, pick = self.dice.randint(-60, 60), self.dice.randint(0, 5)
        return Step(kind, self.dice.choice(sorted(PIP)), Decimal(units), away, pick)

    def answer(self, since: int) -> AccountChangesResponse:
        changes, state = self.theirs.poll(since)
        last = TransactionID(self.last)
        return AccountChangesResponse(changes=changes, state=state, last_transaction_id=last)

    def read_account(self) -> None:
        with self.synchronizer.asking() as request:
            self.go_on()
            account = self.theirs.theirs()
            self.go_on()
            assert self.synchronizer.apply_snapshot(account, request) is Continuity.SAME

    def poll(self, meanwhile: Callable[[], None]) -> Comparison:
        with self.synchronizer.asking() as request:
            self.go_on()
            answer = self.answer(request.since)
            meanwhile()
            return self.synchronizer.apply_changes(answer, request)


def check_answers_under_way(terms: Terms, seed: int) -> None:
    desk = Followed(terms, random.Random(seed))
    for _ in range(25):
        desk.go_on()
        draw = desk.dice.random()
        if draw < 0.25:
            desk.read_account()
        else:
            desk.poll(desk.read_account if draw < 0.4 else desk.go_on)
        assert desk.doubts == []
    desk.bring(desk.last)
    assert desk.poll(lambda: desk.bring(desk.last)) is Comparison.EQUAL
    assert desk.synchronizer.checked == desk.last
    assert picture(desk.store) == their_picture(desk.theirs)
    assert desk.heard == sorted(set(desk.heard)), "each transaction at most once, in order"
    assert desk.doubts == []


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", sampled(range(4), 2))
def test_answers_about_an_account_that_goes_on_trading_are_neither_wrong_nor_doubted(
    terms: Terms, seed: int
) -> None:
    check_answers_under_way(terms, seed)


@pytest.mark.soak
@pytest.mark.parametrize("terms", TERMS)
def test_so_are_the_answers_about_hundreds_of_accounts(terms: Terms) -> None:
    for seed in range(300):
        check_answers_under_way(terms, seed)
