"""The order in which the workers of a test run get the modules."""

from types import SimpleNamespace
from typing import Any

import pytest

from support.run_order import parts

WORKERS = 5


def module(folder: str, number: int, tests: int) -> Any:  # noqa: ANN401 - what the order reads of an item
    file = f"tests/{folder}/test_{number}.py"
    return [SimpleNamespace(nodeid=f"{file}::test_{each}") for each in range(tests)]


def names(modules: list[Any]) -> list[str]:
    return [items[0].nodeid.split("/")[1] for items in modules]


@pytest.mark.parametrize("workers", [2, WORKERS])
def test_every_module_is_run_whole_by_one_worker(workers: int) -> None:
    modules = [module("journeys", each, 3) for each in range(7)]
    modules += [module("client", each, 1 + each) for each in range(20)]
    dealt = [each for part in parts(modules, workers) for each in part]
    assert sorted(map(id, dealt)) == sorted(map(id, modules))


def test_modules_that_wait_are_spread_over_all_workers_and_come_neither_first_nor_last() -> None:
    modules = [module("journeys", each, 4) for each in range(30)]
    modules += [module("client", each, 10) for each in range(200)]
    for part in parts(modules, WORKERS):
        assert names(part).count("journeys") == 6
        assert names(part).count("client") in (40, 39, 41)
        assert set(names(part)[:2] + names(part)[-10:]) == {"client"}


def test_a_run_of_one_kind_of_module_is_dealt_as_well() -> None:
    for folder in ("journeys", "client"):
        dealt = parts([module(folder, each, 2) for each in range(10)], WORKERS)
        assert [len(part) for part in dealt] == [2] * WORKERS
    assert parts([], WORKERS) == [[]] * WORKERS
