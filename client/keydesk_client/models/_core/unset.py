"""The value of a member that is not mentioned: neither changed nor taken away."""

from enum import Enum
from typing import Final


class Unset(Enum):
    """Its only member is UNSET; None means something else: take it away."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
