"""A broker whose answers are held against the reference; the record of them is read when all else has been."""

import pytest

from support.broker import PracticeServer
from support.checked import CheckedBroker

LAST = "test_readme.py"


@pytest.fixture
async def broker(desk_of_my_own: PracticeServer) -> CheckedBroker:
    return await CheckedBroker(desk_of_my_own).learn()


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Run this folder in one process, so that its record is whole."""
    item.add_marker(pytest.mark.xdist_group("wire"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the readers of the record last, whatever the order of the rest."""
    items.sort(key=lambda item: item.path.name == LAST and item.path.parent.name == "wire")
