"""The log pane with older lines: the cursor's line stays, either end asks for more, the end says what is there."""

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from keydesk.store.frame import Frame
from keydesk.store.past_log import PAGE, PastLog
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.transactions.past_pages import take_page, want_past
from keydesk.tables.log import Log
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import Run
from keydesk.words.log_line import LogLine
from support.data.account_history import transaction
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.walks import sampled

FIRST = 3_001  # the lowest id of the followed log


def note(id_: int) -> LogLine:
    return LogLine(str(id_), WALL_NS, "NOTE", "EUR_USD", safe(f"line {id_}"))


def log_store(first: int = FIRST) -> Store:
    store = desk_store()
    store.log = [note(id_) for id_ in range(first, first + 200)]
    return store


class Reader:
    """A pane, and the broker's pages for what it asks."""

    def __init__(self, pilot: Pilot[None], pane: Log, store: Store) -> None:
        self.pilot, self.pane, self.store, self.answered = pilot, pane, store, 0

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        self.draw()

    def draw(self) -> None:
        self.pane.on_frame(frame_of(self.store))

    def want(self) -> bool:
        """Pass on what the pane asked for; return whether it asked."""
        asked = heard(self.pilot, Log.PastWanted)[self.answered :]
        self.answered += len(asked)
        for each in asked:
            want_past(
                self.store, each.direction, each.filter_text, from_followed=each.from_followed
            )
        self.draw()
        return bool(asked)

    def answer(self) -> None:
        """Read what is wanted, as the feed does."""
        past, start = self.store.past_log, self.store.log_start
        assert past is not None
        assert start is not None
        if (page := past.page(start)) is not None:
            made = [
                transaction(id_, "CLIENT_CONFIGURE", alias=f"a{id_}")
                for id_ in range(page[0], page[1] + 1)
            ]
            take_page(self.store, past, page, made)
        past.wants = ""
        self.store.mark(Topic.PAST_LOG)
        self.draw()

    @property
    def past(self) -> PastLog:
        assert self.store.past_log is not None
        return self.store.past_log


@pytest.fixture
def store() -> Store:
    return log_store()


async def test_scrolling_loads_older_lines_below_and_the_cursor_stays_on_its_line(
    store: Store,
) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press(*["space"] * 20)
        held = pane.selected
        assert reader.want()
        reader.answer()
        assert pane.selected == held
        await reader.press("j")
        assert pane.selected == str(FIRST - 1)
        assert f"a{FIRST - 1}" in "\n".join(text_of(pane))


async def test_a_new_line_on_top_moves_neither_cursor_nor_rows_of_the_past(store: Store) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press(*["space"] * 20)
        reader.want()
        reader.answer()
        await reader.press(*["space"] * 5)
        before, shown_before = pane.selected, text_of(pane)
        store.write_log(note(FIRST + 200))
        reader.draw()
        assert pane.selected == before
        assert text_of(pane) == shown_before


async def test_end_goes_to_the_first_transaction_and_home_to_the_newest(store: Store) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press("end")
        assert reader.want()
        reader.answer()
        assert pane.selected == "1"
        assert "The first transaction of the account" in text_of(pane)[-1]
        assert "newest" in pane.heading().right
        await reader.press("home")
        reader.want()
        assert pane.selected == str(FIRST + 199)
        assert store.past_log is None


async def test_from_the_first_transaction_one_scrolls_up_to_the_newest_without_a_gap(
    store: Store,
) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press("end")
        reader.want()
        reader.answer()
        seen = [pane.selected]
        for _ in range(FIRST + 250):
            pane.action_row_up()
            await pilot.pause() if pane.cursor < 2 * pane.room else None
            if reader.want():
                reader.answer()
            if pane.selected != seen[-1]:
                seen.append(pane.selected)
        assert seen == [str(id_) for id_ in range(1, FIRST + 200)]


async def test_a_page_that_fails_is_named_below_the_last_row_and_asked_for_by_the_next_key(
    store: Store,
) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press(*["space"] * 20)
        reader.want()
        reader.past.wants, reader.past.trouble = "", "refused; scroll on to try again"
        store.mark(Topic.PAST_LOG)
        reader.draw()
        assert "cannot be read: refused; scroll on" in text_of(pane)[-1]
        assert "cannot be read" in pane.heading().right
        await reader.press("j")
        assert reader.want()
        assert reader.past.trouble == ""


async def test_while_a_page_is_read_it_says_so_and_asks_no_more(store: Store) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press(*["space"] * 20)
        reader.want()
        reader.past.loading = True
        store.mark(Topic.PAST_LOG)
        reader.draw()
        assert "loading" in pane.heading().right
        await reader.press("j", "j", "space")
        assert not reader.want()


async def test_a_filter_looks_for_older_lines_and_says_how_far_it_looked(store: Store) -> None:
    pane = Log()
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        pane.show_only("a2777")
        await pilot.pause()
        assert reader.want()
        reader.answer()
        assert pane.keys == ["2777"]
        assert f"searched back to #{FIRST - PAGE}" in "\n".join(text_of(pane))
        pane.show_only("")
        assert len(pane.keys) == 200


@pytest.mark.parametrize("size", sampled([(40, 6), (80, 4), (80, 2), (200, 50), (10, 1)], 2))
async def test_the_words_at_the_end_fit_every_size(store: Store, size: tuple[int, int]) -> None:
    pane = Log()
    async with shown(pane, store, size=size) as pilot:
        reader = Reader(pilot, pane, store)
        await reader.press("end")
        reader.want()
        reader.answer()
        await reader.press("k", "j", "end")
        assert pane.selected == "1"
        assert {len(line) for line in text_of(pane)} == {size[0]}


class CountingLog(Log):
    """Counts the rows that are formatted."""

    formatted = 0

    def row(self, key: str, frame: Frame) -> list[Run]:
        self.formatted += 1
        return super().row(key, frame)


async def test_a_key_among_sixteen_thousand_lines_formats_the_visible_rows_only() -> None:
    store, pane = log_store(6_001), CountingLog()
    store.log = [note(id_) for id_ in range(6_001, 16_001)]
    async with shown(pane, store, size=(120, 45)) as pilot:
        reader = Reader(pilot, pane, store)
        past = PastLog(6_000)
        past.lines, past.oldest = [note(id_) for id_ in range(1, 6_001)], 1
        store.past_log = past
        store.mark(Topic.PAST_LOG)
        reader.draw()
        assert len(pane.keys) == 16_000
        text_of(pane)
        for keys in (["j"] * 60, ["space"] * 20, ["end"], ["k", "k"], ["home"]):
            for key in keys:
                pane.formatted = 0
                await pilot.press(key)
                text_of(pane)
                assert pane.formatted <= 3 * pane.room


async def test_an_order_that_a_filter_left_out_is_shown_once_its_fill_opens_the_trade_of_the_filter() -> (
    None
):
    order = LogLine("4", WALL_NS, "ORDER", "EUR_USD", safe("Market buy 1,000"))
    opened = LogLine("5", WALL_NS, "FILL", "EUR_USD", safe("Bought 1,000 #5"), about=("4", "5"))
    store, pane = desk_store(), Log()
    store.log = [note(3), order]
    async with shown(pane, store) as pilot:
        reader = Reader(pilot, pane, store)
        pane.show_only("#5")
        reader.draw()
        assert pane.keys == []
        store.write_log(replace(opened, filled_order="4"))
        reader.draw()
        assert pane.keys == ["5", "4"]
