"""What is being replayed: where it began, whether it is blind, its shocks; kept as facts of the ledger.

So a restart, a checkpoint and a copy of the ledger go on in the same market.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal

from keydesk_practice.broker.disguise import Disguise
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.market.shocks import Shock

_REPLAY = "replay"
_SHOCKS = "shocks"


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay; `began` is its real time, in nanoseconds since 1970."""

    began: int
    scenario: str | None = None
    instrument: str | None = None  # of the scenario, or the drawn one
    blind: bool = False
    finished: bool = False
    factor: str = "1"
    delta: int = 0

    @property
    def disguise(self) -> Disguise | None:
        """The disguise of a blind replay."""
        if not self.blind or self.instrument is None:
            return None
        return Disguise(self.instrument, Decimal(self.factor), self.delta)


def load_replay(ledger: LedgerInterface) -> Replay | None:
    """Return the replay that a ledger belongs to, None for a market that was started plainly."""
    stored = ledger.fact(_REPLAY)
    return None if stored is None else Replay(**json.loads(stored))


def save_replay(ledger: LedgerInterface, replay: Replay) -> None:
    """Store the replay in its ledger."""
    ledger.set_fact(_REPLAY, json.dumps(asdict(replay)))


def finished(replay: Replay) -> Replay:
    """Return the replay with its instrument and dates revealed."""
    return replace(replay, finished=True)


def load_shocks(ledger: LedgerInterface) -> tuple[Shock, ...]:
    """Return the shocks of a ledger's market."""
    stored = json.loads(ledger.fact(_SHOCKS) or "[]")
    return tuple(Shock(**{**one, "instruments": tuple(one["instruments"])}) for one in stored)


def save_shocks(ledger: LedgerInterface, shocks: Sequence[Shock]) -> None:
    """Store the shocks in the ledger, so that its prices stay what they were."""
    ledger.set_fact(_SHOCKS, json.dumps([asdict(one) for one in shocks]))


def stored_overlay(ledger: LedgerInterface) -> tuple[tuple[Shock, ...], Disguise | None]:
    """Return the shocks and the disguise of a ledger's market."""
    replay = load_replay(ledger)
    return load_shocks(ledger), None if replay is None else replay.disguise
