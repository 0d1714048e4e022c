"""What stands between a key and an order that opens risk while the line to the broker is disturbed; exits go on."""

from collections.abc import Sequence
from math import inf

from keydesk.calc.market.price_age import TOO_OLD_TO_OPEN
from keydesk.store.sent_orders import EARLIER
from keydesk.store.state import LinkState
from keydesk.store.store import Store
from keydesk.text.format import duration
from keydesk.text.sanitize import Printable, safe

DISTURBED: frozenset[LinkState] = frozenset(("DOWN", "STALE"))  # of a stream


def entry_obstacle(store: Store, instrument: str, now: float) -> Printable:
    """Return what an entry waits for, or what is wrong while it is sent; "" while the line is in order."""
    health, quote = store.health, store.quotes.get(instrument)
    age = inf if quote is None else now - quote.received
    if min(age, _since(health.prices_at, now)) > TOO_OLD_TO_OPEN:
        return "entries wait: no prices"
    if what_entries_wait_for(store):
        return "entries wait: earlier orders are looked up"
    if health.outage is not None:
        return safe(f"entries may fail: {health.outage.short}")
    if health.prices in DISTURBED:
        return "entries read the price first"
    if health.events in DISTURBED:
        return "entries allowed, events are down"
    return ""


def what_entries_wait_for(store: Store) -> str:
    """Return what holds up every new order, "" if nothing does: an order that an earlier session left open."""
    is_held = store.sent.looks_up_earlier and any(
        each.state == "unknown" for each in store.in_flight.values()
    )
    return EARLIER if is_held else ""


def line_warnings(store: Store, now: float) -> Sequence[str]:
    """Return what a ticket warns of before its order is sent over a line that is disturbed."""
    health, found = store.health, list[str]()
    if health.outage is not None:
        found.append(f"{health.outage.short}: the broker may not take this order")
    if health.prices in DISTURBED:
        state = _state("Prices", health.prices, health.prices_at, now)
        found.append(f"{state}: an old price is read again before this is sent, or it is not sent")
    if health.events in DISTURBED:
        state = _state("Events", health.events, health.events_at, now)
        found.append(f"{state}: what becomes of this order after its answer may be told late")
    return found


def _state(name: str, state: LinkState, at: float | None, now: float) -> str:
    age = "" if at is None else f" {duration(now - at)}"
    return f"{name} {state}{age}"


def _since(at: float | None, now: float) -> float:
    return inf if at is None else now - at
