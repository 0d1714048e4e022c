"""What a look at the machine or the broker found."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, and the remedy where something is wrong."""

    name: str
    verdict: Verdict
    words: str
