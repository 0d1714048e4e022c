"""What must not pass a type checker. Nothing here runs: an ignore that became needless tells that a type became lax."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from keydesk_client import UNSET, Client, Done, Outcome, Rejected, Sender, sync
from keydesk_client.models import (
    ClientExtensions,
    LimitOrderRequest,
    MarketOrderRequest,
    Order,
    StopLossDetails,
    StopLossOrderRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
    Transaction,
)


def numbers_that_are_not_exact() -> None:
    LimitOrderRequest(instrument="EUR_USD", units=1, price=1.1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=1, price_bound=Fraction(11, 10))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    StopLossDetails(distance=0.01)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    TrailingStopLossDetails(distance=1e-2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def members_that_are_missing() -> None:
    MarketOrderRequest(instrument="EUR_USD")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    LimitOrderRequest(instrument="EUR_USD", units=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    TrailingStopLossDetails()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    StopLossOrderRequest(price="1.1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def members_that_do_not_exist() -> None:
    MarketOrderRequest(instrument="EUR_USD", units=1, price="1.1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    MarketOrderRequest(instrument="EUR_USD", units=1, prise_bound="1.1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    StopLossDetails(price="1.1", stop="1.1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    ClientExtensions(label="mine")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def edits_of_members_that_do_not_exist(order: LimitOrderRequest, details: StopLossDetails) -> None:
    order.with_(prise="1.1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    order.with_(units=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    details.with_(distance=0.01)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def none_where_it_may_not_be() -> None:
    MarketOrderRequest(instrument=None, units=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    LimitOrderRequest(instrument="EUR_USD", units=1, price=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    TrailingStopLossDetails(distance=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def things_of_another_kind() -> None:
    MarketOrderRequest(instrument="EUR_USD", units=1, take_profit_on_fill="1.2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=1, take_profit_on_fill={"price": "1.2"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=1, stop_loss_on_fill=TakeProfitDetails())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=1, stop_loss_on_fill=UNSET)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    MarketOrderRequest(instrument="EUR_USD", units=1, client_extensions="mine")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ClientExtensions(id=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def moments_that_are_none() -> None:
    LimitOrderRequest(instrument="EUR_USD", units=1, price=1, gtd_time=date(2030, 1, 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    StopLossDetails(price="1.1", gtd_time=timedelta(hours=4))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    StopLossDetails(price="1.1", gtd_time=1_900_000_000)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def records_that_do_not_change(order: Order, details: StopLossDetails) -> None:
    # pyright can not see that pydantic records are frozen
    order.state = "FILLED"  # type: ignore[misc]
    details.price = Decimal(1)  # type: ignore[misc]


async def calls(client: Client) -> None:
    await client.orders.create({"instrument": "EUR_USD", "units": "1"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.orders.get(17)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.close("17", units=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.close("17", units=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.positions.close("EUR_USD", long=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await client.candles.get("EUR_USD", counts=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await client.accounts.configure(margin_rate=0.05)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async for _ in client.trades.list():  # type: ignore[attr-defined]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        pass


async def choices_that_do_not_exist(client: Client) -> None:
    await client.candles.get("EUR_USD", granularity="1H")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.transactions.list(type_="ORDER_FIL")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.transactions.since(1, type_=["FILL"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    await client.orders.list(state="OPEN")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.list(state="PENDING")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def edits(client: Client, sender: Sender, order: Order) -> None:
    await client.trades.set_dependent_orders("17", take_profit="1.2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.set_dependent_orders("17", take_profit=StopLossDetails(price="1.2"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.set_dependent_orders("17", stop_loss=False)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.trades.set_dependent_orders("17", stop_loss="UNSET")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sender.set_dependent_orders("17", stop_loss=TakeProfitDetails(price="1.2"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sender.create(order)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def waiting_calls(client: sync.Client, sender: sync.Sender) -> None:
    client.orders.create("EUR_USD")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1), instruments=None)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.orders.get(17)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.orders.list(count="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.trades.close("17", units=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.trades.set_dependent_orders("17", stop_loss=TakeProfitDetails(price="1.2"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sender.create("EUR_USD")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sender.close_trade("17", units=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sender.set_dependent_orders("17", take_profit=StopLossDetails(price="1.2"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sender.watch("17")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    _ = client.accounts.summary().account.navy  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def prices_that_may_be_absent(order: StopLossOrderRequest) -> Decimal:
    return order.price  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


def members_of_other_kinds(order: Order, transaction: Transaction) -> None:
    _ = order.price  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    _ = transaction.pl  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def cases_left_out(outcome: Outcome) -> str:  # type: ignore[return]  # pyright: ignore[reportReturnType]
    match outcome:  # pyright: ignore[reportMatchNotExhaustive]
        case Done():
            return "done"
        case Rejected():
            return "refused"
