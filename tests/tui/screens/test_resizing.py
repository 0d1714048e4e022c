"""Whatever is open and whatever the size becomes, the desk goes on, and what it shows is drawn to the edges."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.events import Resize
from textual.geometry import Region, Size
from textual.pilot import Pilot
from textual.screen import ModalScreen

from keydesk.calc.market.client_books import BookBucket
from keydesk.panes.chart import Chart
from keydesk.store.state import BookKind, BookSnapshot, CandleSeries, ClientBook
from keydesk.trading.desk_session import DeskLock
from support.data.desk_data import WALL_NS, candles
from support.examples import examples
from support.fakes.working_desk import WorkingDesk
from support.resizing import resize
from support.walks import sampled

Step = str | tuple[int, int] | tuple[str, str]

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
    "crosshair": ("g", "c", "i", "h", "k"),
    "zoomed crosshair": ("g", "c", "z", "i", "h", "k"),
    "ticket at the crosshair": ("g", "c", "i", "j", "B"),
    "book strip": ("g", "c", "c", "c"),
    "zoomed book strips": ("g", "c", "z", *("c", "c") * 3),
}
BARE = frozenset(
    ("desk", "zoom", "crosshair", "zoomed crosshair", "book strip", "zoomed book strips")
)
USUAL = ("desk", "zoomed book strips", "buy", "help")
KEYS = (
    *"BSCOEPMTDXRZAYhjklgtopcwzms.,-0123456789y:/?qu+",
    *("enter", "escape", "tab", "shift+tab", "space", "backspace", "delete"),
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end"),
)


CHART_KEYS = (
    *(
        "z",
        "i",
        "v",
        "e",
        "f",
        "o",
        "a",
        "w",
        "+",
        "_",
        "y",
        "0",
        "2",
        "s",
        "t",
        "j",
        "k",
        "h",
        "l",
    ),
    *("B", "S", "L", "M", "up", "down", "left", "right", "full_stop", "comma", "tab", "shift+tab"),
    *("escape", "escape", "enter", "end", "pageup", "backspace", "space"),
)
CHORDS = (("c", "c"), ("c", "h"), ("c", "l"), ("g", "c"), ("g", "e"))
FORMER, BUCKET, FIRST = 20 * 60 * 10**9, Decimal("0.0005"), Decimal("1.0750")


def desk(folder: Path) -> WorkingDesk:
    """The desk with client books and the candles of all four charts."""
    app = WorkingDesk(DeskLock.of(folder, "practice"))
    app.store.clock_ns = WALL_NS
    kinds: tuple[BookKind, ...] = ("orders", "positions")
    for number, kind in enumerate(kinds):
        buckets = tuple(
            BookBucket(FIRST + n * BUCKET, Decimal(n % 7), Decimal((n + number) % 5))
            for n in range(40)
        )
        newest, former = (
            BookSnapshot(WALL_NS - each, Decimal("1.08431"), BUCKET, Decimal(53), buckets)
            for each in (0, FORMER)
        )
        app.store.books["EUR_USD", kind] = ClientBook(kind, newest, earlier=(former,))
    for granularity, minutes in (("H1", 60), ("D", 1440), ("M1", 1)):
        series = CandleSeries("EUR_USD", granularity, loading=False)
        series.candles = candles(1.08435, 200, minutes, minutes=minutes)
        app.store.series["EUR_USD", granularity] = series
    return app


async def take(pilot: Pilot[int], step: Step) -> None:
    """Press a key or two, or change the terminal's size."""
    if isinstance(step, str):
        await pilot.press(step)
        return
    first, second = step
    if isinstance(first, int) and isinstance(second, int):
        await pilot.resize_terminal(first, second)
    else:
        await pilot.press(str(first), str(second))


def assert_drawn_to_the_edges(app: WorkingDesk) -> None:
    lines = app.screen._compositor.render_strips()
    assert len(lines) == app.size.height
    assert {line.cell_length for line in lines} == {app.size.width}


def states_and_sizes() -> list[object]:
    """Return four states, each with a part of the sizes; every state meets all in the soak."""
    parts: list[object] = [
        pytest.param(state, SIZES[number :: 2 * len(USUAL)], id=state)
        for number, state in enumerate(USUAL)
    ]
    return parts + [
        pytest.param(state, SIZES, id=f"{state}, all sizes", marks=pytest.mark.soak)
        for state in STATES
    ]


@pytest.mark.parametrize(("state", "sizes"), states_and_sizes())
async def test_sizes_are_harmless_in_every_state(
    state: str, sizes: Sequence[tuple[int, int]], tmp_path: Path
) -> None:
    """The screen is drawn whole at each size, and the state is still open."""
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*STATES[state])
        await pilot.pause()
        opened = type(app.screen)
        assert issubclass(opened, ModalScreen) is (state not in BARE)
        for size in (*sizes, (120, 35)):
            await resize(pilot, *size)
            app.draw()
            await pilot.pause()
            assert_drawn_to_the_edges(app)
        assert type(app.screen) is opened


def assert_charts_are_exact(app: WorkingDesk) -> None:
    """Every chart in sight fills its place, and none reaches under a docked form."""
    form = getattr(app.screen, "docked_region", Region())
    for chart in app.window.screen.query(Chart):
        if chart.display and chart.outer_size.width > 0:
            lines = [chart.render_line(y) for y in range(chart.outer_size.height)]
            assert {line.cell_length for line in lines} == {chart.outer_size.width}
            assert not chart.region.overlaps(form)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(CHART_KEYS),
            st.sampled_from(CHORDS),
            st.sampled_from(SIZES),
            st.tuples(st.integers(40, 260), st.integers(12, 75)),
        ),
        min_size=5,
        max_size=30,
    )
)
@settings(
    max_examples=examples(1, soak=12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_charts_strips_crosshair_and_docked_forms_outlive_every_storm_of_sizes(
    tmp_path: Path, steps: list[Step]
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(250, 70)) as pilot:
        await pilot.pause()
        app.draw()
        await pilot.press("g", "c", "c", "c", "i")
        for step in steps:
            await take(pilot, step)
            app.draw()
        await pilot.pause()
        for size in ((250, 70), (120, 35)):
            await resize(pilot, *size)
            await pilot.pause()
            app.draw()
            await pilot.pause()
            assert_drawn_to_the_edges(app)
            assert_charts_are_exact(app)


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
    max_examples=examples(1, soak=25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_no_keys_at_no_sizes_end_the_desk(tmp_path: Path, steps: list[Step]) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        for step in steps:
            await take(pilot, step)
            app.draw()
        await resize(pilot, 120, 35)
        app.draw()
        await pilot.pause()
        assert_drawn_to_the_edges(app)


@pytest.mark.parametrize("keys", sampled([(), ("C",), ("?",)], 1))
async def test_a_size_of_before_that_comes_late_does_not_replace_the_present_one(
    tmp_path: Path, keys: Sequence[str]
) -> None:
    """Textual's screens report their sizes to themselves, behind or before what the terminal reports."""
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await resize(pilot, 200, 50)
        laid_out = app.window.screen.chart.region
        for screen in app.screen_stack[1:]:
            late = Size(120, 35)
            screen.post_message(Resize(late, late))
        await pilot.pause()
        app.draw()
        await pilot.pause()
        assert app.window.screen.chart.region == laid_out
        assert_drawn_to_the_edges(app)


async def test_the_pane_that_a_small_window_hid_has_the_keys_again_in_a_larger_one(
    tmp_path: Path,
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("g", "l")
        log = app.focused
        assert log is not None
        await resize(pilot, 40, 12)
        assert app.focused is not log
        await resize(pilot, 80, 24)
        assert app.focused is log
        await resize(pilot, 40, 12)
        await pilot.press("g", "t")  # another one is chosen meanwhile
        trades = app.focused
        await resize(pilot, 80, 24)
        assert app.focused is trades
