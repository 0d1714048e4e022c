"""What one frame of the whole desk costs, in CPU and in bytes, with every price moving."""

import random
import time
from decimal import Decimal

import pytest
from rich.console import RenderableType
from textual.screen import Screen

from keydesk.screens.desk import DeskScreen
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.widgets.terminal_diff import Difference
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.desk_app import DeskApp

pytestmark = pytest.mark.bench
FRAMES = 60
FPS = 10


class Weighed(DeskApp):
    """The desk, its bytes counted instead of sent."""

    sent = 0

    def _display(
        self,
        screen: Screen[object],  # noqa: ARG002 - Textual's own signature
        renderable: RenderableType | None,
    ) -> None:
        update = self.reduced(renderable)
        if isinstance(update, Difference) and not self._batch_count:
            self.sent += len(update.render_segments(self.console).encode())


def move_every_price(store: Store, rng: random.Random, now: float) -> None:
    for quote in store.quotes.values():
        precision = store.instruments[quote.instrument].display_precision
        step = Decimal(rng.choice((-3, -2, -1, 1, 2, 3))).scaleb(-precision)
        quote.bid, quote.ask = quote.bid + step, quote.ask + step
        quote.bid_move = quote.ask_move = 1 if step > 0 else -1
        quote.moved_at = quote.received = now
        store.mark(Topic.PRICES, quote.instrument)


async def test_a_frame_with_seventy_moving_prices_fits_the_budgets() -> None:
    store, rng = desk_store(70), random.Random(3)
    app = Weighed(store)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        app.sent, began = 0, time.process_time()
        for beat in range(FRAMES):
            now = NOW + 1 + beat / FPS
            move_every_price(store, rng, now)
            screen.on_frame(frame_of(store, now=now))
            await pilot.pause()
        seconds = time.process_time() - began
    kilobytes_a_second = app.sent / FRAMES * FPS / 1000
    milliseconds = seconds / FRAMES * 1000
    print(f"{milliseconds:.1f} ms CPU and {app.sent / FRAMES:.0f} bytes a frame")  # noqa: T201
    assert kilobytes_a_second <= 25
    assert milliseconds * FPS / 1000 <= 0.15  # the test's own waiting included; 8 % from outside
