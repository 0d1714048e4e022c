"""The page of the account: its figures, the profit of day, week and month, and everything else that the broker says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.market.trading_day import DAY_END_SHORT
from keydesk.calc.risk.margin import closeout_price
from keydesk.calc.risk.period_profit import (
    PERIODS,
    Booking,
    PeriodProfit,
    period_start,
    profit_since,
)
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.account.live_page import (
    LivePage,
    bar,
    name_text,
    rate_text,
    value_text,
)
from keydesk.forms.details_form import Rows, StyledText
from keydesk.forms.requests import ConfigureWanted
from keydesk.keys.keymap import ACCOUNT
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.store.trading_context import trading_context_of
from keydesk.store.unknown import unknown_text
from keydesk.text.format import (
    EMPTY,
    UNLIMITED,
    counted,
    date_and_time,
    money,
    pair,
    percent,
    pips,
    price,
)
from keydesk.text.sanitize import Printable, safe
from keydesk.values import AccountState, PositionRow
from keydesk_client.arithmetic.profit import notional

PERIODS_AT = 9  # rows of the account before what was booked
ENTRY_ORDERS = frozenset({"LIMIT", "STOP", "MARKET_IF_TOUCHED"})


class AccountPage(LivePage):
    """The account in full: figures, what was booked in day, week and month, and what else the broker says.

    Args:
        store: The state of account and market.
        now: Monotonic seconds.
        read: Reads bookings and summary for the page; called again after each transaction.
    """

    KEY_CONTEXT: ClassVar[str] = ACCOUNT
    BINDINGS = bindings_of(ACCOUNT)

    def __init__(
        self,
        store: Store,
        now: Callable[[], float],
        read: Callable[["AccountPage"], None] = lambda _: None,
    ) -> None:
        self._store, self._now, self._read = store, now, read
        self._bookings: Sequence[Booking] | None = None
        self._trouble = ""
        self._summary: Rows = []
        self._read_at = 0  # the last transaction when it was read
        super().__init__("Account")

    def compute(self) -> Rows:
        """Return the account's figures."""
        rows = account_rows(self._store, self._now())
        if self._store.account is not None:
            rows[PERIODS_AT:PERIODS_AT] = self._period_rows()
        return [*rows, *self._summary]

    def on_mount(self) -> None:
        """Read what the desk does not have."""
        super().on_mount()
        self._read_again()

    def on_frame(self, frame: Frame) -> None:
        account = self._store.account
        if account is not None and account.last_transaction_id != self._read_at:
            self._read_again()
        super().on_frame(frame)

    def _read_again(self) -> None:
        account = self._store.account
        self._read_at = account.last_transaction_id if account is not None else 0
        self._read(self)

    def foot_text(self) -> Printable:
        """Return the keys, with that of the account's settings."""
        return safe(f"{super().foot_text()}   e name, margin rate")

    def action_configure(self) -> None:
        self.app.post_message(ConfigureWanted())

    def show_bookings(self, bookings: Sequence[Booking] | None, trouble: str = "") -> None:
        """Show what was booked; None leaves what is shown, with the reason why there is nothing newer."""
        if bookings is not None:
            self._bookings = bookings
        self._trouble = trouble
        self.show_now()

    def show_more(self, rows: Rows) -> None:
        """Add rows that were read from the broker for this page."""
        self._summary = rows
        self.show_now()

    def _period_rows(self) -> Rows:
        if self._bookings is None:
            why = self._trouble or "being read …"
            return [("booked", StyledText(safe(why), "muted"))]
        store = self._store
        now_ns = store.clock_ns or max((each.time_ns for each in self._bookings), default=0)
        rows: Rows = []
        for period in PERIODS if now_ns else ():
            profit = profit_since(self._bookings, period_start(period, now_ns))
            rows.append((safe(f"booked this {period}"), _profit_text(profit, store)))
        if self._trouble:
            rows.append(("incomplete", StyledText(safe(self._trouble), "warn")))
        return rows


def _profit_text(profit: PeriodProfit, store: Store) -> str:
    home = store.home_currency
    fees = f", fees {money(-profit.fees, signed=True)}" if profit.fees else ""
    parts = f"realized {money(profit.realized, signed=True)}, financing {money(profit.financing, signed=True)}{fees}"
    return f"{money(profit.total, signed=True)} {home}  {parts}"


def account_rows(store: Store, now: float) -> Rows:
    """Return the account's figures, its counts and the distance to the closeout."""
    account = store.account
    if account is None:
        return [("account", "is still being read")]
    home = account.currency
    return [
        ("account", f"{account.alias or EMPTY}  {account.id}"),
        ("created", date_and_time(account.created_time_ns, store.zone)),
        ("kind", "hedging" if account.hedging else "netting"),
        ("NAV", f"{money(account.nav)} {home}"),
        ("NAV at mid prices", f"{money(account.mid_nav)} {home}"),
        ("balance", f"{money(account.balance)} {home}"),
        ("unrealized", f"{money(account.unrealized_pl, signed=True)} {home}"),
        *_day_rows(account),
        ("realized, all time", f"{money(account.pl, signed=True)} {home}"),
        ("financing, all time", f"{money(account.financing, signed=True)} {home}"),
        ("margin used", _margin_text(account)),
        ("margin available", _with_share(account.margin_available, account)),
        (
            "margin rate, own",
            "none" if account.margin_rate is None else rate_text(account.margin_rate),
        ),
        ("closeout", _closeout_text(account)),
        *_closeout_distance(store, now),
        ("open risk to the stops", _risk_text(account)),
        ("open", _counts(store)),
        ("last transaction", f"#{account.last_transaction_id}"),
    ]


def _day_rows(account: AccountState) -> Rows:
    if account.day_pl is None:
        return [("today", "not known yet")]
    start = account.day_start_nav
    share = f"  {percent(account.day_pl / start, signed=True)} %" if start else ""
    return [
        (
            f"today, since {DAY_END_SHORT}",
            f"{money(account.day_pl, signed=True)} {account.currency}{share}",
        ),
        (
            f"NAV at {DAY_END_SHORT}",
            f"{money(start)} {account.currency}" if start else "none: opened or funded since",
        ),
    ]


def _with_share(amount: Decimal, account: AccountState) -> str:
    share = f"  {percent(amount / account.nav)} % of NAV" if account.nav > 0 else ""
    return f"{money(amount)} {account.currency}{share}"


def _margin_text(account: AccountState) -> str:
    """Return the margin in use with a bar of its share."""
    text = _with_share(account.margin_used, account)
    return f"{text}  {bar(account.margin_used / account.nav)}" if account.nav > 0 else text


def _closeout_text(account: AccountState) -> str:
    share = account.margin_closeout_percent
    return f"{bar(share)} {percent(share, 1)} %, closed out at 100 %"


def _closeout_distance(store: Store, now: float) -> Rows:
    """Return how far the largest position may move against the account before all is closed."""
    sizes = [
        (notional(net, context.mid, context.factors), position, context)
        for position, net, context in _priced_positions(store, now)
    ]
    account = store.account
    if not sizes or account is None:
        return []
    _, position, context = max(sizes, key=lambda each: each[0])
    net = position.long_units + position.short_units
    at = closeout_price(
        signed_units=net,
        mid=context.mid,
        margin_rate=context.rules.margin_rate,
        position_value=context.factors.value,
        margin_used=account.margin_used,
        mid_nav=account.nav if account.mid_nav is None else account.mid_nav,
    )
    name = f"closeout by {pair(position.instrument)}"
    if at is None:
        return [(safe(name), "no price of it leads to a margin closeout")]
    distance_pips = abs(at - context.mid) / context.rules.pip
    at_price = price(at, context.rules.price_precision)
    return [
        (
            safe(name),
            f"at {at_price}, {pips(distance_pips, signed=False)} pips away, others as they are",
        )
    ]


def _priced_positions(
    store: Store, now: float
) -> Iterable[tuple[PositionRow, Decimal, TradingContext]]:
    for position in store.positions.values():
        context = trading_context_of(store, position.instrument, now)
        net = position.long_units + position.short_units
        if context is not None and net:
            yield position, net, context


def _risk_text(account: AccountState) -> str:
    if account.open_risk is None:
        return "not known"
    stops = _with_share(account.open_risk, account)
    if not account.unprotected_trades:
        return stops
    without = counted(account.unprotected_trades, "trade")
    return f"{UNLIMITED}: {without} without any stop; the others {stops}"


def _counts(store: Store) -> str:
    unknown = unknown_text(store)
    not_known = f"; not known: {unknown}" if unknown else ""
    entries = sum(order.type in ENTRY_ORDERS for order in store.orders.values())
    return (
        f"trades {len(store.trades):,}, positions {len(store.positions)}, entry orders {entries:,}, "
        f"protective orders {len(store.orders) - entries:,}{not_known}"
    )


def summary_rows(members: Mapping[str, object]) -> Rows:
    """Return every member that the broker sent, its name on the wire in words."""
    rows: Rows = [("as the broker sent it", "")]
    rows += [
        (safe(name_text(name) or EMPTY), safe(value_text(value))) for name, value in members.items()
    ]
    return rows
