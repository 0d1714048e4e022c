"""The active watchlist in the store, and the instruments whose prices and day lines it needs."""

from keydesk.calc.market.watchlists import ALL, Watchlist, Watchlists, majors_first
from keydesk.store.state import Topic
from keydesk.store.store import Store


def active_list(store: Store) -> Watchlist:
    """Return the list on the screen; the list of all instruments if it is gone."""
    return store.lists.by_name(store.list_name) or store.lists.lists[0]


def set_lists(store: Store, lists: Watchlists) -> None:
    """Replace the lists."""
    store.lists = lists
    show_list(store, store.list_name)


def show_list(store: Store, name: str) -> None:
    """Show another list."""
    store.list_name = name if store.lists.by_name(name) else ALL
    fill_list(store)
    store.mark(Topic.INSTRUMENTS)


def fill_list(store: Store) -> None:
    """Compute the instruments of the active list from those that the account has."""
    watched = active_list(store)
    known = store.instruments
    store.watchlist = (
        majors_first(known)
        if watched.is_all
        else [name for name in watched.instruments if name in known]
    )


def listed_instruments(store: Store) -> tuple[str, ...]:
    """Return the known instruments of every list, the active one first, so that another list has its prices at once."""
    in_lists = (name for each in store.lists.lists for name in each.instruments)
    return tuple(
        dict.fromkeys((*store.watchlist, *(name for name in in_lists if name in store.instruments)))
    )


def want_day_lines(store: Store, lines: tuple[str, ...], averages: tuple[str, ...]) -> None:
    """Note whose day lines and average ranges the screen shows, for the feed that loads them."""
    if (lines, averages) != (store.day_lines_wanted, store.averages_wanted):
        store.day_lines_wanted, store.averages_wanted = lines, averages
        store.mark(Topic.DAY_LINES)
