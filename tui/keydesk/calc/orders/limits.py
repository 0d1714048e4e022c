"""The trader's own limits: what each means, and which of them an order would pass. Exits are not checked here.

A hard limit refuses with its value, its name on the page of limits and the remedy; a soft one asks for a letter.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import Enum

from msgspec import Struct

from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import OpenRisk, TradingContext
from keydesk.text.format import counted, duration, money, pip_count, unit_count, units
from keydesk.values import ClosedTrade
from keydesk_client.arithmetic.constants import MINUTE, PERCENT, SECOND, ZERO

CHANGE = ":limits changes it"
MAX_DIGITS = 12  # of a limit, on each side of its point
COUNTED_UNITS = frozenset(("trades", "minutes", "units", "pips"))


class LimitGroup(Enum):
    """What a limit is of; the page of limits shows them in this order."""

    DAY = "The day"
    ACCOUNT = "The account"
    TRADE = "Each new trade"
    MARKET = "The market at the order"


class LimitEffect(Enum):
    """What happens beyond a limit."""

    EXIT_ONLY = "exit-only"  # until the day ends
    PAUSES = "pauses"  # exit-only for some minutes
    REFUSES = "refuses"
    ASKS = "asks"  # for a letter


class LimitField(Struct, frozen=True):
    """A limit as settings and the page of limits name it."""

    group: LimitGroup
    effect: LimitEffect
    name: str  # in `templates.toml`
    text: str
    unit: str
    meaning: str
    per_instrument: bool = False
    may_be_off: bool = True

    @property
    def full_name(self) -> str:
        """The name, with what happens beyond the limit unless that is a refusal."""
        refuses = self.effect is LimitEffect.REFUSES
        return self.text if refuses else f"{self.text}, {self.effect.value}"

    def amount(self, value: Decimal, currency: str) -> str:
        """Return a value with its unit: 1 trade, 2.5 % NAV, 300 USD."""
        if self.unit == "money":
            return f"{units(value)} {currency}".rstrip()
        is_one = value == 1 and self.unit in COUNTED_UNITS
        return f"{units(value)} {self.unit.removesuffix('s') if is_one else self.unit}"


def _of_trades(
    group: LimitGroup, name: str, text: str, unit: str, meaning: str, *, may_be_off: bool = True
) -> LimitField:
    """Return a limit that an instrument may have of its own."""
    effect = LimitEffect.ASKS if name.startswith("soft") else LimitEffect.REFUSES
    return LimitField(group, effect, name, text, unit, meaning, True, may_be_off)


_DAY, _ACCOUNT, _TRADE, _MARKET = LimitGroup
LIMIT_FIELDS = (
    LimitField(
        *(_DAY, LimitEffect.EXIT_ONLY, "daily_loss", "Loss of the day", "money"),
        "At this loss only exits are sent until 17:00 New York",
    ),
    LimitField(
        *(_DAY, LimitEffect.EXIT_ONLY, "daily_loss_percent", "Loss of the day", "% NAV"),
        "In per cent of the NAV at the start of the day; the smaller counts",
    ),
    LimitField(
        *(_DAY, LimitEffect.PAUSES, "cool_off_losses", "Losing trades in a row", "trades"),
        "After so many today only exits are sent for a while",
    ),
    LimitField(
        *(_DAY, LimitEffect.PAUSES, "cool_off_minutes", "Length of that pause", "minutes"),
        "How long only exits are sent",
        may_be_off=False,
    ),
    LimitField(
        *(_ACCOUNT, LimitEffect.REFUSES, "hard_open_risk_percent", "Open risk", "% NAV"),
        "Loss if all stops are hit, entry orders counted as if they filled",
    ),
    LimitField(
        *(_ACCOUNT, LimitEffect.REFUSES, "hard_open_trades", "Trades and entry orders", "trades"),
        "Open trades and pending entry orders together",
    ),
    _of_trades(_TRADE, "hard_risk_percent", "Risk of a trade", "% NAV", "Its loss at the stop"),
    _of_trades(_TRADE, "hard_units", "Units of a trade", "units", "Its size"),
    _of_trades(_TRADE, "hard_notional", "Value of a trade", "money", "Units times price"),
    _of_trades(
        _TRADE, "hard_leverage", "Value of a trade", "× NAV", "Units times price, over the NAV"
    ),
    _of_trades(
        *(_TRADE, "hard_spread_of_stop", "Spread to stop distance", "share"),
        "0.25: the spread is a quarter of the distance to the stop",
    ),
    _of_trades(
        *(_TRADE, "soft_risk_percent", "Risk of a trade", "% NAV", "Its loss at the stop"),
        may_be_off=False,
    ),
    _of_trades(
        *(_TRADE, "soft_leverage", "Value of a trade", "× NAV", "Units times price, over the NAV"),
        may_be_off=False,
    ),
    _of_trades(
        *(_TRADE, "soft_spread_of_stop", "Spread to stop distance", "share"),
        "0.25: the spread is a quarter of the distance to the stop",
        may_be_off=False,
    ),
    _of_trades(_MARKET, "hard_spread_pips", "Spread", "pips", "Ask less bid as the order is sent"),
    _of_trades(
        *(_MARKET, "hard_deviation_percent", "Entry from the market", "% price"),
        "How far the price of an entry order is from the market",
    ),
    _of_trades(_MARKET, "soft_spread_pips", "Spread", "pips", "Ask less bid as the order is sent"),
    _of_trades(
        *(_MARKET, "soft_deviation_ranges", "Entry from the market", "× ADR"),
        "The same in average daily ranges",
    ),
    LimitField(
        *(_MARKET, LimitEffect.ASKS, "slow_ms", "Round trip to the broker", "ms"),
        "Time from a request to the broker's answer",
        may_be_off=False,
    ),
)
"""Every limit, those of a group that refuse before those that ask."""
_NAMES = {field.name: field.text for field in LIMIT_FIELDS}


def has_sane_size(number: Decimal) -> bool:
    """Return whether a number has no more digits than a limit can mean."""
    return number.is_finite() and (not number or abs(number.adjusted()) < MAX_DIGITS)


def refused(name: str, fact: str, limit: str, remedy: str) -> str:
    """Return the refusal of a limit: the fact, the limit with its value and its name on the page, and the remedy."""
    return f"{fact}: your own limit of {limit} ({_NAMES[name]}). {remedy}, or {CHANGE}"


def limit_refusals(
    plan: Plan, context: TradingContext, limits: Limits, risk: OpenRisk
) -> Iterator[str]:
    """Yield a refusal for each hard limit that an order opening risk would pass."""
    own = limits.of(context.rules.name)
    yield from _size_refusals(plan, context, own)
    yield from _risk_refusals(plan, context, own, risk)
    yield from spread_refusals(context, own, plan.distance)
    if isinstance(entry := plan.levels.entry, Decimal):
        yield from deviation_refusals(entry, context, own)


def _size_refusals(plan: Plan, context: TradingContext, own: Limits) -> Iterator[str]:
    funds = context.funds
    if own.hard_units is not None and plan.units > own.hard_units:
        most = unit_count(own.hard_units)
        yield refused("hard_units", unit_count(plan.units), most, "Type fewer")
    if own.hard_notional is not None and plan.notional > own.hard_notional:
        fact = f"A value of {money(plan.notional)} {funds.currency}"
        yield refused("hard_notional", fact, money(own.hard_notional), "Type fewer units")
    most_times = own.hard_leverage
    if most_times is not None and funds.nav > 0 and plan.notional > most_times * funds.nav:
        fact = f"A value of {money(plan.notional / funds.nav, 1)} times NAV"
        yield refused("hard_leverage", fact, f"{most_times} times", "Type fewer units")


def _risk_refusals(
    plan: Plan, context: TradingContext, own: Limits, risk: OpenRisk
) -> Iterator[str]:
    nav = context.funds.nav
    share = own.hard_risk_percent
    if share is not None and plan.risk is None:
        yield refused("hard_risk_percent", "A trade without a stop", f"{share} %", "Set a stop: s")
    elif share is not None and plan.risk is not None and plan.risk * PERCENT > share * nav:
        fact = f"Risk {_percent_of(plan.risk, nav)}"
        yield refused("hard_risk_percent", fact, f"{share} %", "Fewer units or a nearer stop")
    yield from _open_risk_refusals(plan, context, own, risk)
    most = own.hard_open_trades
    if most is not None and risk.count >= most:
        fact = f"{counted(risk.trades, 'open trade')} and {counted(risk.entries, 'entry order')}"
        if risk.unread:
            fact += f", and {risk.unread} that could not be read"
        yield refused("hard_open_trades", fact, f"{most}", "Close or cancel one")


def _open_risk_refusals(
    plan: Plan, context: TradingContext, own: Limits, risk: OpenRisk
) -> Iterator[str]:
    share, nav = own.hard_open_risk_percent, context.funds.nav
    if share is None:
        return
    name, limit = "hard_open_risk_percent", f"{share} %"
    if plan.risk is None:
        yield refused(name, "Open risk without limit: no stop", limit, "Set a stop: s")
    elif risk.unread:
        what = counted(risk.unread, "trade or order", "trades or orders")
        yield refused(name, f"Open risk not known: {what} could not be read", limit, "Wait")
    elif risk.unprotected:
        are = (
            "1 trade or order has"
            if risk.unprotected == 1
            else f"{risk.unprotected} trades or orders have"
        )
        yield refused(name, f"Open risk without limit: {are} no stop", limit, "Give them a stop")
    elif (after := risk.cash + plan.risk) * PERCENT > share * nav:
        fact = f"Open risk {_percent_of(risk.cash, nav)} → {_percent_of(after, nav)}"
        yield refused(name, fact, limit, "Fewer units, or close one")


def moved_risk_refusals(
    before: Decimal | None,
    after: Decimal | None,
    context: TradingContext,
    own: Limits,
    risk: OpenRisk,
) -> Iterator[str]:
    """Yield refusals of an entry order whose move makes its risk greater than the trader's limits; None: no stop.

    `risk` is that of the account with the order as it is. A move that lowers the risk is never refused.
    """
    if after is not None and (before is None or after <= before):
        return
    nav, share, most = context.funds.nav, own.hard_risk_percent, own.hard_open_risk_percent
    if after is None:
        if before is not None and share is not None:
            yield refused(
                "hard_risk_percent", "An entry without a stop", f"{share} %", "Set a stop: s"
            )
        return
    if share is not None and after * PERCENT > share * nav:
        fact = f"Risk {_percent_of(after, nav)}"
        yield refused("hard_risk_percent", fact, f"{share} %", "Fewer units or a nearer stop")
    total = risk.cash - (before or ZERO) + after
    if most is not None and total * PERCENT > most * nav:
        fact = f"Open risk {_percent_of(risk.cash, nav)} → {_percent_of(total, nav)}"
        yield refused("hard_open_risk_percent", fact, f"{most} %", "Fewer units or a nearer stop")


def spread_refusals(
    context: TradingContext, own: Limits, distance: Decimal | None
) -> Iterator[str]:
    """Yield refusals of a spread that is too wide, in pips or against the distance to the stop."""
    spread = context.ask - context.bid
    now = spread / context.rules.pip
    if own.hard_spread_pips is not None and now > own.hard_spread_pips:
        fact = f"The spread is {money(now, 1)} pips"
        yield refused("hard_spread_pips", fact, pip_count(own.hard_spread_pips), "Wait")
    share = own.hard_spread_of_stop
    if share is not None and distance is not None and distance > 0 and spread > share * distance:
        fact = f"The spread is {money(spread / distance * PERCENT, 0)} % of the stop"
        limit = f"{money(share * PERCENT, 0)} %"
        yield refused("hard_spread_of_stop", fact, limit, "Wait, or a wider stop")


def deviation_refusals(entry: Decimal, context: TradingContext, own: Limits) -> Iterator[str]:
    """Yield a refusal of an entry that is too far from the market."""
    share, mid = own.hard_deviation_percent, context.mid
    if share is not None and abs(entry - mid) * PERCENT > share * mid:
        fact = f"{entry} is {_percent_of(abs(entry - mid), mid)} from the market"
        yield refused("hard_deviation_percent", fact, f"{share} %", "Type a nearer price")


def deviation_warnings(entry: Decimal, context: TradingContext, own: Limits) -> Iterator[str]:
    """Yield a warning of an entry that is many days' ranges from the market; none while those are not known."""
    most, day = own.soft_deviation_ranges, context.daily_range
    if most is None or not day:
        return
    deviation = abs(entry - context.mid) / day
    if deviation > most:
        pips = money(day / context.rules.pip, 0)
        yield f"{entry} is {money(deviation, 1)} ADR from the market (a day moves {pips}p), over {most}"


def limit_warnings(plan: Plan, context: TradingContext, limits: Limits) -> Iterator[str]:
    """Yield a warning for each soft limit that an order opening risk would pass."""
    own, nav = limits.of(context.rules.name), context.funds.nav
    if plan.risk is not None and nav > 0 and plan.risk * PERCENT > own.soft_risk_percent * nav:
        yield f"Risk {money(plan.risk / nav * PERCENT)} % of NAV, over {own.soft_risk_percent} %"
    spread = context.ask - context.bid
    now = spread / context.rules.pip
    if own.soft_spread_pips is not None and now > own.soft_spread_pips:
        yield f"The spread is {money(now, 1)} pips, over {own.soft_spread_pips}"
    if plan.distance is not None and plan.distance > 0:
        share = spread / plan.distance
        if share > own.soft_spread_of_stop:
            yield f"The spread is {money(share * PERCENT, 0)} % of the stop"
    if isinstance(entry := plan.levels.entry, Decimal):
        yield from deviation_warnings(entry, context, own)
    if nav > 0 and plan.notional > own.soft_leverage * nav:
        yield f"The size is {money(plan.notional / nav, 1)} times NAV"


def _percent_of(part: Decimal, whole: Decimal) -> str:
    return f"{money(part / whole * PERCENT)} %" if whole > 0 else "over 100 %"


def losses_in_a_row(closed: Sequence[ClosedTrade]) -> int:
    """Return how many of the last trades lost; one that came out at nothing neither counts nor ends the row."""
    count = 0
    for each in reversed(closed):
        if each.result > 0:
            break
        count += each.result < ZERO
    return count


def cool_off_until(closed: Sequence[ClosedTrade], limits: Limits) -> int | None:
    """Return until when no risk is opened after a row of losses, None without one."""
    losses = limits.cool_off_losses
    if losses is None or losses_in_a_row(closed) < losses:
        return None
    last = next(each for each in reversed(closed) if each.result < ZERO)
    return last.time_ns + int(limits.cool_off_minutes * MINUTE)


def cool_off_text(closed: Sequence[ClosedTrade], limits: Limits, now_ns: int) -> str:
    """Return why only exits are sent after a row of losses, "" if there is none or the pause is over."""
    until = cool_off_until(closed, limits)
    if until is None or now_ns >= until:
        return ""
    left = duration((until - now_ns) / SECOND)
    return (
        f"COOL-OFF after {losses_in_a_row(closed)} losses in a row (your own limit is "
        f"{limits.cool_off_losses}): exits only for {left}. Wait, or {CHANGE}"
    )
