"""The rows of the log pane show the log, whatever came, was dropped or was put between; a new line copies no other."""

import random
from collections.abc import Callable

import pytest

from keydesk.store.past_log import PastLog
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import forget_after, write_earlier
from keydesk.tables.log import Log
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine
from support.data.account_history import transaction
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import shown
from support.walks import sampled

FIRST = 1_000
FEWEST = 5  # transactions of a log that loses some, which has thousands
Change = Callable[[Store, random.Random], None]


def ids_of(store: Store) -> list[int]:
    return [int(line.id) for line in store.log if line.id]


def write_numbered(store: Store, dice: random.Random) -> None:
    newest = max(ids_of(store), default=FIRST)
    for id_ in range(newest + 1, newest + 1 + dice.randrange(1, 4)):
        store.write_log(LogLine(f"{id_}", WALL_NS, "FILL", "EUR_USD", safe(f"line {id_}")))


def write_own(store: Store, dice: random.Random) -> None:
    time_ns = WALL_NS + dice.randrange(-10, 10)
    store.write_log(LogLine("", time_ns, "LINK", "", safe("prices are back")))


def insert_earlier(store: Store, dice: random.Random) -> None:
    start = store.log_start or FIRST
    ids = range(start - dice.randrange(1, 4), start)
    write_earlier(store, [transaction(id_, "CLIENT_CONFIGURE", alias="a") for id_ in ids])


def read_again(store: Store, _dice: random.Random) -> None:
    """Earlier transactions that the log has already, as after each snapshot."""
    held = [transaction(id_, "CLIENT_CONFIGURE", alias="a") for id_ in sorted(ids_of(store))]
    write_earlier(store, held)


def drop_oldest(store: Store, dice: random.Random) -> None:
    if len(ids_of(store)) > FEWEST:
        store.trim_log(dice.randrange(3))
        store.mark(Topic.LOG)


def go_back(store: Store, dice: random.Random) -> None:
    if len(ids_of(store)) > FEWEST:
        forget_after(store, max(ids_of(store)) - dice.randrange(3))


def replace_newest(store: Store, dice: random.Random) -> None:
    go_back(store, dice)
    write_numbered(store, dice)


def clear(store: Store, _dice: random.Random) -> None:
    store.log.clear()
    store.past_log = None
    store.mark(Topic.LOG)


def join_window(store: Store, _dice: random.Random) -> None:
    if store.log_start is None:
        return
    past = PastLog(store.log_start - 1)
    past.lines = [LogLine(f"{id_}", 1, "NOTE", "", safe("old")) for id_ in range(1, 4)]
    past.oldest = 1
    store.past_log = past
    store.mark(Topic.PAST_LOG)


CHANGES: tuple[Change, ...] = (
    *(write_numbered, write_numbered, write_numbered, write_own, write_own),
    *(insert_earlier, read_again, drop_oldest, go_back, replace_newest, join_window, clear),
)


def rows_of(store: Store) -> list[str]:
    """The keys of the lines, newest first; one that the log and the window both have is shown once."""
    older = store.past_log.lines if store.past_log is not None and store.past_is_joined else []
    return list(dict.fromkeys(line.key for line in (*reversed(store.log), *reversed(older))))


@pytest.mark.parametrize("seed", sampled(range(4), 1))
@pytest.mark.parametrize("keys", [(), ("j", "j", "j")])
async def test_the_rows_are_those_of_the_log_after_every_change(
    seed: int, keys: tuple[str, ...]
) -> None:
    dice, pane, store = random.Random(seed), Log(), desk_store()
    async with shown(pane, store) as pilot:
        for _ in range(60):
            for change in dice.choices(CHANGES, k=dice.randrange(1, 3)):
                change(store, dice)
            await pilot.press(*keys)
            pane.on_frame(frame_of(store))
            assert pane.keys == rows_of(store)
            assert [line and line.key for line in map(pane.line, pane.keys)] == pane.keys
            assert pane.cursor < max(1, len(pane.keys))


async def test_a_new_line_comes_above_the_others_which_are_not_copied() -> None:
    pane, store = Log(), desk_store()
    store.log = [
        LogLine(f"{id_}", WALL_NS, "NOTE", "EUR_USD", safe(f"line {id_}"))
        for id_ in range(1, 9_001)
    ]
    async with shown(pane, store):
        rows, dice = pane.keys, random.Random(1)
        for _ in range(3):
            write_numbered(store, dice)
            write_own(store, dice)
            pane.on_frame(frame_of(store))
        assert pane.keys is rows
        assert rows == rows_of(store)
        assert pane.cursor == 0


async def test_a_line_from_before_a_gap_goes_although_no_other_comes() -> None:
    pane, store = Log(), desk_store()
    store.log = [LogLine(f"{id_}", WALL_NS, "NOTE", "", safe("line")) for id_ in (1, 5, 6)]
    async with shown(pane, store):
        held = [transaction(id_, "CLIENT_CONFIGURE", alias="a") for id_ in (5, 6)]
        write_earlier(store, held)
        pane.on_frame(frame_of(store))
        assert pane.keys == ["6", "5"]
