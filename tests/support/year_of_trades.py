"""A year of trading as events of the trade journal: fixed by its seed, with stops, targets and closes by hand."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from msgspec.structs import replace

from keydesk.calc.trade_journal.events import ClosedPart, Event, Fill, Opening, StopSet, Transfer
from keydesk.calc.trade_journal.notes import TradeNote

D = Decimal
SECOND = 1_000_000_000
CENT = D("0.01")
PRICES = {"EUR_USD": "1.08430", "GBP_USD": "1.27150", "USD_JPY": "148.250", "AUD_USD": "0.65520"}
SETUPS = ("breakout", "pullback", "range", "")
MISTAKES = ("", "", "", "entered late", "moved the stop")
LAST_DAY = datetime(2026, 2, 27, tzinfo=UTC)


def events_of_days(
    days: int = 260, trades_a_day: int = 20, seed: int = 7, last: datetime = LAST_DAY
) -> Iterator[Event]:
    """Yield a deposit, then the trades of so many weekdays up to the last one, oldest first."""
    rng = random.Random(seed)
    dates = [last - timedelta(days=back) for back in range(days * 2)]
    dates = [each for each in dates if each.weekday() < 5][:days][::-1]
    balance, number = D("10000.00"), 1
    yield Transfer("1", int(dates[0].timestamp()) * SECOND, balance, balance)
    for day in dates:
        starts = sorted(rng.uniform(6.5, 19.0) for _ in range(trades_a_day))
        for hour in starts:
            opened = int((day + timedelta(hours=hour)).timestamp()) * SECOND
            events = list(_trade(rng, number, opened, balance))
            number += 5
            yield from events
            balance = events[-1].balance if isinstance(events[-1], Fill) else balance


def notes_of_days(days: int = 260, trades_a_day: int = 20, seed: int = 8) -> dict[str, TradeNote]:
    """Return notes on about a third of those trades."""
    rng = random.Random(seed)
    notes = {}
    for place in range(days * trades_a_day):
        if rng.random() < 1 / 3:
            setup, mistake = rng.choice(SETUPS), rng.choice(MISTAKES)
            tags = ("news",) if rng.random() < 1 / 4 else ()
            notes[str(place * 5 + 3)] = TradeNote(tags, setup, "", rng.randint(1, 5), mistake)
    return notes


def _trade(rng: random.Random, number: int, opened: int, balance: Decimal) -> Iterator[Event]:
    """Yield the fill, the stop and the closing fill of one trade."""
    name = rng.choice(list(PRICES))
    price, sign = D(PRICES[name]), rng.choice((1, -1))
    step = D(1).scaleb(int(price.as_tuple().exponent))
    units = D(rng.choice((2000, 5000, 10_000, 20_000))) * sign
    factor = D(1) / price if name == "USD_JPY" else D(1)
    distance = step * rng.randint(80, 220)
    hold = int(rng.expovariate(1 / 2400)) + 20
    r = rng.choice((-1.0, -1.0, -1.0, rng.uniform(-0.9, 0.4), rng.uniform(0.2, 1.9), 2.0, 1.0))
    reason = {-1.0: "STOP_LOSS_ORDER", 2.0: "TAKE_PROFIT_ORDER"}.get(r, "MARKET_ORDER_TRADE_CLOSE")
    move = (D(str(round(r, 3))) * distance).quantize(step)
    left = price + move * sign
    profit = (move * abs(units) * factor).quantize(CENT)
    trade = str(number + 2)
    whole = Fill(
        id=trade,
        time_ns=opened,
        order_id=str(number + 1),
        instrument=name,
        units=units,
        price=price,
        reason="MARKET_ORDER",
        profit=D(0),
        financing=D(0),
        commission=D(0),
        guarantee_fee=D(0),
        balance=balance,
        opening=Opening(trade, units, price, half_spread=D("0.35")),
        loss_factor=factor,
    )
    yield whole
    yield StopSet(str(number + 3), opened, trade, price - distance * sign)
    yield replace(
        whole,
        id=str(number + 4),
        time_ns=opened + hold * SECOND,
        order_id=str(number + 3),
        units=-units,
        price=left,
        reason=reason,
        profit=profit,
        balance=balance + profit,
        opening=None,
        parts=(ClosedPart(trade, -units, left, profit, half_spread=D("0.35")),),
    )
