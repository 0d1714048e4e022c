"""The settings of a worker at its start, and the state that supervisor and workers exchange later."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from keydesk_practice.cluster.peers import UNIX
from keydesk_practice.control.records import State
from keydesk_practice.http.faults import NO_FAULTS, FaultProfile
from keydesk_practice.ledger.placement import worker_of
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.options import Options

SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True, repr=False)
class WorkerSettings:
    """One worker among several; holds tokens and a secret."""

    number: int  # from 0
    workers: int
    sockets: Path  # the folder of the inner sockets
    secret: str
    control_token: str
    options: Options

    def belongs_here(self, account: str) -> bool:
        """Return whether an account is this worker's."""
        return worker_of(account, self.workers) == self.number

    def to_json(self) -> str:
        """Return the settings as one line of JSON."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> "WorkerSettings":
        """Return the settings of a line of JSON."""
        members: dict[str, Any] = json.loads(text)
        options = members.pop("options")
        for name in ("tokens", "origins"):
            options[name] = tuple(options[name])
        options["candles"] = tuple((name, Path(path)) for name, path in options["candles"])
        options["data"] = Path(options["data"])
        sockets = Path(members.pop("sockets"))
        return cls(**members, sockets=sockets, options=Options(**options))


def socket_path(sockets: Path, number: int | str) -> Path:
    """Return the unix socket on which a worker, or the supervisor, answers the others."""
    return sockets / str(number)


def address(sockets: Path, number: int | str) -> str:
    """Return the address of a worker, or of the supervisor, for the others."""
    return f"{UNIX}{socket_path(sockets, number)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTerms:
    """An account and its terms."""

    id: str
    owner: int
    currency: str
    hedging: bool
    fifo: bool

    @classmethod
    def of(cls, account: LedgerAccount) -> "AccountTerms":
        """Return the terms of an account of the ledger."""
        return cls(**asdict(account))

    def ledger_account(self) -> LedgerAccount:
        """Return the account as the ledger has it."""
        return LedgerAccount(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDigest:
    """A token that was added while the broker ran."""

    owner: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedState:
    """The state that all workers share: accounts, added tokens, shocks, faults, and the market's pace.

    A market that runs is at `market` at the wall time `wall`, in nanoseconds since 1970; a paused one is at `market`.
    """

    accounts: tuple[AccountTerms, ...] = ()
    tokens: tuple[TokenDigest, ...] = ()
    shocks: str = "[]"  # as the ledger has them
    faults: FaultProfile = NO_FAULTS
    market: int = 0
    wall: int = 0
    speed: float = 1.0
    running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one worker has: its part of the state, and what its ledger knows."""

    state: State
    accounts: tuple[AccountTerms, ...] = ()
    tokens: tuple[TokenDigest, ...] = ()
    shocks: str = "[]"
    market: int = 0
    earlier_model: int | None = None
