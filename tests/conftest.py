"""Fixtures that every test may ask for by name, and how the tests are spread over processes."""

import os
import time

import pytest

pytest.register_assert_rewrite("support")
pytest_plugins = ["support.broker", "support.ssh_server", "support.wire_report"]

ALONE = ("bench", "soak")  # figures and long runs have the machine to themselves
MORE_WORKERS = 4  # at most, than cores: each takes 150 MB


def pytest_configure(config: pytest.Config) -> None:
    """Let workers and the programs of tests keep bytecode where the environment forbids it: each start would compile all modules."""
    os.environ["TZ"] = "UTC"  # no test depends on the zone of its machine
    time.tzset()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Use every core, but run benches and soaks in this process: one after the other, their figures printed.

    Journeys wait for a person's pauses half of their time, so there are more workers than cores.
    """
    chosen = str(config.getoption("markexpr"))
    if any(chosen.startswith(name) for name in ALONE):
        return 0
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = os.cpu_count() or 1
    return min(2 * cores, cores + MORE_WORKERS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let long runs last: the time limit finds tests of the usual run that hang."""
    if any(item.get_closest_marker(name) for name in ALONE):
        item.add_marker(pytest.mark.timeout(0))
