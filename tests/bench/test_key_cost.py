"""What a key costs until its picture is written, in CPU and in updates, beside a frame of the desk with every price moving."""

import asyncio
import random
import time
from pathlib import Path

import pytest
from rich.console import RenderableType
from textual import events
from textual.pilot import Pilot

from keydesk.store.state import Topic
from keydesk.terminal._textual_private import lay_out
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.terminal_diff import Difference
from support.fakes.working_desk import WorkingDesk

pytestmark = pytest.mark.bench
SIZE = (200, 50)
TRIES = 15
PATIENCE = 30.0  # seconds


class TimedDesk(WorkingDesk):
    """Renders each update as for a terminal, and notes when it did."""

    def __init__(self, folder: Path) -> None:
        super().__init__(DeskLock.of(folder, "practice"))
        self.written: list[float] = []  # seconds of CPU

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        reduced = self.reduced(update)
        if isinstance(reduced, Difference) and reduced.render_segments(self.console):
            self.written.append(time.process_time())
        return None

    async def first_update(self) -> float:
        """Return the milliseconds of CPU until the next update was rendered."""
        self.written.clear()
        began = time.process_time()
        async with asyncio.timeout(PATIENCE):
            while not self.written:  # noqa: ASYNC110 - no call-backs
                await asyncio.sleep(0)
        return (self.written[0] - began) * 1000


async def cost_of(app: TimedDesk, pilot: Pilot[int], key: str, back: str) -> float:
    """Return the least milliseconds of CPU from a key to its first update; `back` undoes it."""
    costs = []
    for _ in range(TRIES):
        app.post_message(events.Key(key, key if len(key) == 1 else None))
        costs.append(await app.first_update())
        await pilot.pause()
        await pilot.press(back)
        await pilot.pause()
    return min(costs)


async def cost_of_a_whole_screen(app: TimedDesk, pilot: Pilot[int]) -> float:
    """Return the least milliseconds of CPU to lay out and draw all of the desk, every price moved."""
    costs, chance = [], random.Random(3)
    for _ in range(TRIES):
        for quote in app.store.quotes.values():
            quote.bid += chance.randint(1, 9)
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
