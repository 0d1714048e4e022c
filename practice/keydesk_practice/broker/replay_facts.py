"""Replays: what is being replayed, kept as facts of the ledger, and where one may begin: named scenarios, drawn starts.

With the facts (its start, whether it is blind, its shocks), a restart, a checkpoint and a copy of the ledger go on in the
same market.
"""

import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import asdict, replace

from keydesk_practice.broker.anonymizer import Anonymizer
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.market.shocks import Shock
from keydesk_practice.options import nanoseconds

_REPLAY = "replay"
_SHOCKS = "shocks"
_LONDON_MORNING = 7
_FIRST_YEAR = 2000
_DAYS_LEFT = 60  # of published rates, after a drawn start
_FRIDAY = 4
DRAWN_INSTRUMENTS = (
    "AUD_USD", "EUR_CHF", "EUR_GBP", "EUR_JPY", "EUR_USD", "GBP_JPY", "GBP_USD", "NZD_USD",
    "USD_CAD", "USD_CHF", "USD_JPY",
)  # fmt: skip


class Replay(Struct, frozen=True):
    """One replay; `began` is its real time, in nanoseconds since 1970."""

    began: int
    scenario: str | None = None
    instrument: str | None = None  # of the scenario, or the drawn one
    blind: bool = False
    finished: bool = False
    factor: str = "1"
    delta: int = 0

    @property
    def anonymizer(self) -> Anonymizer | None:
        """The anonymizer of a blind replay."""
        if not self.blind or self.instrument is None:
            return None
        return Anonymizer(self.instrument, Decimal(self.factor), self.delta)


def load_replay(ledger: LedgerInterface) -> Replay | None:
    """Return the replay that a ledger belongs to, None for a market that was started plainly."""
    return _replay(ledger.fact(_REPLAY))


def replay_of(facts: Mapping[str, str]) -> Replay | None:
    """Return the replay that the facts of a ledger name, if any."""
    return _replay(facts.get(_REPLAY))


def _replay(stored: str | None) -> Replay | None:
    return None if stored is None else Replay(**json.loads(stored))


def save_replay(ledger: LedgerInterface, replay: Replay) -> None:
    """Store the replay in its ledger."""
    ledger.set_fact(_REPLAY, json.dumps(asdict(replay)))


def revealed(replay: Replay) -> Replay:
    """Return the replay with its instrument and dates revealed."""
    return replace(replay, finished=True)


def load_shocks(ledger: LedgerInterface) -> tuple[Shock, ...]:
    """Return the shocks of a ledger's market."""
    stored = json.loads(ledger.fact(_SHOCKS) or "[]")
    return tuple(Shock(**{**one, "instruments": tuple(one["instruments"])}) for one in stored)


def save_shocks(ledger: LedgerInterface, shocks: Sequence[Shock]) -> None:
    """Store the shocks in the ledger, so that its prices stay what they were."""
    ledger.set_fact(_SHOCKS, json.dumps([asdict(one) for one in shocks]))


def stored_overlay(ledger: LedgerInterface) -> tuple[tuple[Shock, ...], Anonymizer | None]:
    """Return the shocks and the anonymizer of a ledger's market."""
    replay = load_replay(ledger)
    return load_shocks(ledger), None if replay is None else replay.anonymizer


class Scenario(Struct, frozen=True):
    """A named start of a replay; `facts` are shown when it is chosen.

    `range_pips` is about the highest less the lowest price of its instrument in the `days` from the start.
    """

    name: str
    start: datetime
    instrument: str
    facts: str
    days: int
    range_pips: int


SCENARIOS = {
    one.name: one
    for one in (
        Scenario(
            "franc",
            datetime(2015, 1, 15, 9, 0, tzinfo=UTC),
            "EUR_CHF",
            "Swiss floor given up at 09:30 UTC",
            1,
            3500,
        ),
        Scenario(
            "brexit",
            datetime(2016, 6, 23, 20, 0, tzinfo=UTC),
            "GBP_USD",
            "Votes on leaving the EU are counted",
            1,
            1800,
        ),
        Scenario(
            "yen-2022",
            datetime(2022, 9, 22, 5, 0, tzinfo=UTC),
            "USD_JPY",
            "Japan buys yen, first since 1998",
            1,
            270,
        ),
        Scenario(
            "quiet-august",
            datetime(2021, 8, 2, 6, 0, tzinfo=UTC),
            "EUR_USD",
            "A third of the usual movement",
            31,
            260,
        ),
        Scenario(
            "trending-quarter",
            datetime(2014, 7, 1, 6, 0, tzinfo=UTC),
            "EUR_USD",
            "One direction for three months",
            92,
            1150,
        ),
    )
}


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
