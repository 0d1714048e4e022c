"""The trading day of every instrument watched: where it closed before, its high and low since.

Spread out in small requests after the first prices: nobody waits for these, everybody for those.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from keydesk.feeds.link import FAILURES, Link
from keydesk.feeds.prices import watched
from keydesk.store.candles import take_day
from keydesk.store.unreadable import try_to
from keydesk_client.errors import Answered
from keydesk_client.models import Candlestick, CandlestickResponse

AT_ONCE = 10
BETWEEN = 0.15
DAYS_EVERY = 60.0  # new instruments, a new day, what ticks did not show us


async def keep_days(link: Link) -> None:
    """Read the days of what is watched, and again every minute."""
    await link.priced.wait()
    while True:
        for names in _portions(watched(link)):
            await days_once(link, names)
            await link.pause(BETWEEN)
        await link.pause(DAYS_EVERY)


async def days_once(link: Link, names: Sequence[str]) -> bool:
    """Read the days of a few instruments; False when there was no answer."""
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
            _take(link, name, answer.candles)
        except FAILURES as error:
            link.count_unreadable(error)
            return False
        await link.pause(BETWEEN)
    return True


def _take_latest(link: Link, latest: CandlestickResponse, names: Sequence[str]) -> None:
    if latest.instrument not in names:
        raise ValueError("candles of an instrument that was not asked for")
    _take(link, latest.instrument, latest.candles)


def _take(link: Link, name: str, candles: Sequence[Candlestick]) -> None:
    if len(candles) > 1:
        take_day(link.store, name, candles[-2], candles[-1])


def _portions(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), AT_ONCE):
        yield names[start : start + AT_ONCE]
