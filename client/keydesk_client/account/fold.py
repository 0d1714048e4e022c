"""Apply transactions to the account of a book, each once and in id order.

Figures are taken from the transaction (the balance after a fill is the fill's own member), not computed again. After a
transaction of an unknown type, or about an unknown trade, the caller has to take a snapshot.
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import partial

from keydesk_client.account.records import AccountFigures, Part, PendingOrder
from keydesk_client.account.rows import (
    attach,
    comment_of,
    dependent_row,
    detach,
    entry_row,
    note_opening_price,
    opened_row,
    tag_of,
    trailing_row,
)
from keydesk_client.account.snapshot import forget_first_stop, remember_first_stop
from keydesk_client.account.valuation import ValuedAccount, rebuild_position
from keydesk_client.account.values import number_of, try_to
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.models import (
    ClientConfigureTransaction,
    CloseTransaction,
    DailyFinancingTransaction,
    DelayedTradeClosureTransaction,
    DividendAdjustmentTransaction,
    GuaranteedStopLossOrderTransaction,
    LimitOrderTransaction,
    MarketIfTouchedOrderTransaction,
    OrderCancelTransaction,
    OrderClientExtensionsModifyTransaction,
    OrderFillTransaction,
    ReopenTransaction,
    StopLossOrderTransaction,
    StopOrderTransaction,
    TakeProfitOrderTransaction,
    TradeClientExtensionsModifyTransaction,
    TrailingStopLossOrderTransaction,
    Transaction,
    TransferFundsTransaction,
    UnknownTransaction,
)

NEEDS_SNAPSHOT = (
    UnknownTransaction,
    CloseTransaction,
    ReopenTransaction,
    DelayedTradeClosureTransaction,
)
"""Their effect is not part of the transaction."""


def apply(book: ValuedAccount, transaction: Transaction) -> bool:
    """Apply one transaction to the account; return False if a snapshot is needed."""
    account = book.account
    if account is None:
        return False
    account.last_transaction_id = number_of(transaction.id)
    book.changed(Part.ACCOUNT)
    return _apply(book, account, transaction)


def _apply(book: ValuedAccount, account: AccountFigures, transaction: Transaction) -> bool:
    match transaction:
        case OrderFillTransaction():
            return _fill(book, account, transaction)
        case OrderCancelTransaction():
            _end_order(book, transaction.order_id)
        case LimitOrderTransaction() | StopOrderTransaction() | MarketIfTouchedOrderTransaction():
            _add_pending(book, entry_row(transaction, transaction.time, book.printable))
        case (
            TakeProfitOrderTransaction()
            | StopLossOrderTransaction()
            | GuaranteedStopLossOrderTransaction()
        ):
            return _protect(
                book, dependent_row(transaction, transaction.time, book.trades, book.printable)
            )
        case TrailingStopLossOrderTransaction():
            return _protect(
                book, trailing_row(transaction, transaction.time, book.trades, book.printable)
            )
        case _:
            return _apply_beside_orders(book, account, transaction)
    return True


def _apply_beside_orders(
    book: ValuedAccount, account: AccountFigures, transaction: Transaction
) -> bool:
    match transaction:
        case TransferFundsTransaction() | DividendAdjustmentTransaction():
            account.balance = transaction.account_balance
        case DailyFinancingTransaction():
            return _finance(book, account, transaction)
        case OrderClientExtensionsModifyTransaction():
            return _rename_order(book, transaction)
        case TradeClientExtensionsModifyTransaction():
            return _update_tags(book, transaction)
        case ClientConfigureTransaction():
            _configure(book, account, transaction)
        case _:  # rejects, market orders before their fill and margin calls change nothing in the account
            return not isinstance(transaction, NEEDS_SNAPSHOT)
    return True


def _fill(book: ValuedAccount, account: AccountFigures, fill: OrderFillTransaction) -> bool:
    """Apply a fill whole: each member is read before the first is applied, so that one that cannot be read changes nothing."""
    balance, pl, financing, order_id = fill.account_balance, fill.pl, fill.financing, fill.order_id
    reduced = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        reduced.append(fill.trade_reduced)
    parts = [(each.trade_id, each.units, each.realized_pl, each.financing) for each in reduced]
    opened = None
    if fill.trade_opened is not None:
        opened = opened_row(fill.trade_opened, fill.instrument, fill.time.ns, book.printable)
        note_opening_price(opened, fill)
    units = sum((part[1] for part in parts), ZERO if opened is None else opened.units)
    names_all = units == fill.units  # else a trade is missing from it
    account.balance = balance
    account.pl += pl
    account.financing += financing
    _end_order(book, order_id)
    instruments = [fill.instrument, *(_reduce(book, *part) for part in parts)]
    if opened is not None:
        book.trades[opened.id] = opened
    book.changed(Part.TRADES)
    for each in dict.fromkeys(instruments):
        if each is not None:
            rebuild_position(book, each)
    return names_all and None not in instruments


def _reduce(
    book: ValuedAccount, trade_id: str, units: Decimal, realized_pl: Decimal, financing: Decimal
) -> str | None:
    """Reduce a trade by a closed part and return its instrument, None of an unknown one; the units have the fill's sign."""
    trade = book.trades.get(trade_id)
    if trade is None:
        return None
    trade.units += units
    trade.realized_pl += realized_pl
    trade.financing += financing
    if not trade.units:
        del book.trades[trade.id]
    book.changed(Part.TRADES, trade.id)
    return trade.instrument


def _add_pending(book: ValuedAccount, order: PendingOrder) -> None:
    book.orders[order.id] = order
    book.changed(Part.ORDERS)


def _protect(book: ValuedAccount, order: PendingOrder) -> bool:
    trade = book.trades.get(order.trade_id or "")
    _add_pending(book, order)
    if trade is None:
        return False
    attach(trade, order)
    remember_first_stop(trade, order)
    book.changed(Part.TRADES, trade.id)
    return True


def _end_order(book: ValuedAccount, order_id: str) -> None:
    """Remove a pending order; a market order never was pending, so a missing one is expected."""
    order = book.orders.pop(order_id, None)
    if order is None:
        return
    book.changed(Part.ORDERS)
    trade = book.trades.get(order.trade_id or "")
    if trade is not None:
        detach(trade, order_id)
        book.changed(Part.TRADES, trade.id)


def _finance(
    book: ValuedAccount, account: AccountFigures, charge: DailyFinancingTransaction
) -> bool:
    account.balance = charge.account_balance
    account.financing += charge.financing
    known = True
    for position in charge.position_financings:
        for part in position.open_trade_financings:
            trade = book.trades.get(part.trade_id)
            if trade is None:
                known = False
            else:
                trade.financing += part.financing
                book.changed(Part.TRADES, trade.id)
    return known


def _rename_order(book: ValuedAccount, change: OrderClientExtensionsModifyTransaction) -> bool:
    order = book.orders.get(change.order_id)
    if order is None:
        return False
    extensions = change.client_extensions_modify
    if extensions is not None:
        order.client_id = extensions.id or order.client_id
        if extensions.tag is not None:
            order.tag = tag_of(extensions, book.printable)
        if extensions.comment is not None:
            order.comment = comment_of(extensions, book.printable)
    book.changed(Part.ORDERS, order.id)
    return True


def _update_tags(book: ValuedAccount, change: TradeClientExtensionsModifyTransaction) -> bool:
    trade = book.trades.get(change.trade_id)
    if trade is None:
        return False
    if change.trade_client_extensions_modify.tag is not None:
        trade.tag = tag_of(change.trade_client_extensions_modify, book.printable)
    if change.trade_client_extensions_modify.comment is not None:
        trade.comment = comment_of(change.trade_client_extensions_modify, book.printable)
    trade.client_id = change.trade_client_extensions_modify.id or trade.client_id
    book.changed(Part.TRADES, trade.id)
    return True


def _configure(
    book: ValuedAccount, account: AccountFigures, change: ClientConfigureTransaction
) -> None:
    if change.alias is not None:
        account.alias = book.printable(change.alias)
    if change.margin_rate is not None:
        account.margin_rate = change.margin_rate


def remember_first_stops(book: ValuedAccount, transactions: Iterable[Transaction]) -> None:
    """Set the initial stop of each open trade from earlier transactions, oldest first.

    A stop that came after them, while they were being read, stays the initial one.
    """
    known = {
        trade.id: (trade.initial_stop, trade.initial_risk, trade.initial_premium)
        for trade in book.trades.values()
    }
    for each in transactions:
        try_to(book, partial(_remember_first_stop, book, each))
    for trade in book.trades.values():
        if trade.initial_stop is None:
            trade.initial_stop, trade.initial_risk, trade.initial_premium = known[trade.id]


def _remember_first_stop(book: ValuedAccount, transaction: Transaction) -> None:
    match transaction:
        case OrderFillTransaction():
            _remember_opening(book, transaction)
            return
        case StopLossOrderTransaction() | GuaranteedStopLossOrderTransaction():
            order = dependent_row(transaction, transaction.time, book.trades, book.printable)
        case TrailingStopLossOrderTransaction():
            order = trailing_row(transaction, transaction.time, book.trades, book.printable)
        case _:
            return
    trade = book.trades.get(transaction.trade_id)
    if trade is not None:
        remember_first_stop(trade, order)
        book.changed(Part.TRADES, trade.id)


def _remember_opening(book: ValuedAccount, fill: OrderFillTransaction) -> None:
    opened = fill.trade_opened
    trade = None if opened is None else book.trades.get(opened.trade_id)
    if trade is not None:
        forget_first_stop(trade)
        note_opening_price(trade, fill)
        book.changed(Part.TRADES, trade.id)
