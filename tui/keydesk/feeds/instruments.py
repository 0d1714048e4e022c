"""What the account may trade, and which of it is watched: the majors first."""

from collections.abc import Iterable, Sequence

from keydesk.feeds.link import Link, reason
from keydesk.store.state import Topic
from keydesk.text.sanitize import NAME_LIMIT
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import Instrument

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
        except KeydeskClientError as error:
            if tries == 0:
                link.write(f"The instruments could not be read: {reason(error)}")
            await link.back_off(tries)
            tries += 1
        else:
            take(link, answer.instruments)
            return


def take(link: Link, instruments: Sequence[Instrument]) -> None:
    """Write the instruments, and the watchlist with the focus when there is none yet."""
    store = link.store
    known = {each.name: each for each in instruments if _can_be_asked_for(each.name)}
    if len(known) < len(instruments):
        link.write(
            f"{len(instruments) - len(known)} instruments have no usable name and are left out"
        )
    store.instruments = known
    if not store.watchlist:
        store.watchlist = watchlist(link.wanted, store.instruments)
    if store.focus not in store.instruments and store.watchlist:
        store.set_focus(store.watchlist[0])
    store.mark(Topic.INSTRUMENTS)
    link.listed.set()


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
