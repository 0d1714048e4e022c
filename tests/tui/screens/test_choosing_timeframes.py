"""The list of all timeframes opens from every pane, and the charts follow what was taken."""

from pathlib import Path

import pytest

from keydesk.forms.market.timeframes import TimeframeForm
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled


def is_open(desk: WorkingDesk) -> bool:
    return isinstance(desk.screen, TimeframeForm)


@pytest.mark.parametrize("pane", sampled(["w", "c", "t"], 1))
async def test_a_length_of_the_list_becomes_the_timeframe(tmp_path: Path, pane: str) -> None:
    desk = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with desk.run_test(size=(120, 35)) as pilot:
        desk.store.set_granularity("H4")
        await pilot.press("g", pane, "g", "f")
        assert is_open(desk)
        await pilot.press("l", "enter")
        assert not is_open(desk)
        assert desk.store.granularity == "H6"
