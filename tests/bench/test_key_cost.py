"""What a key costs until its picture is written, in CPU: beside a frame of the desk, and beside a form of Textual's alone."""

import asyncio
import random
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from keydesk.store.state import Topic
from keydesk.terminal._textual_private import TextualHooks, is_screen_update, lay_out
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.terminal_diff import Difference
from support.fakes.working_desk import WorkingDesk

pytestmark = pytest.mark.bench
SIZE = (200, 50)
TRIES = 15
PATIENCE = 30.0  # seconds
MOST_OF_A_BARE_FORM = 1.5


class Timed(App[Any]):
    """Notes when an update was rendered."""

    written: list[float]  # seconds of CPU

    async def first_update(self) -> float:
        """Return the milliseconds of CPU until the next update was rendered."""
        self.written.clear()
        began = time.process_time()
        async with asyncio.timeout(PATIENCE):
            while not self.written:  # noqa: ASYNC110 - no call-backs
                await asyncio.sleep(0)
        return (self.written[0] - began) * 1000


class TimedDesk(WorkingDesk, Timed):
    """Renders each update as for a terminal, and notes when it did."""

    def __init__(self, folder: Path) -> None:
        super().__init__(DeskLock.of(folder, "practice"))
        self.written: list[float] = []  # seconds of CPU

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        reduced = self.reduced(update)
        if isinstance(reduced, Difference) and reduced.render_segments(self.console):
            self.written.append(time.process_time())
        return None


class BareForm(ModalScreen[None]):
    """As many rows as the list of keys, in a framed text of Textual's."""

    DEFAULT_CSS = "BareForm { background: transparent; } BareForm Static { border: round blue; }"
    BINDINGS = [("escape", "dismiss", "")]  # noqa: RUF012 - as Textual has it

    def compose(self) -> ComposeResult:
        rows = (f"row {n} with a key, its words and a figure 1.{n:05}" for n in range(SIZE[1] - 7))
        yield Static("\n".join(rows), markup=False)


class BareDesk(TextualHooks[None], Timed):
    """A table of 80 rows over which `?` opens that form; each update is rendered as for a terminal."""

    BINDINGS = [("question_mark", "form", "")]  # noqa: RUF012 - as Textual has it

    def __init__(self) -> None:
        super().__init__()
        self.written = []

    def compose(self) -> ComposeResult:
        yield DataTable[str]()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("pair", "bid", "ask", "spread")
        for n in range(80):
            table.add_row(f"pair {n}", "1.08431", "1.08441", "1.0")

    def action_form(self) -> None:
        self.push_screen(BareForm())

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        if is_screen_update(update) and update.render_segments(self.console):
            self.written.append(time.process_time())
        return None

    def fault_report(self) -> None:
        """Print nothing more."""


async def costs_of(app: Timed, pilot: Pilot[Any], key: str, back: str) -> list[float]:
    """Return the milliseconds of CPU from each key to its first update; `back` undoes it."""
    costs = []
    for _ in range(TRIES):
        app.post_message(events.Key(key, key if len(key) == 1 else None))
        costs.append(await app.first_update())
        await pilot.pause()
        await pilot.press(back)
        await pilot.pause()
    return sorted(costs)


async def cost_of(app: TimedDesk, pilot: Pilot[int], key: str, back: str) -> float:
    """Return the least of them."""
    return (await costs_of(app, pilot, key, back))[0]


async def cost_of_a_whole_screen(app: TimedDesk, pilot: Pilot[int]) -> float:
    """Return the least milliseconds of CPU to lay out and draw all of the desk, every price moved."""
    costs, rng = [], random.Random(3)
    for _ in range(TRIES):
        for quote in app.store.quotes.values():
            quote.bid += rng.randint(1, 9)
            app.store.mark(Topic.PRICES, quote.instrument)
        began = time.process_time()
        app.draw()
        app.written.clear()
        app.redraw()
        lay_out(app.screen, app.size)
        costs.append((app.written[-1] - began) * 1000)
        await pilot.pause()
    return min(costs)


async def test_a_form_costs_less_than_the_desk_and_a_usual_key_a_third_of_it(
    tmp_path: Path,
) -> None:
    app = TimedDesk(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        whole = await cost_of_a_whole_screen(app, pilot)
        ticket = await cost_of(app, pilot, "B", "escape")
        keys = await cost_of(app, pilot, "question_mark", "escape")
        row = await cost_of(app, pilot, "j", "k")
        await pilot.press("B")
        await pilot.pause()
        nudge = await cost_of(app, pilot, "up", "down")
    print(  # noqa: T201
        f"\n    CPU to the picture: ticket {ticket:.1f} ms, keys {keys:.1f} ms, next row {row:.1f} ms, "
        f"a step in the ticket {nudge:.1f} ms; whole desk {whole:.1f} ms"
    )
    assert max(ticket, keys) < whole * 0.8  # 1.3 and 1.5 with a form drawn by Textual's text
    assert max(row, nudge) < whole / 3


async def test_a_form_costs_at_most_half_as_much_again_as_a_bare_one_with_as_many_rows(
    tmp_path: Path,
) -> None:
    bare = BareDesk()
    async with bare.run_test(size=SIZE) as pilot:
        await pilot.pause()
        peer = await costs_of(bare, pilot, "question_mark", "escape")
    app = TimedDesk(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        forms = {key: await costs_of(app, pilot, key, "escape") for key in ("question_mark", "B")}
    for key, costs in forms.items():
        middle = statistics.median(costs) / statistics.median(peer)
        said = f"{middle:.2f} of a bare form at p50, {costs[-1] / peer[-1]:.2f} at most"
        print(f"\n    {key}: {said}")  # noqa: T201
        assert middle <= MOST_OF_A_BARE_FORM
        assert costs[-1] <= peer[-1] * MOST_OF_A_BARE_FORM
