"""Without a price stream nothing that follows from a price looks fresh, wherever it stands."""

import pytest
from rich.style import Style

from keydesk.panes.deal import Deal
from keydesk.panes.strips.account import AccountStrip
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.store.state import LinkState, Topic
from keydesk.tables.positions import Positions
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.widgets.lines import LinePane
from support.data.desk_data import desk_store, frame_of
from support.fakes.pane_app import shown


def style_of(pane: LinePane, text: str) -> Style:
    """The style that some words of the pane are drawn in."""
    for y in range(pane.outer_size.height):
        for segment in pane.render_line(y):
            if text in segment.text and segment.style is not None:
                return segment.style
    raise AssertionError(f"{text} is not on the pane")


@pytest.mark.parametrize(
    ("pane", "text"),
    [
        (Trades(), "+5.1"),
        (Trades(), "+5.10"),
        (Trades(), "1.08431"),
        (Trades(), "+0.90"),
        (Positions(), "+5.10"),
        (Deal(), "+5.10"),
        (Watchlist(), "1.2"),
    ],
)
@pytest.mark.parametrize("feed", ["DOWN", "STALE"])
async def test_what_follows_from_an_old_price_is_dim(
    pane: LinePane, text: str, feed: LinkState
) -> None:
    store = desk_store()
    async with shown(pane, store, size=(120, 14)):
        assert style_of(pane, text).color != pane.palette["faint"].color
        store.health.prices = feed
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert style_of(pane, text).color == pane.palette["faint"].color
        assert not style_of(pane, text).bold


async def test_the_price_above_the_keys_is_dim_too() -> None:
    pane, store = InstrumentLine(), desk_store()
    async with shown(pane, store, size=(120, 3)):
        store.health.prices = "DOWN"
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert style_of(pane, "1.08443") == pane.palette["faint"]


async def test_the_accounts_worth_is_not_bold_on_old_prices() -> None:
    pane, store = AccountStrip(), desk_store()
    async with shown(pane, store, size=(120, 3)):
        assert style_of(pane, "10,214.55").bold
        store.health.prices = "DOWN"
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert not style_of(pane, "10,214.55").bold
