"""Fixtures that every test may ask for by name, and how the tests are spread over processes."""

import gc
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("support")
pytest_plugins = [
    "support.broker",
    "support.examples",
    "support.ledgers",
    "support.postgres",
    "support.shell",
    "support.ssh_server",
    "support.wire_report",
]

ALONE = ("bench", "soak")  # figures and long runs have the machine to themselves
LEFT_OUT = ("install", *ALONE)
END_TO_END = frozenset(("chaos", "journeys"))  # folders whose tests are all `e2e`
PROCESSES = frozenset(("packaging", "wire", *END_TO_END))  # folders: the programs run as processes
REPETITIVE = frozenset(
    (
        "test_body_limits.py",
        "test_every_size.py",
        "test_hostile_values.py",
        "test_odd_figures.py",
        "test_small_windows.py",
    )
)


def pytest_configure(config: pytest.Config) -> None:
    """Let workers and the programs of tests keep bytecode where the environment forbids it: each start would compile all modules."""
    os.environ["TZ"] = "UTC"  # no test depends on the zone of its machine
    time.tzset()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Use every core, but run benches and soaks in this process: one after the other, their figures printed."""
    chosen = str(config.getoption("markexpr"))
    if any(chosen.startswith(name) for name in ALONE):
        return 0
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    # End-to-end tests wait: with 2.5 for a core, the cores were idle for a third of the run. The others compute.
    return (3 if chosen.startswith("e2e") else 1) * (os.cpu_count() or 1)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what the run leaves out: a second for the benches, a half of the rest for what is end to end."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return None
    chosen, path = str(config.getoption("markexpr")), collection_path
    if path.name == "bench":
        return "not bench" in chosen or chosen == "e2e" or None
    if path.name in END_TO_END:
        return "not e2e" in chosen or None
    if chosen == "e2e" and path.suffix == ".py" and END_TO_END.isdisjoint(path.parts):
        text = path.read_text(encoding="utf-8")
        return not any(word in text for word in ("mark.e2e", "ledger")) or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from what lives as long as the run: 400,000 objects of items, modules and fixtures.

    Each of its full passes would go through all of them, during the collection and after it. It looks at what is new
    after 20,000 objects instead of 700: an app of a test makes many that live as long as it, and 6 % of the run was spent so.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let long runs last: the time limit finds tests of the usual run that hang. Leave costly tests out of the coverage.

    With `--cov` a test takes half as long again. Journeys run the program in another process, which is not measured, and
    property tests pass the same lines again and again.
    """
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    if any(item.get_closest_marker(name) for name in ALONE):
        item.add_marker(pytest.mark.timeout(0))
    if not END_TO_END.isdisjoint(item.path.parts):
        item.add_marker(pytest.mark.e2e)
    if is_property or item.path.name in REPETITIVE or not PROCESSES.isdisjoint(item.path.parts):
        item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long form of end-to-end tests to `-m soak`."""
    if config.getoption("markexpr") == "e2e":
        items[:] = [item for item in items if not any(map(item.get_closest_marker, LEFT_OUT))]
