"""What an instrument's spread usually is: the median of an hour, so that a wide one stands out."""

from collections import deque
from collections.abc import Iterable
from decimal import Decimal

EVERY = 10.0  # seconds between two samples
HOUR = 360  # samples
ENOUGH = 12  # two minutes; before that nothing is called usual
WIDE = 2  # times the median


class TypicalSpreads:
    """Takes a sample of every instrument's spread each ten seconds."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[Decimal]] = {}
        self._medians: dict[str, Decimal] = {}
        self._sampled: dict[str, float] = {}
        self._seen: dict[Decimal, Decimal] = {}  # 25,000 samples are a few hundred values

    def note(self, instrument: str, spread: Decimal, now: float) -> None:
        """Take the spread into account, if a sample is due; now in monotonic seconds."""
        if now - self._sampled.get(instrument, float("-inf")) < EVERY:
            return
        self._sampled[instrument] = now
        samples = self._samples.setdefault(instrument, deque(maxlen=HOUR))
        samples.append(self._seen.setdefault(spread, spread))
        if len(samples) >= ENOUGH:
            self._medians[instrument] = median(samples)

    def is_wide(self, instrument: str, spread: Decimal) -> bool:
        """Say whether a spread is more than twice what is usual; False while that is not known."""
        usual = self._medians.get(instrument)
        return usual is not None and spread > WIDE * usual


def median(samples: Iterable[Decimal]) -> Decimal:
    """The middle one, or between the two in the middle; the module `statistics` is 0.2 MB more."""
    ordered = sorted(samples)
    half = len(ordered) // 2
    return (ordered[half] + ordered[-1 - half]) / 2
