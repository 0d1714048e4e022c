"""What pages read from the broker: bookings of week and month, hourly closes; each in a worker, kept for the next time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.app.account_connection import Connection, DeskAccount
from keydesk.calc.market.trading_day import SECOND
from keydesk.calc.risk.period_profit import Booking, period_start
from keydesk.store.store import Store
from keydesk.text.sanitize import clean

if TYPE_CHECKING:
    from keydesk_client.models import Transaction
    from keydesk_client.models.enumerations import TransactionFilter

BOOKED: tuple[TransactionFilter, ...] = ("ORDER_FILL", "DAILY_FINANCING", "DIVIDEND_ADJUSTMENT")
MOST_BOOKINGS = 20_000
RETURNS = 120
CLOSES_LAST = 1800.0  # seconds until the candles of an instrument are read again
TakeBookings = Callable[[Sequence[Booking] | None, str], None]
TakeCloses = Callable[[Mapping[str, Mapping[int, float]]], None]


@dataclass(slots=True)
class _Bookings:
    """The bookings since an instant, in the order of their ids."""

    since_ns: int = -1
    kept: list[Booking] = field(default_factory=list)


class PageReadings:
    """Reads for pages; an answer goes to the page that asked, also when it is closed meanwhile.

    Args:
        app: Runs the workers.
        account: Is read, once it is open.
        store: Has the broker's time.
    """

    def __init__(self, app: App[int], account: DeskAccount, store: Store) -> None:
        self._app, self._account, self._store = app, account, store
        self._bookings = _Bookings()
        self._closes: dict[str, tuple[float, Mapping[int, float]]] = {}

    def bookings(self, take: TakeBookings) -> None:
        """Read what was booked since the beginning of week and month, and hand it on."""
        if (connection := self._account.connection) is not None:
            self._app.run_worker(
                self._read_bookings(connection, take),
                "bookings",
                group="bookings",
                exclusive=True,
                exit_on_error=False,
            )

    async def _read_bookings(self, connection: Connection, take: TakeBookings) -> None:
        from keydesk_client.errors import KeydeskClientError, NotFound, OutOfRange  # noqa: PLC0415

        clock = self._store.clock_ns or time_ns()
        since = min(period_start("week", clock), period_start("month", clock))
        if since != self._bookings.since_ns:
            self._bookings = _Bookings(since)
        kept = self._bookings.kept
        trouble = ""
        transactions = connection.commands.client.transactions
        if kept:
            newer = transactions.iterate_since(kept[-1].transaction_id, type_=BOOKED)
        else:
            start = datetime.fromtimestamp(since // SECOND, UTC)
            newer = transactions.iterate(from_=start, type_=BOOKED)
        try:
            async for transaction in newer:
                if (booking := booking_of(transaction)) is not None:
                    kept.append(booking)
                if len(kept) >= MOST_BOOKINGS:
                    trouble = f"only the first {MOST_BOOKINGS:,} transactions are counted"
                    break
        except KeydeskClientError as error:
            trouble = clean(f"could not be read: {error}")
            if isinstance(error, OutOfRange | NotFound):  # the broker's history began anew
                self._bookings = _Bookings()
            take(tuple(kept) or None, trouble)
            return
        take(tuple(kept), trouble)

    def closes(self, names: Sequence[str], take: TakeCloses) -> None:
        """Read the hourly closes of instruments, and hand them on when all were asked for."""
        if (connection := self._account.connection) is not None:
            self._app.run_worker(
                self._read_closes(connection, names, take),
                "hourly closes",
                group="closes",
                exclusive=True,
                exit_on_error=False,
            )

    async def _read_closes(
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
    from keydesk_client.account.values import READ_ERRORS, moment, number_of  # noqa: PLC0415

    try:
        at = number_of(transaction.id), moment(transaction.time)
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
