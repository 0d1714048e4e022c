"""Finding an instrument by some of its letters: `gj` finds GBP_JPY."""

from collections.abc import Iterable


def matching(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that hold the letters in order, the nearest first; all of them for nothing typed."""
    wanted = "".join(letter for letter in typed.upper() if letter.isalnum())
    scored = [(_distance(wanted, name), name) for name in names]
    return [name for distance, name in sorted(scored, key=_by_distance) if distance is not None]


def _by_distance(scored: tuple[tuple[int, int] | None, str]) -> tuple[int, int]:
    return scored[0] or (0, 0)


def _distance(wanted: str, name: str) -> tuple[int, int] | None:
    """Return how far the letters lie apart, None when the name does not hold them.

    Letters that begin a currency count as near: `gj` means GBP_JPY before it means anything else.
    """
    plain = name.replace("_", "")
    starts = "".join(part[:1] for part in name.split("_"))
    if wanted and starts.startswith(wanted):
        return (0, 0)
    at, gaps = -1, 0
    for letter in wanted:
        found = plain.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return (1 if wanted else 0, gaps)
