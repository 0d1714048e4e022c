"""The page of an instrument: its price and terms, each number with its unit."""

from collections.abc import Callable
from decimal import Decimal

from keydesk.calc.market.sessions import closed_text, week_at, week_text
from keydesk.calc.market.trading_day import DAY_END_TEXT, next_day_start
from keydesk.calc.risk.financing import financing_of
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.account.live_page import LivePage, rate_text
from keydesk.forms.detail_rows import (
    instrument_rows,
)
from keydesk.forms.details_form import Rows, StyledText
from keydesk.store.store import Store
from keydesk.store.trading_context import trading_context_of
from keydesk.text.format import duration, money, pips, units
from keydesk.text.sanitize import Printable, safe
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.arithmetic.margin import required_margin

WEEK_DAYS = 7
USUAL_SIZE = Decimal(10_000)  # where no preset has fixed units


class InstrumentPage(LivePage):
    """Price, terms, hours and costs of an instrument.

    Args:
        name: Of the instrument.
        store: The state of account and market.
        now: Monotonic seconds.
        preset: Units of the active size preset, None where it has none.
    """

    def __init__(
        self, name: str, store: Store, now: Callable[[], float], preset: Decimal | None
    ) -> None:
        self._instrument, self._store, self._now, self._preset = name, store, now, preset
        super().__init__("Instrument")

    def compute(self) -> Rows:
        """Return every figure with its unit."""
        return instrument_page_rows(self._instrument, self._store, self._now(), self._preset)


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
        *_hours_rows(known.type, name, store),
        ("spread", f"{pips((context.ask - context.bid) / rules.pip, signed=False)} pips"),
        ("one pip of 10,000", f"{money(one_pip * 10_000, 4)} {home}"),
        ("decimals", f"{rules.price_precision} in a price, {rules.units_precision} in the units"),
        ("margin in force", rate_text(rules.margin_rate)),
        _margin_row(context, preset),
        ("largest position", _or_none(rules.maximum_position)),
        ("trailing distance", f"{pips(least, signed=False)} to {pips(most, signed=False)} pips"),
        ("guaranteed stop", _guarantee_text(context)),
        *_financing_rows(context, preset),
        *_held_rows(context),
    ]
    return rows


def _margin_row(context: TradingContext, preset: Decimal | None) -> tuple[Printable, str]:
    """Return the margin of the preset's units."""
    size = preset or USUAL_SIZE
    margin = required_margin(size, context.rules.margin_rate, context.mid, context.factors.value)
    return safe(f"margin of {units(size)}"), f"{money(margin)} {context.funds.currency}"


def _hours_rows(kind: str, name: str, store: Store) -> Rows:
    """Return whether it is traded now, and when it is, in the trader's zone; of a currency pair only: others vary."""
    clock, quote = store.clock_ns, store.quotes.get(name)
    if not clock:
        return [("trading hours", "not known before the first price")]
    rows: Rows = []
    if quote is not None and not quote.tradeable:
        rows.append(("now", StyledText(safe(closed_text(clock)), "warn")))
    if kind != "CURRENCY":
        return [*rows, ("trading hours", "the broker does not say; those of its exchange")]
    week = week_at(clock)
    left = duration((next_day_start(clock) - clock) / SECOND)
    return [
        *rows,
        ("trading hours", week_text(clock, store.zone)),
        ("the week", safe(week.text(clock))),
        ("next rollover", f"in {left}, {DAY_END_TEXT}: financing is booked"),
    ]


def _or_none(limit: Decimal) -> str:
    return f"{units(limit)} units" if limit else "no limit"


def _guarantee_text(context: TradingContext) -> str:
    rules = context.rules
    if rules.guarantee == "DISABLED":
        return "not offered"
    distance_pips = pips(rules.guarantee_distance / rules.pip, signed=False)
    premium = pips(rules.guarantee_premium / rules.pip, signed=False)
    return f"{rules.guarantee.lower()}, {distance_pips} pips away at least, premium {premium} pips"


def _financing_rows(context: TradingContext, preset: Decimal | None) -> Rows:
    """Return the financing a day and a week of the preset's units, and the days that each weekday charges."""
    size = preset or USUAL_SIZE
    rows: Rows = []
    for word, signed in (("long", size), ("short", -size)):
        a_day = financing_of(context, signed, 1)
        a_week = financing_of(context, signed, sum(context.rules.financing_days) or WEEK_DAYS)
        if a_day is not None:
            text = f"{money(a_day, signed=True)} a day, {money(a_week, signed=True)} a week"
            rows.append((safe(f"{units(size)} {word}"), f"{text} {context.funds.currency}"))
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
