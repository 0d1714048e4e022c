"""Pages of the open account and what they read, each in a worker: audit log, order outcomes, summary, bookings, hourly closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct, field
from textual.app import App

from keydesk.app.account_connection import Connection
from keydesk.app.desk_account import DeskAccount
from keydesk.calc.risk.period_profit import Booking, period_start
from keydesk.store.store import Store
from keydesk.text.sanitize import clean
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.forms.account.order_history import Take as TakeOutcomes
    from keydesk.forms.details_form import Rows
    from keydesk.forms.market.alert_chart import ReadCandles
    from keydesk.trading.order_history import OrderHistory
    from keydesk_client.models import Transaction
    from keydesk_client.models.enumerations import TransactionFilter

BOOKED: tuple[TransactionFilter, ...] = ("ORDER_FILL", "DAILY_FINANCING", "DIVIDEND_ADJUSTMENT")
MAX_BOOKINGS = 20_000
RETURNS = 120
CANDLES = 150  # of a chart on a page
CLOSES_LAST = 1800.0  # seconds until the candles of an instrument are read again
TakeBookings = Callable[[Sequence[Booking] | None, str], None]
TakeCloses = Callable[[Mapping[str, Mapping[int, float]]], None]


class _Bookings(Struct):
    """The bookings since an instant, in the order of their ids."""

    since_ns: int = -1
    bookings: list[Booking] = field(default_factory=list)


class AccountPages:
    """Shows pages and reads for them; an answer goes to the page that asked, also when it is closed meanwhile.

    Args:
        app: Shows the pages and runs the workers.
        account: Is read, once it is open; has the journal, the audit log and the executions.
        store: Has the orders in flight, the broker's time and the time zone; shows messages.
    """

    def __init__(self, app: App[int], account: DeskAccount, store: Store) -> None:
        self._app, self._account, self._store = app, account, store
        self._bookings = _Bookings()
        self._closes: dict[str, tuple[float, Mapping[int, float]]] = {}

    @property
    def audit(self) -> Path | None:
        """The audit log of the account; None before it is known."""
        return self._account.audit

    def show_audit(self) -> None:
        """Read the audit log in a thread, then show it."""
        path = self._account.audit
        if path is not None:
            self._app.run_worker(self._read_audit(path), "audit log", group="settings")

    async def _read_audit(self, path: Path) -> None:
        from keydesk.forms.account.audit import AuditForm  # noqa: PLC0415 - with the first form
        from keydesk.trading.audit import try_to_read  # noqa: PLC0415 - loaded with the commands

        entries, trouble = await asyncio.to_thread(try_to_read, path)
        if trouble:
            self._store.notify("warn", f"The audit log cannot be read: {trouble}")
        else:
            self._app.push_screen(AuditForm(entries, self._store.zone))

    def show_outcomes(self) -> None:
        """Show what became of the account's orders."""
        from keydesk.forms.account.order_history import OrderHistoryForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(OrderHistoryForm(self._store, self._read_outcomes, self._acknowledge))

    def _acknowledge(self, history: OrderHistory) -> None:
        """Write it to the audit log, from which every desk reads it; settle an unconfirmed one in the journal, too."""
        if (connection := self._account.connection) is None:
            return
        what = "dismissed" if history.state == "unconfirmed" else "acknowledged"
        for intent in connection.sender.unconfirmed():
            if intent.id == history.id:
                try:
                    connection.sender.dismiss(intent)
                except (OSError, UnsafeFile) as error:
                    self._store.notify(
                        "warn", f"Not dismissed: the order journal cannot be written: {error}"
                    )
                    return
        if history.state == "unconfirmed":
            self._store.settle(history.id)
        text = f"{history.id} compared by the trader: {history.text}"
        connection.commands.dispatcher.record(what, text)

    def _read_outcomes(self, take: TakeOutcomes) -> None:
        """Read the files, and hand what they say to the page; without an account there are none."""
        audit = self._account.audit
        if audit is None:
            take((), ())
        else:
            reading = _read_outcomes(audit, take)
            self._app.run_worker(
                reading, "order outcomes", group="outcomes", exclusive=True, exit_on_error=False
            )

    def read_summary(self, take: Callable[[Rows], None]) -> None:
        """Read the account's summary in a worker, for the account page."""
        if (connection := self._account.connection) is not None:
            reading = _read_summary(connection, take)
            self._app.run_worker(reading, "account summary", group="quotes", exit_on_error=False)

    def read_bookings(self, take: TakeBookings) -> None:
        """Read what was booked since the beginning of week and month, and hand it on."""
        if (connection := self._account.connection) is not None:
            self._app.run_worker(
                self._fetch_bookings(connection, take),
                "bookings",
                group="bookings",
                exclusive=True,
                exit_on_error=False,
            )

    async def _fetch_bookings(self, connection: Connection, take: TakeBookings) -> None:
        from keydesk_client.errors import KeydeskClientError, NotFound, OutOfRange  # noqa: PLC0415

        clock = self._store.now_ns
        since = min(period_start("week", clock), period_start("month", clock))
        if since != self._bookings.since_ns:
            self._bookings = _Bookings(since)
        bookings = self._bookings.bookings
        trouble = ""
        transactions = connection.commands.client.transactions
        if bookings:
            newer = transactions.iterate_since(bookings[-1].transaction_id, type_=BOOKED)
        else:
            start = datetime.fromtimestamp(since // SECOND, UTC)
            newer = transactions.iterate(from_=start, type_=BOOKED)
        try:
            async for transaction in newer:
                if (booking := booking_of(transaction)) is not None:
                    bookings.append(booking)
                if len(bookings) >= MAX_BOOKINGS:
                    trouble = f"only the first {MAX_BOOKINGS:,} transactions are counted"
                    break
        except KeydeskClientError as error:
            trouble = clean(f"could not be read: {error}")
            if isinstance(error, OutOfRange | NotFound):  # the broker's history began anew
                self._bookings = _Bookings()
            take(tuple(bookings) or None, trouble)
            return
        take(tuple(bookings), trouble)

    def read_closes(self, names: Sequence[str], take: TakeCloses) -> None:
        """Read the hourly closes of instruments, and hand them on when all were asked for."""
        if (connection := self._account.connection) is not None:
            self._app.run_worker(
                self._fetch_closes(connection, names, take),
                "hourly closes",
                group="closes",
                exclusive=True,
                exit_on_error=False,
            )

    async def _fetch_closes(
        self, connection: Connection, names: Sequence[str], take: TakeCloses
    ) -> None:
        from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

        for name in names:
            read_at, _ = self._closes.get(name, (float("-inf"), {}))
            if monotonic() - read_at < CLOSES_LAST:
                continue
            try:
                candles = await connection.commands.client.candles.get(
                    name, granularity="H1", price="M", count=RETURNS + 2
                )
            except KeydeskClientError:
                continue  # it is shown as not known, and asked for again
            closes = closes_of(candles.candles, self._store)
            self._closes[name] = monotonic(), closes
        take({name: self._closes.get(name, (0.0, {}))[1] for name in names})

    def read_candles(
        self, instrument: str, granularity: str, take: Callable[[ReadCandles], None]
    ) -> None:
        """Read the newest candles of an instrument that no chart shows."""
        from keydesk.forms.market.alert_chart import ReadCandles  # noqa: PLC0415 - with the first page

        if (connection := self._account.connection) is None:
            take(ReadCandles(trouble="no candles: the account is not open"))
            return
        reading = _read_candles(connection, self._store, (instrument, granularity), take)
        self._app.run_worker(reading, "candles of a page", group="candles", exit_on_error=False)


async def _read_candles(
    connection: Connection,
    store: Store,
    key: tuple[str, str],
    take: Callable[[ReadCandles], None],
) -> None:
    from keydesk.forms.market.alert_chart import ReadCandles  # noqa: PLC0415 - with the first page
    from keydesk.store.candles import candle_of  # noqa: PLC0415
    from keydesk.store.state import CandleSeries  # noqa: PLC0415
    from keydesk_client.account.values import readable  # noqa: PLC0415
    from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415
    from keydesk_client.models.enumerations import granularity_of  # noqa: PLC0415

    instrument, granularity = key
    try:
        answer = await connection.commands.client.candles.get(
            instrument, granularity=granularity_of(granularity), price="M", count=CANDLES
        )
    except KeydeskClientError as error:
        take(ReadCandles(trouble=clean(f"no candles: {error}")))
        return
    found = readable(store, candle_of, answer.candles)
    candles = [each for each in found if each is not None]
    take(ReadCandles(CandleSeries(instrument, granularity, candles=candles)))


async def _read_outcomes(audit: Path, take: Callable[..., None]) -> None:
    from keydesk.trading.executions import figures_of, read_executions  # noqa: PLC0415
    from keydesk.trading.order_history import read_order_histories  # noqa: PLC0415 - loaded with the commands

    lives = await asyncio.to_thread(read_order_histories, audit.with_suffix(".journal"), audit)
    executions = await asyncio.to_thread(read_executions, audit.with_suffix(".executions"))
    take(lives, figures_of(executions))


async def _read_summary(connection: Connection, take: Callable[[Rows], None]) -> None:
    from keydesk.forms.account.account_page import summary_rows  # noqa: PLC0415 - with the first form
    from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

    try:
        answer = await connection.commands.client.accounts.summary()
    except KeydeskClientError as error:
        take([("as the broker sent it", f"could not be read: {error}")])
    else:
        take(summary_rows(answer.account.model_dump(mode="json", by_alias=True)))


def closes_of(candles: Sequence[object], store: Store) -> Mapping[int, float]:
    """Return the closes of complete candles by time; candles that cannot be read are left out."""
    from keydesk.store.candles import candle_of  # noqa: PLC0415
    from keydesk_client.account.values import readable  # noqa: PLC0415
    from keydesk_client.models import Candlestick  # noqa: PLC0415

    loaded = [each for each in candles if isinstance(each, Candlestick)]
    found = [each for each in readable(store, candle_of, loaded) if each is not None]
    return {each.time_ns: each.close for each in found if each.complete}


def booking_of(transaction: Transaction) -> Booking | None:
    """Return what a transaction added to the balance; None for one that adds nothing or cannot be read."""
    from keydesk_client import models as m  # noqa: PLC0415
    from keydesk_client.account.values import READ_ERRORS, checked_time_ns, number_of  # noqa: PLC0415

    try:
        at = number_of(transaction.id), checked_time_ns(transaction.time)
        match transaction:
            case m.OrderFillTransaction():
                fees = transaction.commission + (transaction.guaranteed_execution_fee or Decimal(0))
                return Booking(*at, transaction.pl, transaction.financing, fees)
            case m.DailyFinancingTransaction():
                return Booking(*at, financing=transaction.financing)
            case m.DividendAdjustmentTransaction():
                return Booking(*at, financing=transaction.dividend_adjustment)
            case _:
                return None
    except READ_ERRORS:
        return None
