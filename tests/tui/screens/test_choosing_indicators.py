"""The chart's key opens the choice of indicators; other panes do not have it."""

from pathlib import Path

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.forms.market.indicators import IndicatorForm
from keydesk.keys.keymap import CHART, KEYMAP
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk


def is_open(desk: WorkingDesk) -> bool:
    return isinstance(desk.screen, IndicatorForm)


async def test_the_chart_opens_the_choice_and_the_store_has_what_was_chosen(tmp_path: Path) -> None:
    desk = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with desk.run_test(size=(120, 35)) as pilot:
        await pilot.press("g", "c", "e")
        assert is_open(desk)
        await pilot.press("space", "enter")
        assert not is_open(desk)
        focus = desk.store.focus
        assert desk.store.indicators_of(focus) == parse_indicators(("ema 20",))


async def test_in_another_pane_the_key_does_nothing(tmp_path: Path) -> None:
    desk = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with desk.run_test(size=(120, 35)) as pilot:
        await pilot.press("g", "w", "e")
        assert not is_open(desk)


def test_the_footer_of_the_chart_names_it() -> None:
    assert any(key.hint == "indicators" for key in KEYMAP.own(CHART))
