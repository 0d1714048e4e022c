"""Where a replay may begin: named scenarios, and a start drawn at random."""

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_LONDON_MORNING = 7
_FIRST_YEAR = 2000
_DAYS_LEFT = 60  # of published rates, after a drawn start
_FRIDAY = 4
DRAWN_INSTRUMENTS = (
    "AUD_USD", "EUR_CHF", "EUR_GBP", "EUR_JPY", "EUR_USD", "GBP_JPY", "GBP_USD", "NZD_USD",
    "USD_CAD", "USD_CHF", "USD_JPY",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named start of a replay; `facts` are shown when it is chosen."""

    name: str
    start: datetime
    instrument: str
    facts: str


SCENARIOS = {
    one.name: one
    for one in (
        Scenario(
            "franc",
            datetime(2015, 1, 15, 9, 0, tzinfo=UTC),
            "EUR_CHF",
            "The Swiss National Bank gives up its floor at 09:30 UTC",
        ),
        Scenario(
            "brexit",
            datetime(2016, 6, 23, 20, 0, tzinfo=UTC),
            "GBP_USD",
            "The night in which the votes of the referendum are counted",
        ),
        Scenario(
            "yen-2022",
            datetime(2022, 9, 22, 5, 0, tzinfo=UTC),
            "USD_JPY",
            "Japan buys yen for the first time since 1998",
        ),
        Scenario(
            "quiet-august",
            datetime(2021, 8, 2, 6, 0, tzinfo=UTC),
            "EUR_USD",
            "A month with a third of the usual movement",
        ),
        Scenario(
            "trending-quarter",
            datetime(2014, 7, 1, 6, 0, tzinfo=UTC),
            "EUR_USD",
            "Euro and dollar in one direction for three months",
        ),
    )
}


def nanoseconds(moment: datetime) -> int:
    """Return the nanoseconds since 1970 of an aware datetime."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000


def random_start(draw: random.Random, last_day: int) -> tuple[int, str]:
    """Return a weekday's London morning with published rates for a while after it, and an instrument.

    `last_day` is the last day with a published rate, in days since 1970.
    """
    first = date(_FIRST_YEAR, 1, 3)
    last = date(1970, 1, 1) + timedelta(days=last_day - _DAYS_LEFT)
    while True:
        day = first + timedelta(days=draw.randrange((last - first).days))
        if day.weekday() <= _FRIDAY:
            moment = datetime(day.year, day.month, day.day, _LONDON_MORNING, tzinfo=UTC)
            return nanoseconds(moment), draw.choice(DRAWN_INSTRUMENTS)
