"""Journals of practised accounts, over the wire's form, and random histories for them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.trade_journal.reading import events_of
from keydesk_client.models import Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_practice.engine.commands import (
    ClosePosition,
    CloseTrade,
    Command,
    Finance,
    GuaranteedStopLossDetails,
    MarketRequest,
    PlaceOrder,
    SetDependents,
    StopLossDetails,
    Tick,
    TrailingStopLossDetails,
    TransferFunds,
)
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import to_wire
from support.practised_account import PractisedAccount

D = Decimal
PIP = {"EUR_USD": D("0.0001"), "USD_JPY": D("0.01"), "EUR_GBP": D("0.0001")}
_reader: Reader[Transaction] = Reader(Transaction)


def transactions_of(account: PractisedAccount) -> list[Transaction]:
    """Return the account's transactions as a client reads them."""
    return [_reader.read(json.dumps(to_wire(each))) for each in account.transactions]


def journal_of(account: PractisedAccount) -> Journal:
    """Return the journal of all its transactions."""
    return rebuild(events_of(transactions_of(account)))


@dataclass(frozen=True)
class Step:
    """One thing to do; what makes no sense is refused by the engine."""

    kind: str
    name: str
    units: Decimal
    away: int  # pips
    pick: int

    @property
    def distance(self) -> Decimal:
        return (abs(self.away) + 12) * PIP[self.name]

    def market(self) -> MarketRequest:
        return MarketRequest(instrument=self.name, units=self.units)


def _trade(account: PractisedAccount, step: Step) -> str:
    ids = list(account.state.trades)
    return str(ids[step.pick % len(ids)]) if ids else "999"


COMMANDS: dict[str, Callable[[PractisedAccount, Step], Command]] = {
    "market": lambda _, s: PlaceOrder(order=s.market()),
    "reversal": lambda _, s: PlaceOrder(order=replace(s.market(), units=s.units * -3)),
    "stop": lambda _, s: PlaceOrder(
        order=replace(s.market(), stop_loss_on_fill=StopLossDetails(distance=s.distance))
    ),
    "trail": lambda _, s: PlaceOrder(
        order=replace(
            s.market(), trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=s.distance)
        )
    ),
    "guaranteed": lambda _, s: PlaceOrder(
        order=replace(
            s.market(),
            guaranteed_stop_loss_on_fill=GuaranteedStopLossDetails(distance=s.distance),
        )
    ),
    "protect": lambda a, s: SetDependents(
        specifier=_trade(a, s), stop_loss=StopLossDetails(distance=s.distance)
    ),
    "close": lambda a, s: CloseTrade(specifier=_trade(a, s)),
    "close a part": lambda a, s: CloseTrade(specifier=_trade(a, s), units=D(700)),
    "close longs": lambda _, s: ClosePosition(instrument=s.name, long_units="ALL"),
    "close shorts": lambda _, s: ClosePosition(instrument=s.name, short_units="ALL"),
    "transfer": lambda _, s: TransferFunds(amount=D(s.away) + D("0.37")),
    "finance": lambda _, __: Finance(),
}
TICK, CRASH = "tick", "crash"
SIZES = ["1000", "5000", "20000", "-1000", "-5000", "-20000", "900000", "-900000"]
STEPS = st.builds(
    Step,
    kind=st.sampled_from([*COMMANDS, "market", "stop", TICK, TICK, TICK, CRASH]),
    name=st.sampled_from(sorted(PIP)),
    units=st.sampled_from(SIZES).map(D),
    away=st.integers(-60, 60),
    pick=st.integers(0, 5),
)
HISTORIES = st.lists(STEPS, min_size=5, max_size=50)
TERMS = [
    Terms(currency="USD"),
    Terms(currency="EUR", hedging=True),
]


def play(terms: Terms, history: Sequence[Step], deposit: str = "100000") -> PractisedAccount:
    """Return an account after a history; a crash moves the price far enough for a margin closeout."""
    account = PractisedAccount(terms, deposit=deposit)
    for step in history:
        account.market.wait(7)
        if step.kind in {TICK, CRASH}:
            pips = step.away * (15 if step.kind == CRASH else 1)
            bid = account.market.quote(step.name).bid + pips * PIP[step.name]
            account.market.price(step.name, str(bid), str(bid + PIP[step.name]))
            account.do(Tick(instruments=frozenset({step.name})))
        else:
            account.do(COMMANDS[step.kind](account, step))
    return account
