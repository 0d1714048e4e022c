"""Walks over two lists: in the usual run each member of both once at least, every pair of them with `-m soak`.

@pytest.mark.parametrize(("form", "size"), crossed(FORMS, SIZES))
def test_something(form: str, size: tuple[int, int]) -> None: ...
"""

from collections.abc import Collection

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
