"""The marker of a parameter that was not given, where None means "remove it"."""

from enum import Enum
from typing import Final


class Unset(Enum):
    """The type of UNSET: what it stands for is left as it is."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
