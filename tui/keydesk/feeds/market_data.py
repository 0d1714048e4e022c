"""Read instruments, candles and trading days. Prices and the account never wait for these requests."""

from collections.abc import Iterator, Sequence
from functools import partial

from keydesk.feeds.history import load_older, load_past
from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.feeds.streams import watched_instruments
from keydesk.store.candles import (
    close_series,
    loading_failed,
    open_series,
    show_prices,
    take_candles,
    take_day,
)
from keydesk.store.state import CandleSeries, Topic
from keydesk.store.watchlists import fill_list, in_usual_order
from keydesk.text.sanitize import NAME_LIMIT, clean_name
from keydesk_client.account.values import amount, price, readable, try_to
from keydesk_client.errors import Answered
from keydesk_client.models import (
    Candlestick,
    CandlestickResponse,
    Instrument,
    granularity_of,
)

COUNT = 400
OVERLAP = 3  # candles asked for again when one is complete: ours were made of the prices we saw
AT_ONCE = 10
BETWEEN = 0.15
DAYS_EVERY = 60.0  # new instruments, a new day, what ticks did not show us
MOST_PLACES = 12
INSTRUMENTS_EVERY = 600.0  # seconds


async def keep_chart(link: Link, place: int = 1) -> None:
    """Load the candles of a chart while it is shown; place 1 is the desk's own."""
    await link.listed.wait()
    shown: CandleSeries | None = None
    with link.store.subscribed(Topic.FOCUS, Topic.CANDLES) as changed:
        while True:
            changed.clear()
            shown = await load_candles(link, shown, *link.store.chart_at(place))
            if not _needs_candles(link, shown, *link.store.chart_at(place)):
                await changed.wait()


def _needs_candles(
    link: Link, shown: CandleSeries | None, instrument: str, granularity: str
) -> bool:
    """Return whether `load_candles` has something to do."""
    if not instrument:
        return False
    if shown is None or not granularity:
        return shown is not None or bool(granularity)
    if _is_another(link, shown, instrument, granularity):
        return True
    if shown.wants_reload or shown.rolled_over > 0 or shown.prices != link.store.candle_prices:
        return True
    return shown.wants_older or (shown.past is not None and bool(shown.past.wants))


async def load_candles(
    link: Link, shown: CandleSeries | None, instrument: str, granularity: str
) -> CandleSeries | None:
    """Load the candles of a chart's new series, or the missing ones of its present series; return the series shown."""
    store = link.store
    if not instrument:
        return shown
    if not granularity:  # the chart went from the screen
        _close_series(link, shown)
        return None
    if shown is None or _is_another(link, shown, instrument, granularity):
        _close_series(link, shown)
        shown = open_series(store, instrument, granularity)
        await load(link, shown, COUNT)
    elif shown.wants_reload or shown.prices != store.candle_prices:
        await load(link, shown, COUNT)
    elif shown.rolled_over:
        await load(link, shown, OVERLAP + shown.rolled_over)
    elif shown.wants_older:
        await load_older(link, shown)
    elif shown.past is not None and shown.past.wants:
        await load_past(link, shown, shown.past)
    return shown


def _is_another(link: Link, shown: CandleSeries, instrument: str, granularity: str) -> bool:
    """Return whether a chart needs another series: it shows something else, or the series was dropped."""
    key = instrument, granularity
    return (shown.instrument, shown.granularity) != key or link.store.series.get(key) is not shown


def _close_series(link: Link, series: CandleSeries | None) -> None:
    """Close a series that no chart shows."""
    if series is not None and not _on_a_chart(link, series):
        close_series(link.store, series.instrument, series.granularity)


def _on_a_chart(link: Link, series: CandleSeries) -> bool:
    store = link.store
    charts = (store.chart_at(place) for place in (1, *store.side_charts))
    return (series.instrument, series.granularity) in charts


async def load(link: Link, series: CandleSeries, count: int) -> bool:
    """Load the newest candles of a series; return False if there was no answer."""
    rolled, series.wants_reload = series.rolled_over, False
    prices = link.store.candle_prices
    try:
        answer = await link.ask(
            link.client.candles.get(
                series.instrument,
                granularity=granularity_of(series.granularity),
                price=prices,
                count=count,
            )
        )
        if prices != series.prices:
            show_prices(series, prices)
        take_candles(link.store, series, answer.candles)
    except FAILURES as error:
        _candles_failed(link, series, error)
        series.wants_reload = True
        await link.back_off(3)
        return False
    series.rolled_over = max(0, series.rolled_over - rolled)
    return True


def _candles_failed(link: Link, series: CandleSeries, error: Exception) -> None:
    link.count_unreadable(error)
    loading_failed(link.store, series, reason(error))


async def keep_days(link: Link) -> None:
    """Read the trading days of watched instruments, and again every minute or when others are watched."""
    await link.priced.wait()
    with link.store.subscribed(Topic.INSTRUMENTS) as changed:
        while True:
            changed.clear()
            for names in _portions(watched_instruments(link)):
                await days_once(link, names)
                await link.pause(BETWEEN)
            await link.wait(changed, DAYS_EVERY)


async def days_once(link: Link, names: Sequence[str]) -> bool:
    """Read the trading days of some instruments; return False if there was no answer."""
    try:
        await _latest(link, names)
    except Answered:  # a service without that operation
        return await _one_by_one(link, names)
    except FAILURES as error:
        link.count_unreadable(error)
        return False
    return True


async def _latest(link: Link, names: Sequence[str]) -> None:
    wanted = [f"{name}:D:M" for name in names]
    answer = await link.ask(link.client.candles.latest(wanted))
    for each in answer.latest_candles:
        try_to(link.store, partial(_take_latest, link, each, names))


async def _one_by_one(link: Link, names: Sequence[str]) -> bool:
    for name in names:
        try:
            answer = await link.ask(
                link.client.candles.get(name, granularity="D", price="M", count=2)
            )
            _take_day(link, name, answer.candles)
        except FAILURES as error:
            link.count_unreadable(error)
            return False
        await link.pause(BETWEEN)
    return True


def _take_latest(link: Link, latest: CandlestickResponse, names: Sequence[str]) -> None:
    if latest.instrument not in names:
        raise ValueError("candles of an instrument that was not asked for")
    _take_day(link, latest.instrument, latest.candles)


def _take_day(link: Link, name: str, candles: Sequence[Candlestick]) -> None:
    if len(candles) > 1:
        take_day(link.store, name, candles[-2], candles[-1])


def _portions(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), AT_ONCE):
        yield names[start : start + AT_ONCE]


async def list_instruments(link: Link) -> None:
    """Read the instruments; retry until it succeeds."""
    tries = 0
    while True:
        try:
            answer = await link.ask(link.client.accounts.instruments())
            if take(link, answer.instruments):
                return
        except FAILURES as error:
            link.count_unreadable(error)
            if tries == 0:
                link.write(f"The instruments could not be read: {reason(error)}")
        await link.back_off(tries)
        tries += 1


async def keep_instruments(link: Link) -> None:
    """Read the instruments every ten minutes: margin rates change, and instruments come and go."""
    await link.listed.wait()
    while True:
        await link.pause(INSTRUMENTS_EVERY)
        try:
            answer = await link.ask(link.client.accounts.instruments())
            take(link, answer.instruments)
        except FAILURES as error:
            link.count_unreadable(error)


def take(link: Link, instruments: Sequence[Instrument]) -> bool:
    """Store the instruments, and the watchlist and focus if there are none yet; return False to read again.

    Those that cannot be read are left out; one that was read before stays as it was.
    """
    store = link.store
    read = {each.name: each for each in readable(store, _usable, instruments)}
    if not read:
        return False
    is_whole = len(read) == len(instruments)
    needed = {name for name in store.instruments if name in store.positions or name == store.focus}
    kept = needed if is_whole else store.instruments.keys()
    before = store.instruments.keys()
    store.instruments = {name: store.instruments[name] for name in kept} | read
    if not store.watchlist or store.instruments.keys() != before:
        fill_list(store)
    if store.focus not in store.instruments:
        store.set_focus((store.watchlist or in_usual_order(store.instruments))[0])
    store.mark(Topic.INSTRUMENTS)
    link.listed.set()
    return is_whole


def _usable(instrument: Instrument) -> Instrument:
    """Return the instrument if every member that the desk computes with is present and of sane size."""
    if not _can_be_asked_for(instrument.name):
        raise ValueError(f"{clean_name(instrument.name)} is not a usable instrument name")
    for places in (
        instrument.pip_location,
        instrument.display_precision,
        instrument.trade_units_precision,
    ):
        if abs(places) > MOST_PLACES:
            raise ValueError(f"{instrument.name}: {places} is not a number of decimal places")
    price(instrument.margin_rate)
    for size in (
        instrument.minimum_trade_size,
        instrument.maximum_order_units,
        instrument.maximum_position_size,
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    ):
        amount(size)
    return instrument


def _can_be_asked_for(name: str) -> bool:
    """Return whether prices can be requested by the name; an invalid name fails the whole request."""
    return 0 < len(name) <= NAME_LIMIT and name.isascii() and name.isprintable() and "," not in name
