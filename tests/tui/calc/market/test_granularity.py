"""The lengths of candles."""

import pytest

from keydesk.calc.market.granularity import at_place


@pytest.mark.parametrize(
    ("place", "own", "shown"),
    [
        (2, "M5", "H1"),
        (3, "M5", "D"),
        (4, "M5", "M1"),
        (4, "M1", "D"),  # the shortest itself: the next longer ones
    ],
)
def test_a_further_chart_shows_a_length_of_its_own(place: int, own: str, shown: str) -> None:
    assert at_place(place, own) == shown
