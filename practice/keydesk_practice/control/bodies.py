"""The bodies of the control interface: what is asked, and what is answered."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from keydesk_practice.engine.wire_form import Timestamp
from keydesk_practice.market.shocks import ShockKind

Granularity = Literal[
    "S5", "S10", "S15", "S30", "M1", "M2", "M4", "M5", "M10", "M15", "M30", "H1", "H2", "H3", "H4",
    "H6", "H8", "H12", "D", "W", "M",
]  # fmt: skip


class NoMembers(Struct, frozen=True, kw_only=True):
    """No members."""


class Play(Struct, frozen=True, kw_only=True):
    """Run on; `speed` is market seconds a second, as before when it is absent."""

    speed: float | None = None


class Speed(Struct, frozen=True, kw_only=True):
    """The speed while the market runs."""

    speed: float


class Step(Struct, frozen=True, kw_only=True):
    """Pause, and go on to the end of the candle in progress, or of the `candles`-th one."""

    candles: int = 1
    granularity: Granularity = "M1"


class Jump(Struct, frozen=True, kw_only=True):
    """Go on to a later time; orders trigger and financing is booked on the way."""

    time: Timestamp


class BeginReplay(Struct, frozen=True, kw_only=True):
    """Begin anew at another time, with fresh accounts: at `start`, in a named `scenario`, or at a `random` time.

    At the `present` nothing is replayed: the accounts that were left for a replay are opened again, and the market catches
    up to the time of day. Accounts that were not left for a replay just catch up.

    A blind replay hides the instrument and the date until it is finished. The former ledger is kept beside the new one
    unless `keepLedger` is false. The same `draw` draws the same random start.
    """

    start: Timestamp | None = None
    scenario: str | None = None
    random: bool = False
    present: bool = False
    draw: int | None = None
    blind: bool = False
    instrument: str | None = None
    balance: Decimal | None = None
    speed: float = 1.0
    running: bool = False
    keep_ledger: bool = True


class AddShock(Struct, frozen=True, kw_only=True):
    """A shock from the next grid point on, or from a later `time`.

    `size` is a fraction of the price for spike and gap (0.01 is one percent up), a factor for spread and depth.
    Without `instrument` a halt, a wide spread or thin depth concerns every instrument.
    """

    kind: ShockKind
    instrument: str | None = None
    size: Decimal | None = None
    seconds: int = 60
    time: Timestamp | None = None


class AddAccount(Struct, frozen=True, kw_only=True):
    """A further account of a token (`owner` 0 is the first one); the usual balance depends on the currency."""

    owner: int = 0
    currency: str = "USD"
    hedging: bool = False
    fifo: bool = False
    balance: Decimal | None = None
    margin_rate: Decimal | None = None
    alias: str | None = None


class ResetAccount(Struct, frozen=True, kw_only=True):
    """Begin an account anew under its id; what is absent stays as it was, and the balance is that of a new account."""

    balance: Decimal | None = None
    currency: str | None = None
    hedging: bool | None = None
    margin_rate: Decimal | None = None


class Transfer(Struct, frozen=True, kw_only=True):
    """A deposit, or with a negative amount a withdrawal."""

    amount: Decimal
    comment: str | None = None


class SetMargin(Struct, frozen=True, kw_only=True):
    """The margin rate of an account, as a fraction: 0.05 is a leverage of 20."""

    margin_rate: Decimal


class AddToken(Struct, frozen=True, kw_only=True):
    """A further token with two accounts of its own; a random one is made when none is given."""

    token: str | None = None


class CheckpointName(Struct, frozen=True, kw_only=True):
    """The name of a checkpoint: letters, digits, dot, hyphen, underscore."""

    name: str


class LedgerName(Struct, frozen=True, kw_only=True):
    """The name of a kept ledger."""

    name: str


class RenameLedger(Struct, frozen=True, kw_only=True):
    """A kept ledger and its new name: letters, digits, dot, hyphen, underscore."""

    name: str
    new_name: str


class KeptAccount(Struct, frozen=True, kw_only=True):
    """An account when its ledger was left."""

    id: str
    currency: str
    balance: Decimal
    open_trades: int
    pending_orders: int


class LedgerState(Struct, frozen=True, kw_only=True):
    """A kept ledger: what it holds and the market's time when it was left; `home` is what a replay goes back to."""

    name: str
    what: str
    bytes: int
    left: Timestamp | None = None
    accounts: tuple[KeptAccount, ...] = ()


class Ledgers(Struct, frozen=True, kw_only=True):
    """The kept ledgers."""

    ledgers: tuple[LedgerState, ...]


class ReplayState(Struct, frozen=True, kw_only=True):
    """The replay in progress; scenario, instrument and real times are absent while it is blind.

    `home` is what `present` goes back to, absent where nothing was left for this replay.
    """

    blind: bool
    finished: bool
    scenario: str | None = None
    instrument: str | None = None
    began: Timestamp | None = None
    real_time: Timestamp | None = None
    home: LedgerState | None = None


class ShockState(Struct, frozen=True, kw_only=True):
    """A shock of this market."""

    kind: ShockKind
    begins: Timestamp
    ends: Timestamp | None = None
    size: str
    instruments: tuple[str, ...] = ()
    currency: str | None = None  # that moves; absent while a replay is blind


class AccountState(Struct, frozen=True, kw_only=True):
    """An account and its numbers at present prices."""

    id: str
    owner: int
    currency: str
    hedging: bool
    fifo: bool
    balance: Decimal
    nav: Decimal
    open_trades: int
    pending_orders: int
    last_transaction: str
    alias: str | None = None
    paid_in: Decimal = Decimal(0)  # deposits minus withdrawals
    last_fill: Timestamp | None = None


class State(Struct, frozen=True, kw_only=True):
    """The market and its accounts."""

    time: Timestamp
    running: bool
    speed: str
    seed: int
    replay: ReplayState | None = None
    shocks: tuple[ShockState, ...] = ()
    accounts: tuple[AccountState, ...] = ()
    faults: tuple[str, ...] = ()
    ledger_number: int = (
        0  # of ledgers since the broker started: a replay or a checkpoint is the next
    )


class ScenarioState(Struct, frozen=True, kw_only=True):
    """A named scenario."""

    name: str
    start: Timestamp
    instrument: str
    facts: str
    days: int
    range_pips: int


class Scenarios(Struct, frozen=True, kw_only=True):
    """The named scenarios."""

    scenarios: tuple[ScenarioState, ...]


class Checkpoints(Struct, frozen=True, kw_only=True):
    """The names of the saved checkpoints."""

    checkpoints: tuple[str, ...]


class TokenAccounts(Struct, frozen=True, kw_only=True):
    """A token and its accounts."""

    token: str
    owner: int
    accounts: tuple[str, ...] = field(default=())
