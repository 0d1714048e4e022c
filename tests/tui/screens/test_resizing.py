"""Whatever is open and whatever the size becomes, the desk goes on, and what it shows is drawn to the edges."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.screen import ModalScreen

from keydesk.app.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk

Step = str | tuple[int, int]

SIZES = (
    *((120, 36), (140, 45), (200, 50), (250, 70), (100, 30), (80, 24), (79, 23), (40, 12)),
    *((39, 12), (61, 9), (20, 5), (3, 2), (1, 1)),
)
STATES = {
    "desk": (),
    "buy": ("B",),
    "sell": ("S",),
    "close": ("g", "t", "C"),
    "part": ("g", "t", "O"),
    "break-even": ("g", "t", "E"),
    "protect": ("g", "t", "P"),
    "modify": ("g", "t", "M"),
    "trail": ("g", "t", "T"),
    "move": ("g", "o", "M"),
    "cancel": ("g", "o", "D"),
    "cancel entries": ("Z",),
    "reverse": ("g", "p", "R"),
    "flatten": ("X",),
    "help": ("?",),
    "details": ("enter",),
    "find": ("/", "g", "j"),
    "command": (":", "b"),
    "messages": (":", *"messages", "enter"),
    "zoom": ("g", "c", "z"),
    "indicators": ("g", "c", "e"),
}
KEYS = (
    *"BSCOEPMTDXRZAYhjklgtopcwzms.,-0123456789y:/?qu+",
    *("enter", "escape", "tab", "shift+tab", "space", "backspace", "delete"),
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end"),
)


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


async def take(pilot: Pilot[int], step: Step) -> None:
    """Press a key or change the terminal's size."""
    if isinstance(step, str):
        await pilot.press(step)
    else:
        await pilot.resize_terminal(*step)


def assert_drawn_to_the_edges(app: WorkingDesk) -> None:
    lines = app.screen._compositor.render_strips()
    assert len(lines) == app.size.height
    assert {line.cell_length for line in lines} == {app.size.width}


@pytest.mark.parametrize("state", STATES)
async def test_every_size_is_harmless_in_every_state(state: str, tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*STATES[state])
        await pilot.pause()
        opened = type(app.screen)
        assert issubclass(opened, ModalScreen) is (state not in {"desk", "zoom"})
        for size in (*SIZES, (120, 35)):
            await pilot.resize_terminal(*size)
            app.draw()
            await pilot.pause()
            assert_drawn_to_the_edges(app)
        assert type(app.screen) is opened


@given(
    st.lists(
        st.one_of(
            st.sampled_from(KEYS),
            st.sampled_from(SIZES),
            st.tuples(st.integers(1, 260), st.integers(1, 75)),
        ),
        min_size=5,
        max_size=40,
    )
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_no_keys_at_no_sizes_end_the_desk(tmp_path: Path, steps: list[Step]) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        for step in steps:
            await take(pilot, step)
            app.draw()
        await pilot.resize_terminal(120, 35)
        app.draw()
        await pilot.pause()
        assert_drawn_to_the_edges(app)
