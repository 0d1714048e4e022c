"""An account with its own market, to which a test gives commands as the broker does."""

from decimal import Decimal
from typing import Any, TypeVar

from msgspec.structs import replace

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    Command,
    MarketRequest,
    OpenAccount,
    OrderRequest,
    PlaceOrder,
    Tick,
)
from keydesk_practice.engine.decide import decide
from keydesk_practice.engine.state.account import (
    Account,
    Order,
    OrderPriceLevel,
    Terms,
    Trade,
)
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.triggers import observe
from keydesk_practice.engine.transactions import Transaction
from support.fakes.still_market import StillMarket, example_market

Kind = TypeVar("Kind", bound=Transaction)
USER = 1_000_001
ID = "101-001-1000001-001"


class PractisedAccount:
    """An account, its market, and all its transactions and marks."""

    def __init__(
        self, terms: Terms | None = None, deposit: str = "10000", market: StillMarket | None = None
    ) -> None:
        self.market = market or example_market()
        self.state: Account = Account(id=ID, user_id=USER, terms=terms or Terms(currency="USD"))
        self.events: list[Transaction | OrderPriceLevel] = []
        self.do(OpenAccount(alias="Practice", deposit=Decimal(deposit)))

    @property
    def transactions(self) -> list[Transaction]:
        """The account's history."""
        return [event for event in self.events if not isinstance(event, OrderPriceLevel)]

    def do(self, command: Command) -> tuple[Transaction, ...]:
        """Execute a command as the broker does: decide, apply, update the marks."""
        made = decide(self.state, command, self.market)
        for transaction in made:
            apply(self.state, transaction)
        marks = observe(self.state, self.market)
        for mark in marks:
            apply(self.state, mark)
        self.events += [*made, *marks]
        return made

    def place(self, order: OrderRequest) -> tuple[Transaction, ...]:
        """Place an order."""
        return self.do(PlaceOrder(order=order))

    def trade(self, instrument: str, units: str | int, **members: object) -> Trade:
        """Open a trade at the market."""
        request = MarketRequest(instrument=instrument, units=Decimal(units))
        self.place(replace(request, **members))
        return list(self.state.trades.values())[-1]

    def price(self, instrument: str, bid: str, ask: str) -> tuple[Transaction, ...]:
        """Set a price and execute the tick."""
        self.market.price(instrument, bid, ask)
        return self.do(Tick(instruments=frozenset({instrument})))

    def last_order(self) -> Order:
        """The newest pending order."""
        return list(self.state.orders.values())[-1]

    def summary(self) -> dict[str, Any]:
        """The account summary as JSON values."""
        return views.summary(self.state, self.market)


def only(kind: type[Kind], transactions: tuple[Transaction, ...]) -> Kind:
    """Return the one transaction of a kind."""
    found = [one for one in transactions if isinstance(one, kind)]
    assert len(found) == 1, [one.type for one in transactions]
    return found[0]


def types(transactions: tuple[Transaction, ...]) -> list[str]:
    """Return the types of transactions."""
    return [one.type for one in transactions]
