"""Parts of long lists of cases for the usual run; the whole lists for `-m soak`.

@pytest.mark.parametrize(("form", "size"), crossed(FORMS, SIZES))
def test_something(form: str, size: tuple[int, int]) -> None: ...

@pytest.mark.parametrize("size", sampled(SIZES, 2))
def test_another_thing(size: tuple[int, int]) -> None: ...
"""

from collections.abc import Collection, Iterable, Sequence

import pytest


def crossed(first: Collection[object], second: Collection[object]) -> list[object]:
    """Return every pair as parameters; all but the shortest walk that meets each member are marked `soak`."""
    ones, others = list(first), list(second)
    steps = range(max(len(ones), len(others)))
    usual = {(step % len(ones), step % len(others)) for step in steps}
    return [
        pytest.param(one, other, marks=() if (i, j) in usual else pytest.mark.soak)
        for i, one in enumerate(ones)
        for j, other in enumerate(others)
    ]


def sampled(cases: Iterable[object], usual: int) -> list[object]:
    """Return near-equal cases of one value as parameters; all but `usual`, from the first to the last, are marked `soak`."""
    return sampled_rows([(case,) for case in cases], usual)


def sampled_rows(cases: Iterable[Sequence[object]], usual: int) -> list[object]:
    """Return near-equal cases of several values as parameters, as `sampled` does."""
    rows = list(cases)
    kept = {step * (len(rows) - 1) // max(usual - 1, 1) for step in range(usual)}
    return [
        pytest.param(*row, marks=() if at in kept else pytest.mark.soak)
        for at, row in enumerate(rows)
    ]
