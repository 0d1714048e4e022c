"""The accounts of a token with their figures: value, profit, margin, what is open and what is at risk; read only.

Also for the commands, which have no store.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct

from keydesk.text.format import EMPTY, UNLIMITED, counted, money, percent
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk.trading.open_items import ENTRY_TYPES, unread_parts
from keydesk_client.account.values import MAX_VALUE, READ_ERRORS
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import HOME, Factors, currencies, factors_from
from keydesk_client.arithmetic.risk import nearest_stop, open_risk
from keydesk_client.client import Client
from keydesk_client.errors import Forbidden, KeydeskClientError, Unauthorized
from keydesk_client.models import Account
from keydesk_client.models._core.record import Record
from keydesk_client.resources.answers import text

STOPS: Final = (
    "stop_loss_order_id",
    "guaranteed_stop_loss_order_id",
    "trailing_stop_loss_order_id",
)
MOST_READ: Final = 40
"""Accounts of a token that are read; those after them are listed and say so."""
NOT_READ: Final = f"not read: only the first {MOST_READ} accounts of a token are"
MAX_REASON_LENGTH: Final = 200


class AccountOverview(Struct, frozen=True):
    """An account at a glance; `why` says why it cannot be read, and then the rest is empty."""

    id: str
    why: str = ""
    alias: str = ""
    currency: str = ""
    balance: Decimal | None = None
    nav: Decimal | None = None
    unrealized_pl: Decimal | None = None
    margin_used: Decimal | None = None
    margin_available: Decimal | None = None
    closeout_percent: Decimal | None = None
    trades: int = 0
    entry_orders: int = 0
    unprotected: int = 0  # trades without a stop
    open_risk: Decimal | None = None  # of the trades to their stops; None: not known
    unread: Sequence[str] = ()  # what could not be read of it, in words

    @property
    def risk_text(self) -> SafeText:
        """The open risk: money, or that there is no bound to it."""
        if self.unprotected:
            return safe(f"{UNLIMITED}: {self.unprotected} without a stop")
        return safe(EMPTY if self.open_risk is None else money(self.open_risk))

    @property
    def name(self) -> SafeText:
        """The number of the account, and its name where it has one."""
        alias = f" {clean(self.alias, 30)}" if self.alias else ""
        return safe(f"{clean_name(self.id, 40)}{alias}")

    @property
    def lines(self) -> Sequence[SafeText]:
        """The account in words, three lines or four."""
        if self.why:
            return (safe(f"{self.name}  cannot be read: {clean(self.why, MAX_REASON_LENGTH)}"),)
        figures = (
            f"NAV {_money(self.nav)}   balance {_money(self.balance)}   "
            f"open P/L {_money(self.unrealized_pl, signed=True)}"
        )
        margin = (
            f"margin used {_money(self.margin_used)}   available {_money(self.margin_available)}   "
            f"closeout {EMPTY if self.closeout_percent is None else percent(self.closeout_percent, 1)} %"
        )
        held = (
            f"{counted(self.trades, 'trade')}, {counted(self.entry_orders, 'entry order')}, "
            f"open risk {self.risk_text}"
        )
        head = safe(f"{self.name}  {clean_name(self.currency, 8)}")
        lines = [figures, margin, held]
        if self.unread:
            why = "; ".join(self.unread)
            lines.insert(0, f"NOT KNOWN, as it could not be read: {clean(why, MAX_REASON_LENGTH)}")
        return (head, *(safe(f"  {each}") for each in lines))


class ProfileOverview(Struct, frozen=True):
    """The accounts of a profile's token; `why` says why they cannot be read."""

    profile: str
    environment: str  # PRACTICE or LIVE
    accounts: Sequence[AccountOverview] = ()
    why: str = ""


def _money(value: Decimal | None, *, signed: bool = False) -> str:
    return EMPTY if value is None else money(value, signed=signed)


async def read_accounts(client: Client) -> Sequence[AccountOverview]:
    """Return every account of the client's token, in the broker's order; one that cannot be read says why.

    Raises:
        KeydeskClientError: the list cannot be read.
    """
    listed = (await client.accounts.list()).accounts
    ids = [id_ for each in listed if (id_ := text(each, "id"))]
    read = await asyncio.gather(*(read_account(client, each) for each in ids[:MOST_READ]))
    return [*read, *(AccountOverview(each, NOT_READ) for each in ids[MOST_READ:])]


async def read_account(client: Client, account_id: str) -> AccountOverview:
    """Return an account at a glance; a failure is its `why`."""
    try:
        account = (await client.accounts.get(account_id)).account
        conversions = await _conversions(client, account)
        return _overview(account, conversions)
    except (Unauthorized, Forbidden) as error:
        return AccountOverview(account_id, f"the broker refuses the token ({error.status})")
    except KeydeskClientError as error:
        return AccountOverview(account_id, clean(str(error), MAX_REASON_LENGTH))
    except READ_ERRORS:
        return AccountOverview(account_id, "the broker's answer cannot be used")


async def _conversions(client: Client, account: Account) -> Mapping[str, Factors]:
    """Return the factors from the currencies of the trades to the account's own; without an answer, its own alone."""
    home = account.currency
    held = {each.instrument for each in account.trades}
    foreign = sorted(each for each in held if currencies(each)[1] != home)
    factors = {home: HOME}
    if not foreign:
        return factors
    try:
        answer = await client.pricing.get(
            foreign, include_home_conversions=True, account_id=account.id
        )
        listed = answer.home_conversions or ()
        factors |= {each.currency: factors_from(each) for each in listed if each.currency != home}
    except (KeydeskClientError, *READ_ERRORS):
        return factors
    return factors


def _overview(account: Account, conversions: Mapping[str, Factors]) -> AccountOverview:
    orders = {order.id: order for order in account.orders}
    unread = unread_parts(account)
    protected = [each for each in account.trades if not _has_no_stop(each)]
    risks = [_risk(trade, _stop_of(trade, orders), conversions) for trade in protected]
    known = [each for each in risks if each is not None]
    return AccountOverview(
        id=account.id,
        alias=text(account, "alias") or "",
        currency=account.currency,
        balance=_amount(account, "balance"),
        nav=_amount(account, "nav"),
        unrealized_pl=_amount(account, "unrealized_pl"),
        margin_used=_amount(account, "margin_used"),
        margin_available=_amount(account, "margin_available"),
        closeout_percent=_amount(account, "margin_closeout_percent"),
        trades=len(account.trades),
        entry_orders=sum(text(each, "type") in ENTRY_TYPES for each in account.orders),
        unprotected=len(account.trades) - len(protected),
        open_risk=sum(known, ZERO) if len(known) == len(risks) and not unread else None,
        unread=unread,
    )


def _amount(record: Record, member: str) -> Decimal | None:
    """Return a number that can be shown; None where it is missing or absurd."""
    value = getattr(record, member, None)
    return value if isinstance(value, Decimal) and abs(value) < MAX_VALUE else None


def _stop_of(trade: Record, orders: Mapping[str, Record]) -> Decimal | None:
    """Return the price of the stop that comes first, None where it cannot be read."""
    held = (orders.get(text(trade, name) or "") for name in STOPS)
    prices: Iterable[Decimal | None] = (
        _amount(order, "trailing_stop_value") or _amount(order, "price")
        for order in held
        if order is not None
    )
    units = _amount(trade, "current_units")
    return None if units is None else nearest_stop(units, prices)


def _has_no_stop(trade: Record) -> bool:
    """Return whether a trade names no stop; False where that cannot be read."""
    try:
        return not any(getattr(trade, name) for name in STOPS)
    except READ_ERRORS:
        return False


def _risk(
    trade: Record, stop: Decimal | None, conversions: Mapping[str, Factors]
) -> Decimal | None:
    """Return the loss of a trade at its stop in the account's currency; None while a factor is missing."""
    units, price = _amount(trade, "current_units"), _amount(trade, "price")
    factors = conversions.get(currencies(text(trade, "instrument") or "")[1])
    if units is None or price is None or factors is None or stop is None:
        return None
    return open_risk(units, price, stop, factors)
