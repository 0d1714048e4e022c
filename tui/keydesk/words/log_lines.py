"""Describe a transaction in one printable log line."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypeAlias

from keydesk.text.format import counted, money, slippage_text, units
from keydesk.text.sanitize import clean
from keydesk.values import OrderRow, TradeRow
from keydesk.words.fill_prices import slippage_of
from keydesk.words.log_line import LogKind, LogLine
from keydesk.words.log_names import LogNames, NamedOrder, ids_of
from keydesk.words.reject_reasons import fill_in_text, in_text
from keydesk_client import models as m
from keydesk_client.account.rows import kind_of
from keydesk_client.account.values import checked_time_ns
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import pip

EntryOrder: TypeAlias = (
    m.LimitOrderTransaction | m.StopOrderTransaction | m.MarketIfTouchedOrderTransaction
)
DependentOrder: TypeAlias = (
    m.TakeProfitOrderTransaction
    | m.StopLossOrderTransaction
    | m.GuaranteedStopLossOrderTransaction
    | m.TrailingStopLossOrderTransaction
)
Refusal: TypeAlias = (
    m.MarketOrderRejectTransaction
    | m.LimitOrderRejectTransaction
    | m.StopOrderRejectTransaction
    | m.MarketIfTouchedOrderRejectTransaction
    | m.TakeProfitOrderRejectTransaction
    | m.StopLossOrderRejectTransaction
    | m.GuaranteedStopLossOrderRejectTransaction
    | m.TrailingStopLossOrderRejectTransaction
)

PURPOSES = {
    "TRADE_CLOSE": "to close a trade",
    "POSITION_CLOSEOUT": "to close a position",
    "MARGIN_CLOSEOUT": "MARGIN CLOSEOUT",
    "DELAYED_TRADE_CLOSE": "to close a trade after the halt",
}
ORIGINS = {"ON_FILL": "", "REPLACEMENT": ", moved", "CLIENT_ORDER": ""}
NAMES = {
    "TAKE_PROFIT": "Target",
    "STOP_LOSS": "Stop",
    "GUARANTEED_STOP_LOSS": "Guaranteed stop",
    "TRAILING_STOP_LOSS": "Trailing stop",
    "LIMIT": "Limit",
    "STOP": "Stop",
    "MARKET_IF_TOUCHED": "If touched",
    "MARKET": "Market",
}
DependentRefusal = (
    m.TakeProfitOrderRejectTransaction
    | m.StopLossOrderRejectTransaction
    | m.GuaranteedStopLossOrderRejectTransaction
    | m.TrailingStopLossOrderRejectTransaction
)
Description: TypeAlias = tuple[LogKind, str, str]
"""Kind, instrument, words."""
PLAIN: Mapping[str, tuple[LogKind, str]] = {
    "MARGIN_CALL_ENTER": ("MARGIN", "MARGIN CALL: add funds or close positions"),
    "MARGIN_CALL_EXIT": ("MARGIN", "Margin call ended"),
    "CLOSE": ("CONFIG", "Account closed"),
    "REOPEN": ("CONFIG", "Account opened again"),
    "RESET_RESETTABLE_PL": ("CONFIG", "Resettable P/L set to zero"),
}
"""Transactions that their kind describes completely."""
BY_HAND = frozenset({"MARKET_ORDER", "MARKET_ORDER_TRADE_CLOSE", "MARKET_ORDER_POSITION_CLOSEOUT"})
"""Fills requested by the trader: the reason is left out."""
UNKNOWN = "{}: an unknown type of transaction; the account is read again"


def name_of(type_: str) -> str:
    """Return an order's type in words."""
    kind = kind_of(type_.removesuffix("_REJECT"))
    return NAMES.get(kind) or kind.replace("_", " ").capitalize()


def market_text(order: m.MarketOrderTransaction | m.FixedPriceOrderTransaction) -> str:
    """Describe a market order, and its reason if it is not the trader's own."""
    purpose = PURPOSES.get(order.reason)
    return f"{name_of(order.type)} {_side(order)}" + (f", {purpose}" if purpose else _guards(order))


def entry_text(order: EntryOrder) -> str:
    """Describe an order that rests at a price."""
    only = " reduce-only" if order.position_fill == "REDUCE_ONLY" else ""
    again = f", was #{order.replaces_order_id}" if order.replaces_order_id else ""
    return f"{name_of(order.type)} {_side(order)} at {order.price}{only}{_guards(order)}{again}"


def dependent_text(order: DependentOrder) -> str:
    """Describe a dependent order of a trade."""
    if isinstance(order, m.TrailingStopLossOrderTransaction):
        where = f"{order.distance} behind"
    else:
        where = f"{order.price}"
    origin = ORIGINS.get(order.reason, f", {in_text(order.reason)}")
    return f"{name_of(order.type)} {where} for #{order.trade_id}{origin}"


def refused_text(refusal: Refusal) -> str:
    """Describe a rejected order and the reason."""
    size = ""
    if not isinstance(refusal, DependentRefusal):
        size = f" {_side(refusal)}" if refusal.units is not None else ""
    why = in_text(refusal.reject_reason)
    return f"{name_of(refusal.type)}{size} refused: {why} ({refusal.reject_reason})"


def _side(
    order: m.MarketOrderTransaction
    | m.FixedPriceOrderTransaction
    | EntryOrder
    | m.MarketOrderRejectTransaction
    | m.LimitOrderRejectTransaction
    | m.StopOrderRejectTransaction
    | m.MarketIfTouchedOrderRejectTransaction,
) -> str:
    if order.units is None:
        return ""
    return f"{'buy' if order.units > 0 else 'sell'} {units(abs(order.units))}"


def _guards(order: m.MarketOrderTransaction | m.FixedPriceOrderTransaction | EntryOrder) -> str:
    """Describe the stop and the target on fill."""
    text = ""
    stop = order.stop_loss_on_fill or order.guaranteed_stop_loss_on_fill
    if stop is not None:
        text += f" stop {stop.price if stop.price is not None else f'{stop.distance} away'}"
    if order.trailing_stop_loss_on_fill is not None:
        text += f" trailing {order.trailing_stop_loss_on_fill.distance}"
    target = order.take_profit_on_fill
    if target is not None:
        text += f" target {target.price if target.price is not None else f'{target.distance} away'}"
    return text


def line_of(
    transaction: m.Transaction,
    orders: Mapping[str, OrderRow],
    trades: Mapping[str, TradeRow],
    names: LogNames | None = None,
    instruments: Mapping[str, m.Instrument] | None = None,
) -> LogLine:
    """Return the log line of a transaction.

    Args:
        transaction: What happened.
        orders: The open ones by id, not yet changed by it.
        trades: Likewise.
        names: Orders and trades that earlier and later transactions name.
        instruments: Say what a pip is; without one the slippage of a fill is left out.
    """
    known = _Known(orders, trades, names or LogNames())
    kind, instrument, text = _describe(transaction, known)
    if isinstance(transaction, m.OrderFillTransaction):
        text += _slippage_text(transaction, known, (instruments or {}).get(instrument))
    amount, pl = _money(transaction)
    about = ids_of(transaction)
    if isinstance(transaction, m.OrderCancelTransaction):
        order = known.order(transaction.order_id)
        about += (order.trade_id,) if order is not None and order.trade_id else ()
    return LogLine(
        transaction.id,
        checked_time_ns(transaction.time),
        kind,
        instrument,
        clean(text),
        amount,
        pl,
        about,
        _filled_order(transaction),
    )


def _slippage_text(
    fill: m.OrderFillTransaction, known: "_Known", instrument: m.Instrument | None
) -> str:
    order = known.order(fill.order_id or "")
    slipped = slippage_of(fill, None if order is None else order.price)
    if slipped is None or instrument is None:
        return ""
    return f", {slippage_text(slipped / pip(instrument.pip_location))}"


def _filled_order(transaction: m.Transaction) -> str:
    if not isinstance(transaction, m.OrderFillTransaction):
        return ""
    return str(getattr(transaction, "order_id", None) or "")


class _Known:
    """The orders and trades that are open, and those that other transactions name."""

    def __init__(
        self, orders: Mapping[str, OrderRow], trades: Mapping[str, TradeRow], names: LogNames
    ) -> None:
        self._orders, self._trades, self._names = orders, trades, names

    def order(self, order_id: str) -> NamedOrder | None:
        """Return what is known of an order.

        The price of a trailing stop is left out: it moves, and no transaction says where it stood.
        """
        row = self._orders.get(order_id)
        if row is None:
            return self._names.orders.get(order_id)
        price = None if row.type == "TRAILING_STOP_LOSS" else row.price
        return NamedOrder(row.type, row.instrument, price, row.trade_id or "")

    def instrument_of_trade(self, trade_id: str) -> str:
        """Return the instrument of a trade, "" where it is not known."""
        trade = self._trades.get(trade_id)
        return self._names.trades.get(trade_id, "") if trade is None else trade.instrument


def _describe(transaction: m.Transaction, known: _Known) -> Description:
    match transaction:
        case m.OrderFillTransaction():
            return _fill(transaction)
        case m.OrderCancelTransaction():
            return _cancel(transaction, known)
        case m.MarketOrderTransaction() | m.FixedPriceOrderTransaction():
            return "ORDER", transaction.instrument, market_text(transaction)
        case (
            m.LimitOrderTransaction()
            | m.StopOrderTransaction()
            | m.MarketIfTouchedOrderTransaction()
        ):
            return "ORDER", transaction.instrument, entry_text(transaction)
        case (
            m.TakeProfitOrderTransaction()
            | m.StopLossOrderTransaction()
            | m.GuaranteedStopLossOrderTransaction()
            | m.TrailingStopLossOrderTransaction()
        ):
            instrument = known.instrument_of_trade(transaction.trade_id)
            return "ORDER", instrument, dependent_text(transaction)
        case _:
            return _describe_rejection(transaction, known)


def _describe_rejection(transaction: m.Transaction, known: _Known) -> Description:
    match transaction:
        case (
            m.MarketOrderRejectTransaction()
            | m.LimitOrderRejectTransaction()
            | m.StopOrderRejectTransaction()
            | m.MarketIfTouchedOrderRejectTransaction()
            | m.TakeProfitOrderRejectTransaction()
            | m.StopLossOrderRejectTransaction()
            | m.GuaranteedStopLossOrderRejectTransaction()
            | m.TrailingStopLossOrderRejectTransaction()
        ):
            trade_id = getattr(transaction, "trade_id", "")
            instrument = getattr(transaction, "instrument", None)
            held = known.instrument_of_trade(trade_id)
            return "REJECT", instrument or held, refused_text(transaction)
        case m.OrderCancelRejectTransaction():
            who = f"order {transaction.order_id or transaction.client_order_id or '?'}"
            why = in_text(transaction.reject_reason)
            return "REJECT", "", f"Not cancelled, {who}: {why}"
        case (
            m.ClientConfigureRejectTransaction()
            | m.OrderClientExtensionsModifyRejectTransaction()
            | m.TradeClientExtensionsModifyRejectTransaction()
        ):
            return "REJECT", "", f"Not changed: {in_text(transaction.reject_reason)}"
        case m.TransferFundsRejectTransaction():
            why = in_text(transaction.reject_reason)
            return "REJECT", "", f"Transfer of {transaction.amount} refused: {why}"
        case _:
            return _describe_account_change(transaction, known)


def _describe_account_change(transaction: m.Transaction, known: _Known) -> Description:
    match transaction:
        case m.DailyFinancingTransaction():
            held = len(transaction.position_financings)
            return "FINANCE", "", f"Financing of {counted(held, 'position')}"
        case m.DividendAdjustmentTransaction():
            return "FINANCE", transaction.instrument, "Dividend adjustment"
        case m.TransferFundsTransaction():
            way = "Paid in" if transaction.amount >= 0 else "Paid out"
            why = in_text(transaction.funding_reason)
            return "FUNDS", "", f"{way} {money(abs(transaction.amount))}: {why}"
        case m.TradeClientExtensionsModifyTransaction():
            instrument = known.instrument_of_trade(transaction.trade_id)
            return "CONFIG", instrument, f"Trade {transaction.trade_id}: notes changed"
        case _:
            return _describe_setting(transaction)


def _describe_setting(transaction: m.Transaction) -> Description:
    match transaction:
        case m.MarginCallExtendTransaction():
            return "MARGIN", "", f"Margin call extended, extension {transaction.extension_number}"
        case m.DelayedTradeClosureTransaction():
            trades = ", ".join(transaction.trade_ids)
            return "MARGIN", "", f"To be closed when the market opens: trade {trades}"
        case m.CreateTransaction():
            return "CONFIG", "", f"Account opened, home currency {transaction.home_currency}"
        case m.ClientConfigureTransaction():
            return "CONFIG", "", _configuration_text(transaction)
        case m.OrderClientExtensionsModifyTransaction():
            return "CONFIG", "", f"Order {transaction.order_id}: notes changed"
        case _:
            kind, text = PLAIN.get(transaction.type, ("NOTE", UNKNOWN.format(transaction.type)))
            return kind, "", text


def _fill(fill: m.OrderFillTransaction) -> Description:
    parts = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        parts.append(fill.trade_reduced)
    words = [_closed_text(part, whole=part is not fill.trade_reduced) for part in parts]
    if fill.trade_opened is not None:
        words.append(_opened_text(fill.trade_opened))
    kind: LogKind = "CLOSE" if parts else "FILL"
    why = "" if fill.reason in BY_HAND else f", {fill_in_text(fill.reason)}"
    return kind, fill.instrument, f"{'; '.join(words)}{why}"


def _opened_text(part: m.TradeOpen) -> str:
    verb = "Bought" if part.units > 0 else "Sold"
    return f"{verb} {units(abs(part.units))} at {part.price} #{part.trade_id}"


def _closed_text(part: m.TradeReduce, *, whole: bool) -> str:
    side = "long" if part.units < 0 else "short"
    size = units(abs(part.units))
    what = f"{side} {size}" if whole else f"{size} of {side}"
    return f"Closed {what} at {part.price} #{part.trade_id}"


def _cancel(cancel: m.OrderCancelTransaction, known: _Known) -> Description:
    order = known.order(cancel.order_id)
    why = in_text(cancel.reason)
    if cancel.replaced_by_order_id:
        why = f"replaced by #{cancel.replaced_by_order_id}"
    if order is None:
        return "CANCEL", "", f"Order #{cancel.order_id} cancelled: {why}"
    at = f" {order.price}" if order.price is not None else ""
    text = f"{name_of(order.type)}{at} #{cancel.order_id} cancelled: {why}"
    return "CANCEL", order.instrument, text


def _configuration_text(change: m.ClientConfigureTransaction) -> str:
    phrases = []
    if change.alias is not None:
        phrases.append(f"alias {change.alias}")
    if change.margin_rate is not None:
        phrases.append(f"margin rate {change.margin_rate}")
    return f"Account settings: {', '.join(phrases) or 'none changed'}"


def _money(transaction: m.Transaction) -> tuple[Decimal | None, Decimal | None]:
    """Return the change of the balance and the realized profit of a transaction."""
    match transaction:
        case m.OrderFillTransaction():
            fees = transaction.commission + (transaction.guaranteed_execution_fee or ZERO)
            amount = transaction.pl + transaction.financing - fees
            reduces = transaction.trades_closed or transaction.trade_reduced
            return (amount if reduces or amount else None), (transaction.pl if reduces else None)
        case m.TransferFundsTransaction():
            return transaction.amount, None
        case m.DailyFinancingTransaction():
            return transaction.financing, None
        case m.DividendAdjustmentTransaction():
            return transaction.dividend_adjustment, None
        case _:
            return None, None
