"""The few days whose jump has a known instant, with the sources for that instant.

Each entry names the market day (the calendar day of the fixing before the event), the currency, and at which instants which
share of its jump happened. All other jumps of that market day, of whatever currency, happen at the same instants.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime


@dataclass(frozen=True, slots=True)
class FamousDay:
    """A market day on which a currency jumped at known instants."""

    fixing_before: date
    currency: str
    steps: tuple[tuple[datetime, float], ...]  # instant, share of the jump
    what: str
    source: str


FAMOUS_DAYS = (
    FamousDay(
        date(2011, 9, 5),
        "CHF",
        ((datetime(2011, 9, 6, 8, 0, tzinfo=UTC), 1.0),),
        "The Swiss National Bank sets a floor of 1.20 francs per euro (10:00 in Zurich)",
        "SNB press release, 6 September 2011: 'Swiss National Bank sets minimum exchange rate'",
    ),
    FamousDay(
        date(2015, 1, 14),
        "CHF",
        ((datetime(2015, 1, 15, 9, 30, tzinfo=UTC), 1.0),),
        "The Swiss National Bank gives up the floor of 1.20 (10:30 in Zurich)",
        "SNB press release, 15 January 2015: 'Swiss National Bank discontinues minimum exchange rate'",
    ),
    FamousDay(
        date(2015, 8, 10),
        "CNY",
        ((datetime(2015, 8, 11, 1, 15, tzinfo=UTC), 1.0),),
        "The People's Bank of China sets the yuan's midpoint 1.9 % lower (9:15 in Beijing)",
        "PBC announcement on the central parity, 11 August 2015; Reuters and Xinhua of that morning",
    ),
    FamousDay(
        date(2016, 6, 23),
        "GBP",
        (
            (datetime(2016, 6, 23, 23, 20, tzinfo=UTC), 0.35),
            (datetime(2016, 6, 24, 3, 40, tzinfo=UTC), 0.65),
        ),
        "Britain votes to leave: Sunderland declares at 00:20, the BBC calls the result at 04:40 British time",
        "The Guardian's and the Yorkshire Post's timelines of the night of 23 June 2016",
    ),
)
