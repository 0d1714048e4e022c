"""A broker whose responses are compared with the wire reference, and recorded in `wire_record`."""

import pytest

from support.broker import PracticeServer
from support.checked import CheckedBroker
from support.wire_record import WireRecord


@pytest.fixture
async def broker(desk_of_my_own: PracticeServer, wire_record: WireRecord) -> CheckedBroker:
    return await CheckedBroker(desk_of_my_own, wire_record).learn()
