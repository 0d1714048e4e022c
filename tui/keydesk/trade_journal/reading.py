"""Transactions as events of the trade journal; text of the server is cleaned here.

A transaction with malformed members is left out. What it booked is shown as unattributed, as the difference of the balances around it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal

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
from keydesk.text.sanitize import clean, clean_name
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.models import (
    DailyFinancingTransaction,
    DividendAdjustmentTransaction,
    GuaranteedStopLossOrderTransaction,
    LimitOrderTransaction,
    MarketIfTouchedOrderTransaction,
    OrderFillTransaction,
    PriceBucket,
    StopLossOrderTransaction,
    StopOrderTransaction,
    TakeProfitOrderTransaction,
    TradeClientExtensionsModifyTransaction,
    TradeOpen,
    TradeReduce,
    TrailingStopLossOrderTransaction,
    Transaction,
    TransferFundsTransaction,
)

MALFORMED = (ValueError, AttributeError, TypeError, ArithmeticError)


def events_of(transactions: Iterable[Transaction]) -> Iterator[Event]:
    """Yield the events of transactions, in their order."""
    for each in transactions:
        with suppress(*MALFORMED):
            yield from tuple(_events(each))


def _events(transaction: Transaction) -> Iterator[Event]:
    match transaction:
        case OrderFillTransaction():
            yield _fill(transaction)
        case (
            LimitOrderTransaction()
            | StopOrderTransaction()
            | MarketIfTouchedOrderTransaction()
            | TakeProfitOrderTransaction()
        ):
            yield OrderPrice(clean_name(transaction.id), transaction.price)
        case StopLossOrderTransaction() | GuaranteedStopLossOrderTransaction():
            yield OrderPrice(clean_name(transaction.id), transaction.price)
            yield _stop(transaction, price=transaction.price)
        case TrailingStopLossOrderTransaction():
            yield _stop(transaction, distance=transaction.distance)
        case _:
            yield from _non_order_events(transaction)


def _non_order_events(transaction: Transaction) -> Iterator[Event]:
    match transaction:
        case TransferFundsTransaction():
            yield Transfer(
                clean_name(transaction.id),
                transaction.time.ns,
                transaction.amount,
                transaction.account_balance,
            )
        case DailyFinancingTransaction():
            yield _financing(transaction)
        case DividendAdjustmentTransaction():
            yield _dividend(transaction)
        case TradeClientExtensionsModifyTransaction():
            change = transaction.trade_client_extensions_modify
            yield Retag(
                clean_name(transaction.trade_id),
                None if change.tag is None else clean(change.tag),
                None if change.comment is None else clean(change.comment),
            )
        case _:
            return


def _stop(
    order: StopLossOrderTransaction
    | GuaranteedStopLossOrderTransaction
    | TrailingStopLossOrderTransaction,
    *,
    price: Decimal | None = None,
    distance: Decimal | None = None,
) -> StopSet:
    premium = getattr(order, "guaranteed_execution_premium", None) or ZERO
    return StopSet(
        clean_name(order.id),
        order.time.ns,
        clean_name(order.trade_id),
        price,
        distance,
        premium,
        order.reason == "ON_FILL",
    )


def _fill(fill: OrderFillTransaction) -> Fill:
    parts = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        parts.append(fill.trade_reduced)
    price = getattr(fill, "full_price", None)
    return Fill(
        id=clean_name(fill.id),
        time_ns=fill.time.ns,
        order_id=clean_name(fill.order_id),
        instrument=clean_name(fill.instrument),
        units=fill.units,
        price=fill.full_vwap or fill.price,
        reason=clean_name(fill.reason, 60),
        profit=fill.pl,
        financing=fill.financing,
        commission=fill.commission,
        guarantee_fee=fill.guaranteed_execution_fee or ZERO,
        balance=fill.account_balance,
        opening=None if fill.trade_opened is None else _opening(fill.trade_opened),
        parts=tuple(_part(each) for each in parts),
        loss_factor=_loss_factor(fill),
        best_bid=_first_price(getattr(price, "bids", ())),
        best_ask=_first_price(getattr(price, "asks", ())),
    )


def _opening(opened: TradeOpen) -> Opening:
    extensions = opened.client_extensions
    return Opening(
        clean_name(opened.trade_id),
        opened.units,
        opened.price,
        opened.guaranteed_execution_fee or ZERO,
        opened.half_spread_cost or ZERO,
        clean(extensions.tag or "") if extensions is not None else "",
        clean(extensions.comment or "") if extensions is not None else "",
    )


def _part(part: TradeReduce) -> ClosedPart:
    return ClosedPart(
        clean_name(part.trade_id),
        part.units,
        part.price,
        part.realized_pl,
        part.financing,
        part.guaranteed_execution_fee or ZERO,
        part.half_spread_cost or ZERO,
    )


def _loss_factor(fill: OrderFillTransaction) -> Decimal | None:
    factors = fill.home_conversion_factors
    if factors is not None and factors.loss_quote_home is not None:
        return factors.loss_quote_home.factor
    return fill.loss_quote_home_conversion_factor


def _first_price(buckets: Sequence[PriceBucket]) -> Decimal | None:
    """Return the best price; None if it cannot be read: the fill counts without it."""
    return getattr(buckets[0], "price", None) if buckets else None


def _financing(charge: DailyFinancingTransaction) -> Booking:
    shares = tuple(
        (clean_name(part.trade_id), part.financing)
        for position in charge.position_financings
        for part in position.open_trade_financings
    )
    return Booking(
        clean_name(charge.id),
        charge.time.ns,
        "financing",
        charge.financing,
        charge.account_balance,
        shares,
    )


def _dividend(adjustment: DividendAdjustmentTransaction) -> Booking:
    shares = tuple(
        (clean_name(part.trade_id), part.dividend_adjustment)
        for part in adjustment.open_trade_dividend_adjustments
    )
    return Booking(
        clean_name(adjustment.id),
        adjustment.time.ns,
        "dividend",
        adjustment.dividend_adjustment,
        adjustment.account_balance,
        shares,
    )
