"""`keydesk prices` and `keydesk candles`: the market as lines or as JSON."""

import asyncio
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.arguments.reading import COUNT
from keydesk.cli.broker_records import PriceRecord, as_sent
from keydesk.cli.option_values import instrument_of, read_period
from keydesk.cli.script_output import (
    AccountDocument,
    Amount,
    Instant,
    UsageError,
    print_document,
    refusal_of,
)
from keydesk.terminal.output import print_lines
from keydesk.text.format import date_and_time, pair
from keydesk.text.sanitize import SafeText, safe
from keydesk_client.errors import NotFound, Refused
from keydesk_client.models import ClientPrice, DateTime
from keydesk_client.models.pricing import Candlestick, CandlestickData

SIDES = {"M": "mid", "B": "bid", "A": "ask"}


class PricesDocument(AccountDocument, frozen=True, tag="prices"):
    """`keydesk prices --json`."""

    time: Instant
    prices: list[PriceRecord]


class Bar(Struct, frozen=True):
    """Open, high, low, close."""

    o: Amount
    h: Amount
    l: Amount  # noqa: E741 - as on the wire
    c: Amount


class Candle(Struct, frozen=True, omit_defaults=True):
    """A candle, named by its beginning."""

    time: Instant
    volume: int
    complete: bool
    mid: Bar | None = None
    bid: Bar | None = None
    ask: Bar | None = None


class CandlesDocument(AccountDocument, frozen=True, tag="candles"):
    """`keydesk candles --json`, oldest first."""

    instrument: str
    granularity: str
    candles: list[Candle]


def prices(options: Namespace) -> int:
    """Print prices; return the exit code."""
    return asyncio.run(_prices(options))


async def _prices(options: Namespace) -> int:
    async with open_account(options) as account:
        names = [await instrument_of(account, each) for each in options.instruments]
        try:
            answer = await account.client.pricing.get(names)
        except (NotFound, Refused) as error:
            raise refusal_of(error, f"no prices of {', '.join(names)}", "invalid") from error
        if options.json:
            prices = as_sent(PriceRecord, answer.prices)
            time = str(answer.time)
            print_document(PricesDocument(**account.head, time=time, prices=prices))
        else:
            print_lines(*(price_line(each, account) for each in answer.prices))
    return 0


def price_line(price: ClientPrice, account: OpenAccount) -> SafeText:
    """Return a price as a line: best bid and ask, its time, and whether it can be traded."""
    bid = price.bids[0].price if price.bids else "–"
    ask = price.asks[0].price if price.asks else "–"
    time = "" if price.time is None else date_and_time(price.time.ns, account.zone)
    closed = "" if price.tradeable is not False else "  not tradeable"
    return safe(f"{pair(price.instrument or '')}  {bid} / {ask}  {time}{closed}")


def candles(options: Namespace) -> int:
    """Print candles, oldest first; return the exit code."""
    read_period(options)
    if options.to is not None and options.from_ is None:
        raise UsageError("--to goes with --from; for the last candles use --count")
    if options.count is not None and options.to is not None:
        raise UsageError("--count goes with --from or alone, not with --to")
    if options.units is not None and "M" in options.price:
        raise UsageError("--units goes with --price B, A or BA: the mid price is of no size")
    return asyncio.run(_candles(options))


async def _candles(options: Namespace) -> int:
    async with open_account(options) as account:
        options.instrument = await instrument_of(account, options.instrument)
        found = await read_candles(account, options)
        if options.json:
            document = CandlesDocument(
                **account.head,
                instrument=options.instrument,
                granularity=options.granularity,
                candles=[_shown(each) for each in found],
            )
            print_document(document)
        else:
            print_lines(*(candle_line(each, account, options.price) for each in found))
    return 0


async def read_candles(account: OpenAccount, options: Namespace) -> Sequence[Candlestick]:
    """Return the candles that the options choose; raise Refusal if the broker gives none."""
    candles = account.client.candles
    get = partial(
        candles.get
        if options.units is None
        else partial(candles.get_for_account, units=options.units),
        options.instrument,
        granularity=options.granularity,
        price=options.price,
    )
    try:
        if options.from_ is None:
            answer = await get(count=options.count or COUNT)
        elif options.count:
            answer = await get(from_=options.from_, count=options.count)
        else:
            answer = await get(from_=options.from_, to=options.to or DateTime.now())
    except (NotFound, Refused) as error:
        raise refusal_of(error, f"no candles of {options.instrument}", "invalid") from error
    return answer.candles


def _shown(candle: Candlestick) -> Candle:
    bars = [_bar(getattr(candle, name)) for name in SIDES.values()]
    return Candle(str(candle.time), candle.volume, candle.complete, *bars)


def _bar(bar: CandlestickData | None) -> Bar | None:
    return None if bar is None else Bar(str(bar.o), str(bar.h), str(bar.l), str(bar.c))


def candle_line(candle: Candlestick, account: OpenAccount, prices: str) -> SafeText:
    """Return the line of a candle: time, open, high, low and close of each price, volume."""
    bars = [_bar_text(letter, getattr(candle, SIDES[letter])) for letter in prices]
    forming = "" if candle.complete else "  forming"
    time = date_and_time(candle.time.ns, account.zone)
    return safe(f"{time}  {'  '.join(bars)}  {candle.volume}{forming}")


def _bar_text(letter: str, bar: CandlestickData | None) -> str:
    return f"{letter} –" if bar is None else f"{letter} {bar.o} {bar.h} {bar.l} {bar.c}"
