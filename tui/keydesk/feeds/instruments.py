"""What the account may trade, and which of it is watched: the majors first."""

from collections.abc import Iterable, Sequence

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.state import Topic
from keydesk.store.unreadable import amount, price, readable
from keydesk.text.sanitize import NAME_LIMIT, clean_name
from keydesk_client.models import Instrument

MOST_PLACES = 12
INSTRUMENTS_EVERY = 600.0  # seconds
MAJORS = (
    "EUR_USD",
    "USD_JPY",
    "GBP_USD",
    "USD_CHF",
    "AUD_USD",
    "USD_CAD",
    "NZD_USD",
    "EUR_JPY",
    "EUR_GBP",
    "EUR_CHF",
    "GBP_JPY",
    "AUD_JPY",
)


async def list_instruments(link: Link) -> None:
    """Read the instruments, again until it works."""
    tries = 0
    while True:
        try:
            answer = await link.ask(link.client.accounts.instruments())
            if take(link, answer.instruments):
                return
        except FAILURES as error:
            link.count_unreadable(error)
            if tries == 0:
                link.write(f"The instruments could not be read: {reason(error)}")
        await link.back_off(tries)
        tries += 1


async def keep_instruments(link: Link) -> None:
    """Read the instruments again now and then: margin rates change, and instruments come and go."""
    await link.listed.wait()
    while True:
        await link.pause(INSTRUMENTS_EVERY)
        try:
            answer = await link.ask(link.client.accounts.instruments())
            take(link, answer.instruments)
        except FAILURES as error:
            link.count_unreadable(error)


def take(link: Link, instruments: Sequence[Instrument]) -> bool:
    """Write the instruments, and the watchlist with the focus when there is none yet; False: ask again.

    Those that cannot be read are left out; one that was read before stays as it was.
    """
    store = link.store
    read = {each.name: each for each in readable(store, _usable, instruments)}
    if not read:
        return False
    is_whole = len(read) == len(instruments)
    needed = {name for name in store.instruments if name in store.positions or name == store.focus}
    kept = needed if is_whole else store.instruments.keys()
    before = store.instruments.keys()
    store.instruments = {name: store.instruments[name] for name in kept} | read
    if not store.watchlist or store.instruments.keys() != before:
        store.watchlist = watchlist(link.wanted, store.instruments)
    if store.focus not in store.instruments and store.watchlist:
        store.set_focus(store.watchlist[0])
    store.mark(Topic.INSTRUMENTS)
    link.listed.set()
    return is_whole


def _usable(instrument: Instrument) -> Instrument:
    """The same, every member that the desk computes with known to be there and of sane size."""
    if not _can_be_asked_for(instrument.name):
        raise ValueError(f"{clean_name(instrument.name)} is no usable instrument name")
    for places in (
        instrument.pip_location,
        instrument.display_precision,
        instrument.trade_units_precision,
    ):
        if abs(places) > MOST_PLACES:
            raise ValueError(f"{instrument.name}: {places} is no number of decimal places")
    price(instrument.margin_rate)
    for size in (
        instrument.minimum_trade_size,
        instrument.maximum_order_units,
        instrument.maximum_position_size,
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    ):
        amount(size)
    return instrument


def _can_be_asked_for(name: str) -> bool:
    """Say whether prices can be asked for by the name; one name that cannot would fail the whole request."""
    return 0 < len(name) <= NAME_LIMIT and name.isascii() and name.isprintable() and "," not in name


def watchlist(wanted: Sequence[str], known: Iterable[str]) -> list[str]:
    """The trader's own choice of what there is; without one all of it, the majors first."""
    names = set(known)
    chosen = [name for name in wanted if name in names]
    if chosen:
        return chosen
    majors = [name for name in MAJORS if name in names]
    return majors + sorted(names.difference(majors))
