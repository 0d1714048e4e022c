"""Invariants of the engine over random sequences of commands and prices."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from keydesk_practice.broker.account_session import (
    order_from_json,
    order_to_json,
    trade_from_json,
)
from keydesk_practice.broker.snapshots import account_from_json, account_to_json
from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    CancelOrder,
    ClientExtensions,
    ClosePosition,
    CloseTrade,
    Command,
    Finance,
    GuaranteedStopLossDetails,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    PlaceOrder,
    ReplaceOrder,
    SetDependents,
    SetOrderExtensions,
    SetTradeExtensions,
    StopLossDetails,
    StopRequest,
    TakeProfitDetails,
    Tick,
    TrailingStopLossDetails,
    TransferFunds,
)
from keydesk_practice.engine.decide import decision_on
from keydesk_practice.engine.state.account import Account, Terms
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.triggers import observe
from keydesk_practice.engine.transactions import (
    DailyFinanced,
    FundsTransferred,
    MarketOrderCreated,
    OrderCancelled,
    OrderCreated,
    OrderFilled,
    Transaction,
    from_wire,
    to_wire,
)
from support.examples import examples
from support.fakes.still_market import SECOND
from support.practised_account import PractisedAccount
from support.wire import wire

D = Decimal
WIRE = wire({"EUR_USD": 5, "USD_JPY": 3, "EUR_GBP": 5})
MIDS = {"EUR_USD": D("1.08495"), "USD_JPY": D("155.207"), "EUR_GBP": D("0.85607")}
STEPS = {"EUR_USD": D("0.00001"), "USD_JPY": D("0.001"), "EUR_GBP": D("0.00001")}
instruments = st.sampled_from(sorted(MIDS))
sizes = st.sampled_from([D(1), D(10), D(1000), D(25000), D(90000), D(250000)])
signs = st.sampled_from([D(1), D(-1)])
offsets = st.integers(-400, 400)
distances = st.sampled_from([D(10), D(60), D(150), D(300)])
extensions_strategy = st.sampled_from([None, ClientExtensions(id="one"), ClientExtensions(tag="t")])
fills = st.sampled_from(["DEFAULT", "REDUCE_FIRST", "REDUCE_ONLY", "OPEN_ONLY"])


class AccountMachine(RuleBasedStateMachine):
    """A netting account under random commands in a random market."""

    terms: ClassVar[Terms] = Terms(currency="USD")

    def __init__(self) -> None:
        super().__init__()
        self.account = PractisedAccount(self.terms)
        self.mids = dict(MIDS)

    def level(self, instrument: str, offset: int) -> Decimal:
        return self.mids[instrument] + offset * STEPS[instrument]

    def check_taken_in(self, before: Account, command: Command) -> None:
        """The account that a decision was looked ahead on is the one that its transactions make."""
        decision = decision_on(before, command, self.account.market)
        if decision is None:
            return
        for mark in observe(decision.account, self.account.market):
            apply(decision.account, mark)
        live = self.account.state
        assert account_to_json(decision.account) == account_to_json(live)
        for order in decision.account.ended.orders():
            assert order == live.ended.order(order.id)
        for trade in decision.account.ended.trades():
            assert trade == live.ended.trade(trade.id)

    def do(self, command: Command) -> None:
        before = views.account(self.account.state, self.account.market)
        copy = self.account.state.copy()
        made = self.account.do(command)
        again = views.account(copy, self.account.market)
        assert before == again, "deciding changed the account it was given"
        self.check_taken_in(copy, command)
        if not isinstance(command, Tick | Finance):
            check_has_an_outcome(made)
        for one in made:
            assert WIRE.item_problems("Transaction", to_wire(one)) == []

    def act_on(self, which: int, table: dict[int, object]) -> str:
        ids = sorted(table)
        return str(ids[which % len(ids)]) if ids else "999999"

    @rule(
        instrument=instruments,
        size=sizes,
        sign=signs,
        mode=fills,
        stop=distances,
        kind=st.integers(0, 4),
        extensions=extensions_strategy,
        ioc=st.booleans(),
    )
    def trades(  # noqa: PLR0917 - hypothesis draws them
        self,
        instrument: str,
        size: Decimal,
        sign: Decimal,
        mode: str,
        stop: Decimal,
        kind: int,
        extensions: ClientExtensions | None,
        ioc: bool,
    ) -> None:
        away = stop * STEPS[instrument]
        self.do(
            PlaceOrder(
                order=MarketRequest(
                    instrument=instrument,
                    units=size * sign,
                    position_fill=mode,  # type: ignore[arg-type]
                    time_in_force="IOC" if ioc else "FOK",
                    client_extensions=extensions,
                    trade_client_extensions=extensions,
                    take_profit_on_fill=TakeProfitDetails(distance=away) if kind > 1 else None,
                    stop_loss_on_fill=StopLossDetails(distance=away) if kind == 2 else None,
                    trailing_stop_loss_on_fill=(
                        TrailingStopLossDetails(distance=away) if kind == 3 else None
                    ),
                    guaranteed_stop_loss_on_fill=(
                        GuaranteedStopLossDetails(distance=away) if kind == 4 else None
                    ),
                )
            )
        )

    @rule(
        instrument=instruments,
        size=sizes,
        sign=signs,
        offset=offsets,
        kind=st.sampled_from([LimitRequest, StopRequest, MarketIfTouchedRequest]),
        life=st.sampled_from(["GTC", "GFD", "GTD", "FOK", "IOC"]),
        side=st.sampled_from(["DEFAULT", "INVERSE", "MID"]),
        extensions=extensions_strategy,
    )
    def rests(  # noqa: PLR0917 - hypothesis draws them
        self,
        instrument: str,
        size: Decimal,
        sign: Decimal,
        offset: int,
        kind: Callable[..., LimitRequest],
        life: str,
        side: str,
        extensions: ClientExtensions | None,
    ) -> None:
        order = kind(
            instrument=instrument,
            units=size * sign,
            price=self.level(instrument, offset),
            time_in_force=life,
            gtd_time=self.account.market.now + 3600 * SECOND,
            trigger_condition=side,
            client_extensions=extensions,
        )
        if offset % 3 == 0:
            specifier = self.act_on(offset, dict(self.account.state.orders))
            self.do(ReplaceOrder(specifier=specifier, order=order))
        else:
            self.do(PlaceOrder(order=order))

    @rule(which=st.integers(0, 50))
    def cancels(self, which: int) -> None:
        self.do(CancelOrder(specifier=self.act_on(which, dict(self.account.state.orders))))

    @rule(which=st.integers(0, 50), share=st.sampled_from([None, D("0.5"), D(2)]))
    def closes_a_trade(self, which: int, share: Decimal | None) -> None:
        specifier = self.act_on(which, dict(self.account.state.trades))
        trade = self.account.state.trades.get(int(specifier))
        if share is None or trade is None:
            self.do(CloseTrade(specifier=specifier))
        else:
            units = (abs(trade.current_units) * share).to_integral_value()
            self.do(CloseTrade(specifier=specifier, units=units))

    @rule(instrument=instruments, long=st.booleans(), short=st.booleans())
    def closes_a_position(self, instrument: str, long: bool, short: bool) -> None:
        self.do(
            ClosePosition(
                instrument=instrument,
                long_units="ALL" if long else None,
                short_units="ALL" if short else None,
            )
        )

    @precondition(lambda self: self.account.state.trades)
    @rule(which=st.integers(0, 50), stop=offsets, goal=offsets, kind=st.integers(0, 3))
    def protects(self, which: int, stop: int, goal: int, kind: int) -> None:
        specifier = self.act_on(which, dict(self.account.state.trades))
        trade = self.account.state.trades[int(specifier)]
        stop_level = self.level(trade.instrument, stop)
        command = SetDependents(
            specifier=specifier,
            take_profit=(
                None if kind == 0 else TakeProfitDetails(price=self.level(trade.instrument, goal))
            ),
            stop_loss=None if kind == 1 else StopLossDetails(price=stop_level),
        )
        self.account.do(command)

    @rule(which=st.integers(0, 50), extensions=extensions_strategy)
    def modifies_extensions(self, which: int, extensions: ClientExtensions | None) -> None:
        order = self.act_on(which, dict(self.account.state.orders))
        self.do(SetOrderExtensions(specifier=order, client_extensions=extensions))
        trade = self.act_on(which, dict(self.account.state.trades))
        self.do(SetTradeExtensions(specifier=trade, client_extensions=extensions))

    @rule(amount=st.sampled_from([D(500), D("-200.5")]))
    def moves_money(self, amount: Decimal) -> None:
        self.do(TransferFunds(amount=amount))

    @rule(
        instrument=instruments,
        move=st.integers(-2500, 2500) | st.sampled_from([-9000, 9000]),
        tradeable=st.sampled_from([True, True, True, False]),
        seconds=st.integers(1, 90_000),
    )
    def prices_move(self, instrument: str, move: int, tradeable: bool, seconds: int) -> None:
        step = STEPS[instrument]
        self.mids[instrument] = max(self.mids[instrument] + move * step, 3000 * step)
        mid = self.mids[instrument]
        market = self.account.market
        market.wait(seconds)
        market.price(
            instrument, str(mid - 5 * step), str(mid + 5 * step), tradeable=tradeable, depth=60_000
        )
        self.do(Tick(instruments=frozenset({instrument})))

    @rule()
    def the_day_ends(self) -> None:
        self.do(Finance())

    @invariant()
    def replay_equals_live(self) -> None:
        live = self.account.state
        replayed = Account(id=live.id, user_id=live.user_id, terms=self.terms)
        for event in self.account.events:
            through_the_wire = (
                from_wire(to_wire(event)) if isinstance(event, Transaction) else event
            )
            apply(replayed, through_the_wire)
        assert shown(replayed, self) == shown(live, self)
        assert replayed.triggers == live.triggers
        assert replayed.expiries == live.expiries

    @invariant()
    def what_is_kept_equals_the_fold(self) -> None:
        live = self.account.state
        kept = json.loads(json.dumps(account_to_json(live)))
        found = account_from_json(kept)
        assert account_to_json(found) == kept
        found.ended = live.ended
        assert found == live
        tables = ("orders", "trades", "positions", "triggers", "expiries")
        assert all(list(getattr(found, name)) == list(getattr(live, name)) for name in tables)

    def teardown(self) -> None:
        ended = self.account.state.ended
        for order in ended.orders():
            assert order_from_json(json.loads(json.dumps(order_to_json(order)))) == order
        for trade in ended.trades():
            assert trade_from_json(json.loads(json.dumps(to_wire(trade)))) == trade

    @invariant()
    def ids_have_no_gaps(self) -> None:
        ids = [one.id for one in self.account.transactions]
        assert ids == list(range(1, len(ids) + 1))

    @invariant()
    def the_balance_is_the_sum_of_what_was_booked(self) -> None:
        expected = D(0)
        for one in self.account.transactions:
            match one:
                case FundsTransferred():
                    expected += one.amount
                case OrderFilled():
                    expected += one.pl + one.financing - one.commission
                    expected -= one.guaranteed_execution_fee
                case DailyFinanced():
                    expected += one.financing
        assert self.account.state.balance == expected

    @invariant()
    def sums_add_up(self) -> None:
        account = views.account(self.account.state, self.account.market)
        for name in ("unrealizedPL", "marginUsed"):
            assert D(account[name]) == sum(
                (D(p.get(name, "0")) for p in account["positions"]), D(0)
            )
        trades = sum((D(trade["unrealizedPL"]) for trade in account["trades"]), D(0))
        assert D(account["unrealizedPL"]) == trades
        assert D(account["NAV"]) == D(account["balance"]) + trades
        assert D(account["pl"]) == sum((D(p["pl"]) for p in account["positions"]), D(0))
        assert D(account["financing"]) == sum(
            (D(p["financing"]) for p in account["positions"]), D(0)
        )

    @invariant()
    def no_dependent_outlives_its_trade(self) -> None:
        state = self.account.state
        for order in state.orders.values():
            assert not isinstance(order.created, MarketOrderCreated), "a market order never rests"
            if order.dependent is not None:
                trade = state.trades[order.dependent.trade_id]
                assert order.id in trade.dependents.values()
        for trade in state.trades.values():
            assert all(order_id in state.orders for order_id in trade.dependents.values())

    @invariant()
    def a_position_is_its_trades(self) -> None:
        state = self.account.state
        for position in state.positions.values():
            for side in (position.long, position.short):
                trades = [state.trades[id_] for id_ in side.trade_ids]
                assert side.units == sum((one.current_units for one in trades), D(0))
                assert side.value == sum((one.current_units * one.price for one in trades), D(0))
            if not self.terms.hedging:
                assert not (position.long.units and position.short.units)


def shown(account: Account, life: AccountMachine) -> object:
    market = life.account.market
    return (
        views.account(account, market),
        sorted((one.id, one.state) for one in account.ended.orders()),
        sorted((one.id, one.realized_pl) for one in account.ended.trades()),
    )


def check_has_an_outcome(made: tuple[Transaction, ...]) -> None:
    """Assert that the outcome is a fill, a pending order, a cancel, a change or a rejection with a reason."""
    assert made
    ended = {one.order_id for one in made if isinstance(one, OrderFilled | OrderCancelled)}
    for one in made:
        if isinstance(one, MarketOrderCreated) or (
            isinstance(one, OrderCreated) and one.time_in_force in {"FOK", "IOC"}
        ):
            assert one.id in ended
        if one.type.endswith("_REJECT"):
            assert to_wire(one)["rejectReason"]


class HedgingMachine(AccountMachine):
    """The same for a hedging account."""

    terms = Terms(currency="EUR", hedging=True)


LIVES = settings(
    max_examples=examples(6, soak=12),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.soak
@pytest.mark.parametrize("life", [AccountMachine, HedgingMachine])
def test_many_long_command_sequences(life: type[AccountMachine]) -> None:
    many = settings(LIVES, max_examples=500, stateful_step_count=80)
    run_state_machine_as_test(life, settings=many)


TestANettingAccount = AccountMachine.TestCase
TestANettingAccount.settings = LIVES
TestAHedgingAccount = HedgingMachine.TestCase
TestAHedgingAccount.settings = LIVES
