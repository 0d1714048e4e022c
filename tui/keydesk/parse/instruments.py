"""Find instruments by what is typed of their names: eurusd, EUR/USD, gj for GBP_JPY."""

from collections.abc import Iterable


def find_instrument(name: str, instruments: Iterable[str]) -> str | None:
    """Return the instrument of a name such as eurusd, EUR/USD or eur_usd; else the only near match."""
    names = list(instruments)
    plain = "".join(letter for letter in name.upper() if letter.isalnum())
    for each in names:
        if each.replace("_", "") == plain:
            return each
    near = matching(plain, names)
    return near[0] if len(near) == 1 else None


def matching(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that contain the typed letters in order, best match first; all names if nothing is typed."""
    letters = "".join(letter for letter in typed.upper() if letter.isalnum())
    scored = [(_distance(letters, name), name) for name in names]
    return [name for distance, name in sorted(scored, key=_by_distance) if distance is not None]


def _by_distance(scored: tuple[tuple[int, int] | None, str]) -> tuple[int, int]:
    return scored[0] or (0, 0)


def _distance(letters: str, name: str) -> tuple[int, int] | None:
    """Return how far the matched letters are apart, None if the name does not contain them.

    Letters that begin a currency count as near: `gj` means GBP_JPY before it means anything else.
    """
    plain = name.replace("_", "")
    starts = "".join(part[:1] for part in name.split("_"))
    if letters and starts.startswith(letters):
        return (0, 0)
    at, gaps = -1, 0
    for letter in letters:
        place = plain.find(letter, at + 1)
        if place < 0:
            return None
        gaps += place - at - 1
        at = place
    return (1 if letters else 0, gaps)
