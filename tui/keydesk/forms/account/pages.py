"""Pages that look: the account, the exposure by currency, and an instrument's terms; their figures move with the prices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from keydesk.calc.risk.closeout import closeout_price
from keydesk.calc.risk.exposure import Holding
from keydesk.calc.risk.financing import financing_of
from keydesk.calc.risk.trading_context import NOTHING, TradingContext
from keydesk.forms.info_form import DetailsForm, Rows, instrument_rows
from keydesk.records import AccountState, PositionRow
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.store.trading_context import holdings_of, trading_context_of
from keydesk.text.format import EMPTY, date_and_time, money, pair, percent, pips, price, units
from keydesk.text.sanitize import Printable, safe
from keydesk_client.arithmetic.profit import notional

BAR = 10  # cells of a bar
PERCENT = Decimal(100)
WEEK_DAYS = 7
ENTRY_ORDERS = frozenset({"LIMIT", "STOP", "MARKET_IF_TOUCHED"})


class LivePage(DetailsForm):
    """A list of names and values that is computed again with each frame."""

    def __init__(self, title: Printable, compute: Callable[[], Rows]) -> None:
        super().__init__(title, compute())
        self._compute = compute
        self._more: Rows = []

    def on_frame(self, _frame: Frame) -> None:
        """Follow the prices."""
        self.rows = (*self._compute(), *self._more)
        self.redraw()

    def take_more(self, rows: Rows) -> None:
        """Add rows that were read from the broker for this page."""
        self._more = rows
        self.rows = (*self._compute(), *rows)
        self.redraw()


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
        ("realised, all time", f"{money(account.pl, signed=True)} {home}"),
        ("financing, all time", f"{money(account.financing, signed=True)} {home}"),
        ("margin used", _with_share(account.margin_used, account)),
        ("margin available", _with_share(account.margin_available, account)),
        ("margin rate, own", "none" if account.margin_rate is None else _rate(account.margin_rate)),
        ("closeout", _closeout_words(account)),
        *_closeout_distance(store, now),
        ("open risk to the stops", _risk_words(account)),
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
            "today, since 17:00 NY",
            f"{money(account.day_pl, signed=True)} {account.currency}{share}",
        ),
        (
            "NAV at 17:00 NY",
            f"{money(start)} {account.currency}" if start else "none: opened or funded since",
        ),
    ]


def _with_share(amount: Decimal, account: AccountState) -> str:
    share = f"  {percent(amount / account.nav)} % of NAV" if account.nav > 0 else ""
    return f"{money(amount)} {account.currency}{share}"


def _rate(rate: Decimal) -> str:
    return f"{percent(rate)} %, {money(1 / rate, 0)} to 1" if rate else EMPTY


def _closeout_words(account: AccountState) -> str:
    share = account.margin_closeout_percent
    return f"{bar(share)} {percent(share, 1)} %, closed out at 100 %"


def bar(share: Decimal) -> str:
    """Return a bar of blocks for a share from 0 to 1."""
    filled = int(min(max(share, Decimal(0)), Decimal(1)) * BAR)
    return "█" * filled + "░" * (BAR - filled)


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
        return [(safe(name), "no price of it closes the account out")]
    away = abs(at - context.mid) / context.rules.pip
    at_price = price(at, context.rules.price_precision)
    return [
        (safe(name), f"at {at_price}, {pips(away, signed=False)} pips away, others as they are")
    ]


def _priced_positions(
    store: Store, now: float
) -> Iterable[tuple[PositionRow, Decimal, TradingContext]]:
    for position in store.positions.values():
        context = trading_context_of(store, position.instrument, now)
        net = position.long_units + position.short_units
        if context is not None and net:
            yield position, net, context


def _risk_words(account: AccountState) -> str:
    if account.open_risk is None:
        return "not known yet"
    naked = account.naked_trades
    more = f", and {naked} without any stop" if naked else ""
    return f"{_with_share(account.open_risk, account)}{more}"


def _counts(store: Store) -> str:
    entries = sum(order.type in ENTRY_ORDERS for order in store.orders.values())
    return (
        f"trades {len(store.trades)}, positions {len(store.positions)}, entry orders {entries}, "
        f"protective orders {len(store.orders) - entries}"
    )


def summary_rows(members: Mapping[str, object]) -> Rows:
    """Return every member that the broker sent, by its name on the wire."""
    rows: Rows = [("as the broker sent it", "")]
    rows += [
        (safe(name), EMPTY if value is None else safe(f"{value}"))
        for name, value in members.items()
    ]
    return rows


def exposure_rows(store: Store, now: float) -> Rows:
    """Return what is held of each currency in its units and in home currency, and the loss if all stops are hit."""
    account = store.account
    if account is None:
        return [("account", "is still being read")]
    held, worth = _held(store, now)
    if not held:
        return [("exposure", "none: no position is open")]
    gross = max((abs(value) for value in worth.values()), default=NOTHING)
    rows: Rows = []
    for currency in sorted(held, key=lambda each: -abs(worth.get(each, NOTHING))):
        value = worth.get(currency, NOTHING)
        share = f"{percent(value / account.nav, 0, signed=True):>6} %" if account.nav > 0 else ""
        side = "long" if held[currency] > 0 else "short"
        filled = bar(abs(value) / gross).replace("░", "") if gross else ""
        amount = units(held[currency].quantize(Decimal("0.1")), signed=True)
        worth_words = f"{money(value, 0, signed=True)} {account.currency}"
        rows.append(
            (safe(f"{currency} {side}"), f"{amount:>13} {worth_words:>15} {share} {filled}")
        )
    total = sum(worth.values(), NOTHING)
    rows.append(("sum of all", f"{money(total, signed=True)} {account.currency}, at mid prices"))
    return [*rows, *_stop_rows(store, account)]


def _held(store: Store, now: float) -> tuple[Mapping[str, Decimal], Mapping[str, Decimal]]:
    """Return units and home value by currency; both sides of a position are worth the same."""
    held: dict[str, Decimal] = {}
    worth: dict[str, Decimal] = {}
    for each in holdings_of(store):
        context = trading_context_of(store, each.instrument, now)
        if context is None:
            continue
        value = each.units * each.mid * context.factors.value
        for currency, amount, home in _two_sides(each, value):
            held[currency] = held.get(currency, NOTHING) + amount
            worth[currency] = worth.get(currency, NOTHING) + home
    return held, worth


def _two_sides(each: Holding, value: Decimal) -> Sequence[tuple[str, Decimal, Decimal]]:
    return (each.base, each.units, value), (each.quote, -each.units * each.mid, -value)


def _stop_rows(store: Store, account: AccountState) -> Rows:
    """Return what the account is worth once every stop has been hit; trades without one keep their value."""
    lost = sum((trade.risk or NOTHING for trade in store.trades.values()), NOTHING)
    kept = sum((trade.locked or NOTHING for trade in store.trades.values()), NOTHING)
    floating = sum(
        (
            trade.unrealized_pl or NOTHING
            for trade in store.trades.values()
            if trade.risk is not None
        ),
        NOTHING,
    )
    after = account.nav - floating - lost + kept
    naked = account.naked_trades
    more = f"; {naked} without a stop stay open" if naked else ""
    home = account.currency
    return [
        (
            "if all stops are hit",
            f"{money(kept - lost, signed=True)} {home} from the entries{more}",
        ),
        ("NAV after that", f"{money(after)} {home}"),
    ]


def instrument_page_rows(name: str, store: Store, now: float, preset: Decimal | None) -> Rows:
    """Return an instrument's price and terms, each with its unit."""
    known, context = store.instruments.get(name), trading_context_of(store, name, now)
    rows = instrument_rows(name, store)
    if known is None or context is None:
        return rows
    rules, home = context.rules, context.funds.currency
    one_pip = rules.pip * context.factors.value
    least, most = rules.minimum_trail / rules.pip, rules.maximum_trail / rules.pip
    rows += [
        ("kind", f"{known.type.lower()}, {known.name}"),
        ("spread", f"{pips((context.ask - context.bid) / rules.pip, signed=False)} pips"),
        ("one pip of 10,000", f"{money(one_pip * 10_000, 4)} {home}"),
        ("decimals", f"{rules.price_precision} of a price, {rules.units_precision} of a size"),
        ("margin in force", _rate(rules.margin_rate)),
        ("largest position", _or_none(rules.maximum_position)),
        ("trailing distance", f"{pips(least, signed=False)} to {pips(most, signed=False)} pips"),
        ("guaranteed stop", _guarantee_words(context)),
        *_financing_rows(context, preset),
        *_held_rows(context),
    ]
    return rows


def _or_none(limit: Decimal) -> str:
    return f"{units(limit)} units" if limit else "no limit"


def _guarantee_words(context: TradingContext) -> str:
    rules = context.rules
    if rules.guarantee == "DISABLED":
        return "not offered"
    away = pips(rules.guarantee_distance / rules.pip, signed=False)
    premium = pips(rules.guarantee_premium / rules.pip, signed=False)
    return f"{rules.guarantee.lower()}, {away} pips away at least, premium {premium} pips"


def _financing_rows(context: TradingContext, preset: Decimal | None) -> Rows:
    """Return the financing a day and a week of the preset's units, and the days that each weekday charges."""
    size = preset or Decimal(10_000)
    rows: Rows = []
    for word, signed in (("long", size), ("short", -size)):
        a_day = financing_of(context, signed, 1)
        a_week = financing_of(context, signed, sum(context.rules.financing_days) or WEEK_DAYS)
        if a_day is not None:
            words = f"{money(a_day, signed=True)} a day, {money(a_week, signed=True)} a week"
            rows.append((safe(f"{units(size)} {word}"), f"{words} {context.funds.currency}"))
    if context.rules.financing_days:
        names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
        days = zip(names, context.rules.financing_days, strict=True)
        rows.append(("days charged", " ".join(f"{day} {count}" for day, count in days)))
    return rows


def _held_rows(context: TradingContext) -> Rows:
    funds = context.funds
    if not funds.long_units and not funds.short_units:
        return [("held", "nothing")]
    long, short = units(funds.long_units, signed=True), units(funds.short_units, signed=True)
    return [("held", f"long {long}, short {short} units")]
