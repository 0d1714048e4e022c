"""Events of the past whose minutes are known: the instants of jumps, and the extremes between two fixings.

A fixing is one price a day. What happened in between is drawn, except here: at the given instants the path passes the given
levels of a pair, and in between it is bridged as elsewhere. A crash that was over before the next fixing is in no reference
rate; without its levels it would not be in the path either.

Levels are those that news agencies and central banks reported. Where they gave no minute, it is a plausible one.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import log
from types import MappingProxyType

from msgspec import Struct

from keydesk_practice.market.hours import market_day_of, seconds_of


class KnownEvent(Struct, frozen=True):
    """A market day on which a currency moved at known instants.

    Every other jump of that market day, of any currency, happens at the instants of `steps`.
    """

    currency: str
    steps: tuple[tuple[datetime, float], ...]  # instant, share of the jump
    event: str
    source: str
    pair: str = ""  # in which the levels are given; the currency is one of its sides
    levels: tuple[tuple[datetime, float], ...] = ()

    @property
    def day(self) -> int:
        """Return the market day: the calendar day of the fixing before the first instant."""
        return market_day_of(seconds_of(self.steps[0][0]) // 5)

    @property
    def excursion(self) -> float:
        """Return the log distance between the highest and the lowest level."""
        prices = [price for _, price in self.levels] or [1.0]
        return log(max(prices) / min(prices))


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _levels(day: str, text: str) -> tuple[tuple[datetime, float], ...]:
    words = text.split()
    return tuple(
        (_utc(f"{day}T{at}"), float(price))
        for at, price in zip(words[::2], words[1::2], strict=True)
    )


KNOWN_EVENTS = (
    KnownEvent(
        "JPY",
        ((_utc("2011-03-16T21:20"), 1.0),),
        "The yen rises to a record after the earthquake, in the minutes between New York and Tokyo",
        "Reuters and Bank of Japan, 17 March 2011: dollar at 76.25 yen",
        "USD_JPY",
        _levels("2011-03-16", "20:50:00 79.60 21:18:00 79.00 21:22:00 76.25 21:50:00 79.00"),
    ),
    KnownEvent(
        "CHF",
        ((_utc("2011-09-06T08:00"), 1.0),),
        "The Swiss National Bank sets a floor of 1.20 francs per euro (10:00 in Zurich)",
        "SNB press release, 6 September 2011: 'Swiss National Bank sets minimum exchange rate'",
    ),
    KnownEvent(
        "CHF",
        ((_utc("2015-01-15T09:30"), 1.0),),
        "The Swiss National Bank gives up the floor of 1.20 (10:30 in Zurich); the low is over within 20 minutes",
        "SNB press release, 15 January 2015; Bloomberg and brokers of that morning: low 0.8517, later near 1.03",
        "EUR_CHF",
        _levels("2015-01-15", "09:29:55 1.2009 09:33:00 0.9800 09:36:00 0.8517 09:50:00 1.0300"),
    ),
    KnownEvent(
        "CNY",
        ((_utc("2015-08-11T01:15"), 1.0),),
        "The People's Bank of China sets the yuan's midpoint 1.9 % lower (9:15 in Beijing)",
        "PBC announcement on the central parity, 11 August 2015; Reuters and Xinhua of that morning",
    ),
    KnownEvent(
        "JPY",
        ((_utc("2015-08-24T13:05"), 1.0),),
        "Shares fall around the world, and the dollar with them at the opening of New York",
        "Reuters, 24 August 2015: dollar as low as 116.15 yen",
        "USD_JPY",
        _levels("2015-08-24", "12:50:00 119.60 13:05:00 118.60 13:10:00 116.15 13:30:00 118.20"),
    ),
    KnownEvent(
        "GBP",
        ((_utc("2016-06-23T23:20"), 0.35), (_utc("2016-06-24T03:40"), 0.65)),
        "Britain votes to leave: Sunderland declares at 00:20, the BBC calls the result at 04:40 British time",
        "The Guardian's and the Yorkshire Post's timelines of the night; Reuters: from 1.5018 to 1.3228",
        "GBP_USD",
        (
            *_levels("2016-06-23", "21:40:00 1.5018 23:19:55 1.4830"),
            *_levels("2016-06-24", "03:39:55 1.4080 04:20:00 1.3228"),
        ),
    ),
    KnownEvent(
        "GBP",
        ((_utc("2016-10-06T23:07:15"), 1.0),),
        "Sterling falls by 9 % within two minutes at the beginning of the Asian day and recovers most of it",
        "BIS Markets Committee Papers 9, 'The sterling flash event of 7 October 2016'; Bloomberg: low 1.1841",
        "GBP_USD",
        _levels(
            "2016-10-06",
            "23:06:55 1.2605 23:07:10 1.2500 23:08:00 1.2110 23:09:00 1.1841 23:11:00 1.2090 23:17:00 1.2380",
        ),
    ),
    KnownEvent(
        "JPY",
        ((_utc("2019-01-02T22:36"), 1.0),),
        "The yen rises by 3 % within 30 seconds while Tokyo is on holiday",
        "Reserve Bank of Australia, Statement on Monetary Policy, February 2019, box B; Reuters and Bloomberg",
        "USD_JPY",
        _levels("2019-01-02", "22:30:00 108.45 22:35:55 107.90 22:36:30 104.87 22:45:00 107.30"),
    ),
    KnownEvent(
        "AUD",
        ((_utc("2019-01-02T22:36"), 1.0),),
        "The Australian dollar falls with it",
        "Reuters, 3 January 2019: low 0.6715, a little later 0.6888",
        "AUD_USD",
        _levels("2019-01-02", "22:30:00 0.6970 22:35:55 0.6940 22:36:30 0.6715 22:45:00 0.6890"),
    ),
    KnownEvent(
        "GBP",
        ((_utc("2022-09-26T00:30"), 1.0),),
        "Sterling falls to a record low in early Asian trading, after the budget of the Friday before",
        "Reuters, 26 September 2022: low 1.0327",
        "GBP_USD",
        _levels("2022-09-25", "23:50:00 1.0770")
        + _levels("2022-09-26", "00:25:00 1.0600 00:37:00 1.0327 01:10:00 1.0580"),
    ),
    KnownEvent(
        "JPY",
        ((_utc("2022-10-21T14:36"), 1.0),),
        "Japan buys yen at 152 per dollar",
        "Ministry of Finance, intervention figures of October to December 2022; Reuters: from 151.94 to 146.2",
        "USD_JPY",
        _levels("2022-10-21", "14:30:00 151.94 14:36:00 151.50 14:50:00 149.00 15:45:00 146.20"),
    ),
)


def events_on(day: int) -> Sequence[KnownEvent]:
    """Return the known events of a market day."""
    return _events_by_day().get(day, ())


def days_of(currency: str) -> list[int]:
    """Return the market days on which a currency moved at known instants."""
    return [one.day for one in KNOWN_EVENTS if one.currency == currency]


@cache
def _events_by_day() -> Mapping[int, Sequence[KnownEvent]]:
    by_day: dict[int, list[KnownEvent]] = {}
    for one in KNOWN_EVENTS:
        by_day.setdefault(one.day, []).append(one)
    return MappingProxyType(by_day)
