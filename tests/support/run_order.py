"""In which order the workers run the modules: those that wait for programs are spread over all, and none comes last.

xdist gives each worker one part of the list of tests, and who has ended its part takes half of what another has left,
from its end. Journeys wait and the other tests compute: side by side they fill the cores, and a journey that began when
the rest was done would keep one worker busy and the other cores idle.
"""

import os
from collections.abc import Sequence
from itertools import groupby

import pytest

# Folders of tests that mostly wait for a process.
WAITING = frozenset(("chaos", "cli", "journeys", "ledger", "packaging"))
FIRST, LAST = 0.05, 0.75  # of a worker's tests: where modules that wait begin

Module = list[pytest.Item]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the modules for the workers; a run in one process keeps the order that it has."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        modules = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
        items[:] = [item for part in parts(modules, workers) for module in part for item in module]


def parts(modules: Sequence[Module], workers: int) -> list[list[Module]]:
    """Return the modules of each worker: as many that wait and as many tests for each."""
    waiting = [module for module in modules if _waits(module)]
    computing = [module for module in modules if not _waits(module)]
    slow = [waiting[worker::workers] for worker in range(workers)]
    quick: list[list[Module]] = [[] for _ in slow]
    tests = [_count(part) for part in slow]
    for module in computing:
        worker = tests.index(min(tests))
        quick[worker].append(module)
        tests[worker] += len(module)
    return [_mixed(*part) for part in zip(slow, quick, strict=True)]


def _waits(module: Module) -> bool:
    file = module[0].nodeid.partition("::")[0]  # below the tests' own folder, wherever that is
    return not WAITING.isdisjoint(file.split("/"))


def _mixed(waiting: list[Module], computing: list[Module]) -> list[Module]:
    """Spread the modules that wait evenly between those that compute, but for the first and the last of these."""
    step = (LAST - FIRST) * _count(computing) / max(1, len(waiting))
    due = [FIRST * _count(computing) + step * place for place in range(len(waiting))]
    mixed: list[Module] = []
    done = 0
    for module in computing:
        while due and due[0] <= done:
            del due[0]
            mixed.append(waiting[-len(due) - 1])
        mixed.append(module)
        done += len(module)
    return mixed + waiting[len(waiting) - len(due) :]


def _count(modules: list[Module]) -> int:
    return sum(map(len, modules))
