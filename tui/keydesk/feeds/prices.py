"""Apply the prices and conversion factors of the account's instruments to the store, and poll the factors."""

from collections.abc import Collection, Sequence
from functools import partial

from keydesk.store.prices import apply_conversions, apply_price
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk_client.account.values import checked_time_ns, readable
from keydesk_client.models import ClientPrice, HomeConversions, PricingHeartbeat


def apply_known_price(store: Store, price: ClientPrice, received: float) -> None:
    """Apply a price; raise ValueError for an instrument that the account does not have."""
    name = price.instrument
    if not store.instruments and not store.quotes:
        return  # the market began anew, and what it offers is being read
    if name is not None and name not in store.quotes and name not in store.instruments:
        raise ValueError("a price of an instrument that the account does not have")
    apply_price(store, price, received)


def apply_heartbeat(store: Store, heartbeat: PricingHeartbeat, wall_ns: int) -> None:
    """Take the broker's time, and its difference to this machine's."""
    time_ns = checked_time_ns(heartbeat.time)
    store.see_clock(time_ns)
    store.health.clock_offset_ms = (time_ns - wall_ns) / 1e6
    store.mark(Topic.HEALTH)


def apply_conversion_factors(store: Store, conversions: Sequence[HomeConversions]) -> None:
    """Apply the conversion factors of currencies in the account's instruments."""
    if not store.instruments and not store.conversions:
        return
    known = {
        part for name in store.instruments for part in name.split("_")
    } | store.conversions.keys()
    apply_conversions(store, readable(store, partial(_check_currency, known), conversions))


def _check_currency(known: Collection[str], conversion: HomeConversions) -> HomeConversions:
    if conversion.currency not in known:
        raise ValueError("a conversion of a currency that no instrument has")
    return conversion
