"""The state of a practice market that the desk may control: its clock, what is replayed, shocks and faults."""

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk_client.arithmetic.constants import SECOND


class Scenario(Struct, frozen=True):
    """A named scenario of the market; the texts are the broker's."""

    name: str
    start_ns: int
    instrument: str
    facts: str
    days: int = 0  # in which its price moved so far; 0: not known
    range_pips: int = 0


class KeptAccount(Struct, frozen=True):
    """An account as it was left for a replay."""

    currency: str
    balance: Decimal
    trades: int
    orders: int


class Home(Struct, frozen=True):
    """What a replay goes back to: the accounts that were left for it, by id, and the market's time then."""

    left_ns: int
    accounts: Mapping[str, KeptAccount]


class Replay(Struct, frozen=True):
    """What is replayed; a blind one in progress has neither instrument nor times."""

    blind: bool = False
    finished: bool = False
    scenario: str = ""
    instrument: str = ""
    began_ns: int = 0
    real_ns: int = 0  # the real time of the one that is shown
    home: Home | None = None

    @property
    def hides(self) -> bool:
        """Whether instrument and date are still hidden."""
        return self.blind and not self.finished


class MarketState(Struct, frozen=True):
    """The market at the last look; `read_at` is when, in monotonic seconds."""

    time_ns: int = 0
    running: bool = True
    speed: float = 1.0
    replay: Replay | None = None
    shocks: tuple[str, ...] = ()  # in words
    faults: tuple[str, ...] = ()  # in words
    ledger_number: int = 0  # another one: the market began anew
    read_at: float = 0.0

    def now_ns(self, now: float) -> int:
        """Return the market's time at a monotonic time."""
        if not self.running:
            return self.time_ns
        return self.time_ns + int(max(0.0, now - self.read_at) * self.speed * SECOND)

    @property
    def is_usual(self) -> bool:
        """Whether it runs as any market does: at the usual speed, no replay, no shocks and no faults."""
        special = self.replay is not None or self.shocks or self.faults
        return self.running and self.speed == 1 and not special


class ControlledMarket(Struct, frozen=True):
    """A practice market under the desk's control."""

    state: MarketState = field(default_factory=MarketState)
    scenarios: tuple[Scenario, ...] = ()
    checkpoints: tuple[str, ...] = ()
    working: str = ""  # the command under way, in words
    trouble: str = ""  # why the state is not known now

    @property
    def is_shown(self) -> bool:
        """Whether the strip has something to say."""
        return not self.state.is_usual or bool(self.working or self.trouble)

    def with_state(self, state: MarketState) -> "ControlledMarket":
        """Return the market at a newer look."""
        return replace(self, state=state, trouble="")


def speed_text(speed: float) -> str:
    """Return a speed as it is shown: x60."""
    return f"x{speed:g}"
