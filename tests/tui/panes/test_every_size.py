"""Every pane draws at every size that a terminal can have, down to a single cell."""

from collections.abc import Callable, Sequence

import pytest
from textual.geometry import Size

from keydesk.panes.books import Books
from keydesk.panes.chart import Chart
from keydesk.panes.deal import Deal
from keydesk.panes.strips.notices import Notices
from keydesk.tables.log import Log
from keydesk.tables.orders import Orders
from keydesk.tables.positions import Positions
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import LinePane
from keydesk.words.log_line import LogLine
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import shown

PANES: tuple[Callable[[], LinePane], ...] = (
    Watchlist,
    Trades,
    Positions,
    Orders,
    Log,
    Books,
    Deal,
    Notices,
    Chart,
)
WIDTHS = (*range(1, 30), 37, 45, 60, 80, 250)
SOME_WIDTHS = (1, 23, 250)


@pytest.mark.parametrize(
    "widths",
    [SOME_WIDTHS, pytest.param(WIDTHS, marks=pytest.mark.soak)],
    ids=["some", "all"],
)
@pytest.mark.parametrize("make", PANES)
async def test_a_pane_draws_at_every_width_and_height(
    make: Callable[[], LinePane], widths: Sequence[int]
) -> None:
    store = desk_store()
    for text in ("A line of the log without a profit", "x", "long " * 60):
        store.write_log(LogLine("7", WALL_NS, "NOTE", "EUR_USD", safe(text)))
    pane = make()
    async with shown(pane, store, size=(80, 12)) as pilot:
        for width in widths:
            for height in (1, 9):
                await pilot.resize_terminal(width, height)
                while pane.outer_size != Size(width, height):  # the time limit ends a wait in vain
                    await pilot.pause()
                pane.on_frame(frame_of(store, everything=True))
                lines = [pane.render_line(y) for y in range(height)]
                assert {line.cell_length for line in lines} == {width}
