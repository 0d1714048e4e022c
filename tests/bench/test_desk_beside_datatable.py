"""CPU time of the desk at 1,000 prices a second, beside a plain Textual DataTable of 80 rows: one process, in turns.

    pytest -m bench -n0 -p no:randomly -s tests/bench/test_desk_beside_datatable.py

A second of the table: each price updates three cells, and the screen is drawn as often as prices come, in 50 batches.
A second of the desk: 1,000 lines of the stream are decoded, stored, and drawn in ten frames, as by default. Both render
what a terminal would be sent. Time is the processor's, so that other programs matter little.
"""

import asyncio
import json
import random
import sys
import time
from statistics import median

import pytest
from rich.console import RenderableType
from textual.screen import Screen

from keydesk.feeds.account_feed import AccountFeed
from keydesk.screens.desk import DeskScreen
from keydesk.store.valuation import revalue
from keydesk.widgets.terminal_diff import Difference
from keydesk_client.streams.prices import LINE
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.desk_app import DeskApp
from support.fakes.plain_table import PlainTable
from support.fakes.scripted_broker import ScriptedBroker, link_to

pytestmark = pytest.mark.bench
SIZE = (200, 50)
PRICES = 1_000
ROWS, BATCHES = 80, 50
INSTRUMENTS, FRAMES = 70, 10
SECONDS = 3
MOST = 0.10  # of the table's CPU


class Weighed(DeskApp):
    """The desk, its output counted instead of sent."""

    sent = 0

    def _display(
        self,
        screen: Screen[object],  # noqa: ARG002 - Textual's own signature
        renderable: RenderableType | None,
    ) -> None:
        update = self.reduced(renderable)
        if isinstance(update, Difference) and not self._batch_count:
            self.sent += len(update.render_segments(self.console).encode())


def lines_of(feed: AccountFeed, rng: random.Random, second: int) -> list[bytes]:
    """Return the lines that the price stream sends in a second."""
    names = list(feed.store.instruments)
    lines = []
    for number in range(PRICES):
        name = names[rng.randrange(len(names))]
        quote = feed.store.quotes[name]
        digits = feed.store.instruments[name].display_precision
        moved = float(quote.bid) + rng.randint(-3, 3) * 10**-digits
        bid, ask = f"{moved:.{digits}f}", f"{moved + 2 * 10**-digits:.{digits}f}"
        price = {
            "type": "PRICE",
            "instrument": name,
            "time": f"2026-03-02T10:{second:02}:{number * 60 // PRICES:02}.{number:09}Z",
            "tradeable": True,
            "bids": [{"price": bid, "liquidity": 1_000_000}],
            "asks": [{"price": ask, "liquidity": 1_000_000}],
            "closeoutBid": bid,
            "closeoutAsk": ask,
        }
        lines.append(json.dumps(price).encode())
    return lines


async def test_the_desk_costs_a_tenth_of_a_plain_table() -> None:
    rng = random.Random(5)
    store = desk_store(INSTRUMENTS)
    feed = link_to(ScriptedBroker(), store)
    desk, table = Weighed(store), PlainTable(ROWS)
    costs: dict[str, list[float]] = {"desk": [], "table": []}
    async with desk.run_test(size=SIZE), table.run_test(size=SIZE):
        await asyncio.sleep(1 / FRAMES)
        screen = desk.screen
        assert isinstance(screen, DeskScreen)
        for second in range(SECONDS):
            lines = lines_of(feed, rng, second)
            began = time.process_time()
            for beat in range(FRAMES):
                for line in lines[beat::FRAMES]:
                    feed.take_price(LINE.read(line))
                now = NOW + second + beat / FRAMES
                revalue(store, now)
                screen.on_frame(frame_of(store, now=now))
                await asyncio.sleep(1 / FRAMES)
            costs["desk"].append(time.process_time() - began)
            began = time.process_time()
            for batch in range(BATCHES):
                for _ in range(PRICES // BATCHES):
                    table.show_price(rng.randrange(ROWS), 1 + rng.random(), f"10:00:{batch}")
                await asyncio.sleep(1 / BATCHES)
            costs["table"].append(time.process_time() - began)
    ours, theirs = (median(costs[name][1:]) for name in ("desk", "table"))
    sys.stdout.write(
        f"\na second of {PRICES} prices: desk {ours * 1e3:.0f} ms, {desk.sent / SECONDS / 1e3:.1f} kB;"
        f" DataTable {theirs * 1e3:.0f} ms, {table.sent / SECONDS / 1e3:.1f} kB: ratio {ours / theirs:.3f}\n"
    )
    assert ours <= MOST * theirs
