"""One transaction in words, and the transactions that it is related to, in both directions of time.

A transaction names what it follows from: its order, its trade, the order that it replaces. What follows from it, the order
and the trade as they are now say: the fill, the cancellation, the replacement, the closing fills, the dependent orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.store.store import Store
from keydesk.text.format import date_and_time, money, units
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe
from keydesk.words.log_line import LogLine
from keydesk.words.log_lines import line_of
from keydesk.words.log_names import LogNames
from keydesk.words.reject_reasons import in_text
from keydesk_client import models as m
from keydesk_client.account.values import READ_ERRORS, number_of

Rows = Sequence[tuple[Printable, str]]
MAX_RELATED = 40  # shown; a batch may hold hundreds


class Related(Struct, frozen=True):
    """A related transaction."""

    id: str
    how: str  # "filled by"
    line: LogLine | None = None  # once it was read


class TransactionDetails(Struct, frozen=True):
    """What is known of a transaction so far."""

    id: str
    rows: Rows = ()
    related: tuple[Related, ...] = ()
    raw: Rows = ()  # every member, as the broker sent it
    loading: bool = False
    troubles: tuple[str, ...] = field(default=())  # what could not be read, and why

    def with_relations(self, related: Iterable[Related]) -> TransactionDetails:
        """Return the details with further relations; what is known by another name already is left out."""
        known = {self.id, *(each.id for each in self.related)}
        added: dict[str, Related] = {}
        for each in related:
            if each.id not in known and each.id not in added and _is_id(each.id):
                added[each.id] = each
        return replace(self, related=(*self.related, *added.values())[:MAX_RELATED])

    def with_lines(self, lines: Iterable[LogLine]) -> TransactionDetails:
        """Return the details with the lines of relations that have none."""
        by_id = {line.id: line for line in lines}
        related = (replace(each, line=each.line or by_id.get(each.id)) for each in self.related)
        return replace(self, related=tuple(related))


def _is_id(id_: str) -> bool:
    try:
        return number_of(id_) > 0
    except READ_ERRORS:
        return False


def described(transaction: m.Transaction, store: Store, names: LogNames) -> TransactionDetails:
    """Return what the transaction itself says."""
    line = line_of(transaction, store.orders, store.trades, names, store.instruments)
    currency = store.home_currency
    rows: list[tuple[Printable, str]] = [
        ("what", line.text),
        ("kind", safe(f"{line.kind.lower()}: {in_text(transaction.type)}")),
        ("time", date_and_time(line.time_ns, store.zone)),
        *([("instrument", clean(line.instrument).replace("_", "/"))] if line.instrument else []),
        *_terms(transaction),
    ]
    if line.pl is not None:
        rows.append(("profit or loss", f"{money(line.pl, signed=True)} {currency}"))
    if line.amount is not None:
        rows.append(("balance changed by", f"{money(line.amount, signed=True)} {currency}"))
    balance = getattr(transaction, "account_balance", None)
    if balance is not None:
        rows.append(("balance after it", f"{money(balance)} {currency}"))
    return TransactionDetails(
        transaction.id, tuple(rows), raw=tuple(_raw(transaction))
    ).with_relations(own_relations(transaction))


TERMS: Sequence[tuple[str, Printable]] = (
    ("units", "units"),
    ("price", "price"),
    ("price_bound", "worst price"),
    ("distance", "distance"),
    ("time_in_force", "time in force"),
    ("gtd_time", "expires"),
    ("position_fill", "position"),
    ("trigger_condition", "trigger price"),
    ("commission", "commission"),
    ("financing", "financing"),
    ("half_spread_cost", "half the spread cost"),
    ("guaranteed_execution_fee", "fee of the guarantee"),
    ("reason", "reason"),
    ("reject_reason", "refused because"),
    ("client_order_id", "client id of the order"),
)


def _terms(transaction: m.Transaction) -> Iterator[tuple[Printable, str]]:
    """Yield the members that have one value, in words; those that are missing or zero are left out."""
    for member, name in TERMS:
        try:
            value = getattr(transaction, member, None)
        except READ_ERRORS:
            continue
        if value in (None, "", "DEFAULT") or value == 0:
            continue
        if member == "units":
            yield name, units(value, signed=True)
            continue
        is_code = isinstance(value, str) and value.isupper() and "_" in value
        yield name, in_text(value) if is_code else clean(str(getattr(value, "text", value)))
    extensions = getattr(transaction, "client_extensions", None)
    for member in ("tag", "comment", "id"):
        if extensions is not None and (value := getattr(extensions, member, None)):
            yield safe(f"client's {member}"), clean(value)


def _raw(transaction: m.Transaction) -> Iterator[tuple[Printable, str]]:
    """Yield every member as the broker sent it, nested ones by their path."""
    yield from _flat("", transaction.to_wire())


def _flat(path: str, value: object) -> Iterator[tuple[Printable, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _flat(f"{path}[{number}]", inner)
    else:
        yield clean(path), clean(str(value))


# Relations.


def own_relations(transaction: m.Transaction) -> Iterator[Related]:
    """Yield the relations that the transaction names itself."""
    named = (
        ("order_id", "order"),
        ("cancelling_transaction_id", "cancelled the order before"),
        ("replaces_order_id", "replaces order"),
        ("intended_replaces_order_id", "was to replace order"),
        ("replaced_by_order_id", "replaced by order"),
        ("order_fill_transaction_id", "made by the fill"),
        ("trade_id", "opened the trade"),
    )
    for member, how in named:
        if id_ := getattr(transaction, member, None):
            yield Related(str(id_), how)
    if isinstance(transaction, m.OrderFillTransaction):
        closed = [*(transaction.trades_closed or ()), transaction.trade_reduced]
        for part in closed:
            if part is not None:
                yield Related(part.trade_id, "opened the trade that it closed")
    close = getattr(transaction, "trade_close", None)
    if close is not None:
        yield Related(close.trade_id, "opened the trade to close")


def orders_of(transaction: m.Transaction) -> list[str]:
    """Return the ids of the orders related to a transaction."""
    if transaction.type.endswith("_ORDER"):
        return [transaction.id]
    order_id = getattr(transaction, "order_id", None)
    return [order_id] if order_id else []


def trades_of(transaction: m.Transaction) -> list[str]:
    """Return the ids of the trades related to a transaction."""
    ids = [getattr(transaction, "trade_id", None)]
    if isinstance(transaction, m.OrderFillTransaction):
        parts = [
            transaction.trade_opened,
            *(transaction.trades_closed or ()),
            transaction.trade_reduced,
        ]
        ids += [part.trade_id for part in parts if part is not None]
    ids.append(getattr(getattr(transaction, "trade_close", None), "trade_id", None))
    return list(dict.fromkeys(each for each in ids if each))


def relations_of_order(order: m.Order) -> Iterator[Related]:
    """Yield what became of an order."""
    named = (
        ("id", "order"),
        ("filling_transaction_id", "filled by"),
        ("cancelling_transaction_id", "cancelled by"),
        ("replaces_order_id", "replaces order"),
        ("replaced_by_order_id", "replaced by order"),
        ("trade_id", "opened its trade"),
    )
    for member, how in named:
        if id_ := getattr(order, member, None):
            yield Related(str(id_), how)


def relations_of_trade(trade: m.Trade) -> Iterator[Related]:
    """Yield how a trade was opened and closed, and its dependent orders."""
    name = f"trade #{clean_name(trade.id)}"
    yield Related(trade.id, f"opened {name}")
    for id_ in trade.closing_transaction_ids or ():
        yield Related(id_, f"closed {name}")
    dependents = (
        (trade.stop_loss_order, "stop-loss"),
        (trade.take_profit_order, "take-profit"),
        (trade.trailing_stop_loss_order, "trailing stop"),
        (trade.guaranteed_stop_loss_order, "guaranteed stop"),
    )
    for order, text in dependents:
        if order is not None:
            yield Related(order.id, f"{text} of {name}")


def relations_of_batch(batch: Iterable[m.Transaction], batch_id: str) -> Iterator[Related]:
    """Yield the transactions of the same request."""
    for each in batch:
        if each.batch_id == batch_id:
            yield Related(each.id, "same request")


def related_text(related: Related) -> SafeText:
    """Return the line of a related transaction."""
    description = "" if related.line is None else f"  {related.line.kind}  {related.line.text}"
    return safe(f"#{clean_name(related.id)}{description}")
