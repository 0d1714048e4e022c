"""Scale-out plans: an entry in several orders, each with a target of its own, and a last one that trails.

A trade has one target at the broker. So each step is an order and a trade of its own, with its stop and its target resting
at the broker: they hold without the desk, and a stop that fires takes its target along.
"""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from keydesk.text.typed import quantity, tokens
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.profit import whole_units

MAX_PARTS = 5


class ScaleOut(Struct, frozen=True):
    """The shares of an entry in percent, and the targets in R of all but the last, which trails."""

    shares: tuple[Decimal, ...] = ()
    targets_r: tuple[Decimal, ...] = ()

    @property
    def text(self) -> str:
        """Return it as it is written: 33/33/34 1r 2r."""
        shares = "/".join(f"{each.normalize():f}" for each in self.shares)
        return " ".join([shares, *(f"{each.normalize():f}r" for each in self.targets_r)])


NO_SCALE_OUT = ScaleOut()


def parse_scale_out(text: str) -> ScaleOut | str:
    """Return the scale-out of a text such as 33/33/34 1r 2r, or why it cannot be read; empty text means no scale-out."""
    if not text.strip():
        return NO_SCALE_OUT
    first, *rest = tokens(text)
    shares = [each.number for word in first.split("/") if (each := quantity(word)) is not None]
    targets = [quantity(word, "r") for word in rest]
    times = tuple(each.number for each in targets if each is not None and each.unit)
    whole = len(shares) == first.count("/") + 1 and len(times) == len(rest)
    if not whole or not 1 < len(shares) <= MAX_PARTS or len(times) != len(shares) - 1:
        return (
            f"2 to {MAX_PARTS} shares in percent, and a target in R for each but the last: "
            "33/33/34 1r 2r"
        )
    if sum(shares) != PERCENT or min(shares) <= 0:
        return "the shares must add up to 100"
    if list(times) != sorted(set(times)) or times[0] <= 0:
        return "the targets must rise from above 0"
    return ScaleOut(tuple(shares), times)


class OrderPart(Struct, frozen=True):
    """One of the orders of an entry."""

    units: Decimal  # signed
    target: Decimal | None
    trail: Decimal | None  # distance in price units
    at_target: Decimal = ZERO  # what the target wins, home currency; nothing where it trails


def shared_units(total: Decimal, shares: Sequence[Decimal], precision: int) -> tuple[Decimal, ...]:
    """Return whole units of each share, rounded down; the last gets what is left, so that they add up exactly."""
    first = [whole_units(total * share / PERCENT, precision) for share in shares[:-1]]
    return (*first, total - sum(first, ZERO))
