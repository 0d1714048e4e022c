"""The details of a transaction and its relations, and the orders of the account by state, read from the broker for their pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace
from textual.app import App

from keydesk.app.desk_account import DeskAccount
from keydesk.store.store import Store
from keydesk.text.sanitize import clean
from keydesk.words.log_line import LogLine

if TYPE_CHECKING:
    from keydesk.parse.pages import OrdersIn
    from keydesk.store.transactions.account_orders import AccountOrder, OrderList
    from keydesk.store.transactions.details import Related, TransactionDetails
    from keydesk_client.client import Client
    from keydesk_client.models import Transaction

    Take = Callable[[TransactionDetails], None]
    TakeOrders = Callable[[OrderList], None]

AFTER = 20  # ids after a transaction that are looked through for its batch
MAX_OF_BATCH = 400
ORDERS_AT_ONCE = 100
MAX_TRADES = 4  # of one fill that are read
MAX_LINES = 16  # related transactions that are read one by one
T = TypeVar("T")


class TransactionPages:
    """Shows transactions of the open account.

    Args:
        app: Shows the page.
        account: Is asked.
        store: Has the log, and names orders and trades that are open.
    """

    def __init__(self, app: App[int], account: DeskAccount, store: Store) -> None:
        self._app, self._account, self._store = app, account, store

    def show(self, line: LogLine) -> None:
        """Show the transaction of a line of the log."""
        from keydesk.forms.account.transaction import TransactionForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(TransactionForm(self._store, line, self._read))

    def show_orders(self, state: OrdersIn) -> None:
        """Show the orders of the account in a state."""
        from keydesk.forms.account.orders_by_state import AccountOrdersForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(
            AccountOrdersForm(self._store, state, self._read_orders, self._show_order)
        )

    def _show_order(self, order: AccountOrder) -> None:
        """Show the transaction that made the order; what became of it is among its relations."""
        self.show(LogLine(order.id, order.time_ns, "ORDER", order.instrument, order.text))

    def _read_orders(self, state: OrdersIn, before_id: str, take: TakeOrders) -> None:
        from keydesk.store.transactions.account_orders import OrderList  # noqa: PLC0415 - with the page

        connection = self._account.connection
        if connection is None:
            take(OrderList(trouble="the account is not open yet"))
        else:
            self._app.run_worker(
                read_orders(connection.commands.client, self._store, state, before_id, take),
                f"orders {state.lower()}",
                group="account orders",
                exclusive=True,
                exit_on_error=False,
            )

    def _read(self, id_: str, take: Take) -> None:
        connection = self._account.connection
        if connection is not None:
            self._app.run_worker(
                read_details(connection.commands.client, self._store, id_, take),
                f"transaction {id_}",
                group="transaction",
                exclusive=True,
                exit_on_error=False,
            )


async def read_orders(
    client: Client, store: Store, state: OrdersIn, before_id: str, take: TakeOrders
) -> None:
    """Read a page of orders, those up to an id, and hand it on; or why it cannot be read."""
    from keydesk.store.transactions.account_orders import OrderList, order_list  # noqa: PLC0415
    from keydesk_client.account.values import READ_ERRORS  # noqa: PLC0415
    from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

    listed = partial(client.orders.list, state=state, count=ORDERS_AT_ONCE)
    try:
        answer = await (listed(before_id=before_id) if before_id else listed())
        more = "next" in answer.links or len(answer.orders) == ORDERS_AT_ONCE
        page = order_list(answer.orders, store, more=more)
    except (KeydeskClientError, *READ_ERRORS) as error:
        page = OrderList(trouble=clean(str(error)))
    take(page)


async def read_details(client: Client, store: Store, id_: str, take: Take) -> None:
    """Read a transaction, its batch, its orders and trades, then its relations; hand on what is known after each."""
    from keydesk.store.transactions import details as words  # noqa: PLC0415 - with the models
    from keydesk.words.log_lines import line_of  # noqa: PLC0415
    from keydesk.words.log_names import LogNames  # noqa: PLC0415
    from keydesk_client.account.values import readable  # noqa: PLC0415

    reading = _Reading(words.TransactionDetails(id_, loading=True), take)
    answer = await reading.ask("the transaction", client.transactions.get(id_))
    if answer is None:
        reading.finish()
        return
    transaction, names = answer.transaction, LogNames()
    batch = await _batch(client, reading, transaction)
    read = {str(each.id): each for each in [*batch, transaction]}
    for each in read.values():
        names.remember(each)
    if not reading.publish(lambda _: words.described(transaction, store, names)):
        reading.finish()
        return
    for order_id in words.orders_of(transaction):
        order = await reading.ask("its order", client.orders.get(order_id))
        if order is not None:
            reading.relate(partial(words.relations_of_order, order.order))
    for trade_id in words.trades_of(transaction)[:MAX_TRADES]:
        trade = await reading.ask("its trade", client.trades.get(trade_id))
        if trade is not None:
            names.trades[trade_id] = getattr(trade.trade, "instrument", "")
            reading.relate(partial(words.relations_of_trade, trade.trade))
    reading.relate(partial(words.relations_of_batch, batch, transaction.batch_id))
    missing = [each.id for each in reading.details.related if each.id not in read]
    for other_id in missing[:MAX_LINES]:
        found = await reading.ask(f"#{other_id}", client.transactions.get(other_id))
        if found is not None:
            read[other_id] = found.transaction
            names.remember(found.transaction)
    lines = readable(
        store,
        lambda each: line_of(each, store.orders, store.trades, names, store.instruments),
        read.values(),
    )
    reading.publish(lambda known: known.with_lines(lines))
    reading.finish()


async def _batch(client: Client, reading: _Reading, transaction: Transaction) -> list[Transaction]:
    """Return the transactions of the same request, as far as they are near."""
    from keydesk_client.account.values import READ_ERRORS, number_of  # noqa: PLC0415

    try:
        number, first = number_of(transaction.id), number_of(transaction.batch_id)
    except READ_ERRORS:
        return [transaction]
    first = max(first, number - MAX_OF_BATCH) if first <= number else number
    last = reading.newest
    until = number + AFTER if last is None else min(number + AFTER, max(last, number))
    answer = await reading.ask("its batch", client.transactions.range(first, until))
    if answer is None:
        return [transaction]
    return [each for each in answer.transactions if each.batch_id == transaction.batch_id]


class _Reading:
    """What is known so far; each part that cannot be read is named, and the others are still read."""

    def __init__(self, details: TransactionDetails, take: Take) -> None:
        self.details, self._take = details, take
        self.newest: int | None = None  # id, as the last answer has it

    async def ask(self, what: str, call: Awaitable[T]) -> T | None:
        """Return the answer; None, and a line that says why, if there is none."""
        from keydesk_client.account.values import READ_ERRORS, number_of  # noqa: PLC0415
        from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

        try:
            answer = await call
            last = getattr(answer, "last_transaction_id", None)
            self.newest = self.newest if last is None else number_of(last)
        except (KeydeskClientError, *READ_ERRORS) as error:
            self._note(f"{what} cannot be read: {error}")
            return None
        return answer

    def publish(self, further: Callable[[TransactionDetails], TransactionDetails]) -> bool:
        """Hand on what is known now; return False if the record cannot be read."""
        from keydesk_client.account.values import READ_ERRORS  # noqa: PLC0415

        try:
            known = further(self.details)
        except READ_ERRORS as error:
            self._note(f"a record is incomplete: {error}")
            return False
        self.details = replace(known, loading=True, troubles=self.details.troubles)
        self._take(self.details)
        return True

    def relate(self, related: Callable[[], Iterable[Related]]) -> None:
        """Hand on further relations."""
        self.publish(lambda known: known.with_relations(related()))

    def finish(self) -> None:
        """Hand on that nothing more comes."""
        self.details = replace(self.details, loading=False)
        self._take(self.details)

    def _note(self, trouble: str) -> None:
        troubles = (*self.details.troubles, clean(trouble))
        self.details = replace(self.details, troubles=troubles)
        self._take(self.details)
