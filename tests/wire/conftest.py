"""A broker whose answers are held against the reference; the record of them is read when all else has been."""

import pytest

from support.broker import PracticeServer
from support.checked import CheckedBroker

LAST = "test_readme.py"


@pytest.fixture
async def broker(desk_of_my_own: PracticeServer) -> CheckedBroker:
    return await CheckedBroker(desk_of_my_own).learn()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == LAST and item.path.parent.name == "wire")
