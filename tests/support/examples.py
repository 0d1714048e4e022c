"""How many examples a property is tried with: few in the usual run, hypothesis's own count or more with `-m soak`.

    @settings(max_examples=examples(5, soak=25), deadline=None)      # a costly property
    @given(...)
    def test_something(...) -> None: ...

A property without such a line is tried with `USUAL` examples, and with 100 in the soak, which takes all properties.
"""

import hypothesis
import pytest

USUAL = 15
QUICK, FULL = "quick", "full"  # profiles


def examples(usual: int, *, soak: int) -> int:
    """Return the count for the run that collects the tests."""
    return soak if hypothesis.settings.get_current_profile_name() == FULL else usual


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile before a test module is imported: the decorators take their counts from it."""
    hypothesis.settings.register_profile(QUICK, max_examples=USUAL, deadline=None)
    hypothesis.settings.register_profile(FULL, deadline=None)
    hypothesis.settings.load_profile(FULL if _is_soak(config) else QUICK)


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the soak select every property."""
    if is_property(item) and _is_soak(item.config):
        item.add_marker(pytest.mark.soak)


def is_property(item: pytest.Item) -> bool:
    """Return whether hypothesis draws the arguments of a test."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def _is_soak(config: pytest.Config) -> bool:
    return str(config.getoption("markexpr")).startswith("soak")
