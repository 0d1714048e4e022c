"""Named watchlists as values: a change returns new lists or raises `ListError` with the reason."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

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
"""The pairs that the default watchlist begins with."""
ALL = "All"  # the list that always exists: every instrument of the account
DEFAULT_COLUMNS = ("bid", "ask", "spread", "day", "own", "spark", "range", "pl")
COLUMN_NAMES = (*DEFAULT_COLUMNS, "pips", "atr", "usual", "session")
"""The columns that a list may have, in their order on the screen; what each shows: `tables/watch_columns.py`."""
MAX_NAME_LENGTH = 20
MAX_LISTS = 50
MAX_INSTRUMENTS = 500


class ListError(ValueError):
    """Raised for an invalid change of the lists; the text is the reason."""


class Watchlist(Struct, frozen=True):
    """A named list; `ALL` names no instruments."""

    name: str
    instruments: tuple[str, ...] = ()
    columns: tuple[str, ...] = DEFAULT_COLUMNS

    @property
    def is_all(self) -> bool:
        """Return whether it is the list of every instrument."""
        return self.name == ALL


DEFAULT_WATCHLIST = Watchlist(ALL)
"""The list of every instrument, the majors first; it is there before the trader makes one, and cannot be deleted."""


class Watchlists(Struct, frozen=True):
    """Every list, in the trader's order; the first is `ALL`."""

    lists: tuple[Watchlist, ...] = (DEFAULT_WATCHLIST,)

    def by_name(self, name: str) -> Watchlist | None:
        """Return the list of this name."""
        return next((each for each in self.lists if each.name == name), None)

    def after(self, name: str) -> Watchlist:
        """Return the next list; after the last comes the first."""
        names = [each.name for each in self.lists]
        at = names.index(name) if name in names else -1
        return self.lists[(at + 1) % len(self.lists)]


def majors_first(names: Iterable[str]) -> list[str]:
    """Return the names, majors first."""
    given = set(names)
    majors = [name for name in MAJORS if name in given]
    return majors + sorted(given.difference(majors))


Change = Callable[[Watchlists], Watchlists]


def name_trouble(name: str) -> str:
    """Return why the text cannot name a list, "" if it can."""
    if not name.strip():
        return "a list needs a name"
    if name != name.strip() or not name.isprintable():
        return "a name has no control characters and no blanks around it"
    if len(name) > MAX_NAME_LENGTH:
        return f"a name has at most {MAX_NAME_LENGTH} characters"
    return ""


def _is_taken(lists: Watchlists, name: str, *, besides: str = "") -> bool:
    taken = {each.name.casefold() for each in lists.lists if each.name != besides}
    return name.casefold() in taken


def _check_name(lists: Watchlists, name: str, *, besides: str = "") -> str:
    trouble = name_trouble(name)
    if not trouble and _is_taken(lists, name, besides=besides):
        trouble = f"there is a list {name} already"
    if trouble:
        raise ListError(trouble)
    return name


def _own(lists: Watchlists, name: str) -> Watchlist:
    watchlist = lists.by_name(name)
    if watchlist is None:
        raise ListError(f"there is no list {name} any more")
    if watchlist.is_all:
        raise ListError(f"{ALL} always holds every instrument")
    return watchlist


def _replace(lists: Watchlists, name: str, changed: Watchlist) -> Watchlists:
    return Watchlists(tuple(changed if each.name == name else each for each in lists.lists))


def new(name: str, *instruments: str) -> Change:
    """Append a list."""

    def change(lists: Watchlists) -> Watchlists:
        if len(lists.lists) >= MAX_LISTS:
            raise ListError(f"there are {MAX_LISTS} lists, which is the most: delete one first")
        return Watchlists((*lists.lists, Watchlist(_check_name(lists, name), instruments)))

    return change


def rename(name: str, now: str) -> Change:
    """Give a list another name."""

    def change(lists: Watchlists) -> Watchlists:
        renamed = replace(_own(lists, name), name=_check_name(lists, now, besides=name))
        return _replace(lists, name, renamed)

    return change


def delete(name: str) -> Change:
    """Remove a list."""

    def change(lists: Watchlists) -> Watchlists:
        gone = _own(lists, name)
        return Watchlists(tuple(each for each in lists.lists if each is not gone))

    return change


def add(name: str, instrument: str) -> Change:
    """Append an instrument to a list; one that is there stays where it is."""

    def change(lists: Watchlists) -> Watchlists:
        held = _own(lists, name)
        if instrument in held.instruments:
            return lists
        if len(held.instruments) >= MAX_INSTRUMENTS:
            raise ListError(
                f"{name} has {MAX_INSTRUMENTS} instruments, which is the most: remove one first"
            )
        grown = replace(held, instruments=(*held.instruments, instrument))
        return _replace(lists, name, grown)

    return change


def remove(name: str, instrument: str) -> Change:
    """Take an instrument off a list."""

    def change(lists: Watchlists) -> Watchlists:
        held = _own(lists, name)
        left = tuple(each for each in held.instruments if each != instrument)
        return _replace(lists, name, replace(held, instruments=left))

    return change


def move(name: str, instrument: str, past: str) -> Change:
    """Move an instrument to the other side of another one of its list."""

    def change(lists: Watchlists) -> Watchlists:
        held = _own(lists, name)
        order = list(held.instruments)
        if instrument not in order or past not in order:
            raise ListError(f"the instrument is not in {name} any more")
        after = order.index(past) > order.index(instrument)
        order.remove(instrument)
        order.insert(order.index(past) + after, instrument)
        return _replace(lists, name, replace(held, instruments=tuple(order)))

    return change


def show_columns(name: str, columns: tuple[str, ...]) -> Change:
    """Choose the columns of a list; they stand in the order of `COLUMN_NAMES`."""

    def change(lists: Watchlists) -> Watchlists:
        held = lists.by_name(name)
        if held is None:
            raise ListError(f"there is no list {name} any more")
        ordered = tuple(each for each in COLUMN_NAMES if each in columns)
        return _replace(lists, name, replace(held, columns=ordered))

    return change
