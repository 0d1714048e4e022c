"""While the line to the broker is disturbed, the deal pane and the ticket say what would become of an order."""

import pytest

from keydesk.calc.orders.checks import CheckContext
from keydesk.panes.deal import Deal
from keydesk.store.entry_obstacles import entry_obstacle, line_warnings
from keydesk.store.state import LinkState, Topic
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk.words.outages import Outage
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.pane_app import shown

REFUSED = Outage(safe("token refused (401)"), safe("The broker refuses the token"))


def disturbed(
    prices: LinkState = "OK", events: LinkState = "OK", outage: Outage | None = None, age: float = 0
) -> Store:
    """A desk whose last price and line came so many seconds ago."""
    store = desk_store()
    for quote in store.quotes.values():
        quote.received = NOW - age
    health = store.health
    health.prices, health.events, health.outage = prices, events, outage
    health.prices_at = health.events_at = NOW - age
    return store


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (disturbed(), ""),
        (disturbed("DOWN", "DOWN", REFUSED, age=17), "entries wait: no prices"),
        (disturbed("OK", "OK", REFUSED), "entries may fail: token refused (401)"),
        (disturbed("STALE", age=7), "entries read the price first"),
        (disturbed("OK", "DOWN"), "entries allowed, events are down"),
    ],
)
async def test_the_deal_pane_says_what_becomes_of_an_entry(store: Store, said: str) -> None:
    assert entry_obstacle(store, store.focus, NOW) == said
    store.arming.level = "ARMED"
    pane = Deal()
    async with shown(pane, store, size=(60, 24)):
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        lines = [pane.render_line(y).text.strip() for y in range(pane.outer_size.height)]
    assert (said or "entries allowed") in lines


def test_a_ticket_warns_of_each_disturbance() -> None:
    assert line_warnings(disturbed(), NOW) == []
    token, prices, events = line_warnings(disturbed("DOWN", "DOWN", REFUSED, age=7), NOW)
    assert token == "token refused (401): the broker may not take this order"
    assert prices.startswith("Prices DOWN 7s: an old price is read again")
    assert events.startswith("Events DOWN 7s: ")
    assert CheckContext(0).line == ()
