"""The page of messages."""

import re

import pytest
from textual.events import Key

from keydesk.forms.account.messages import MessagesPage
from keydesk.forms.info_form import FRAME
from keydesk.forms.page_lines import width_of
from keydesk.store.state import Notice
from keydesk.text.sanitize import clean, safe
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp
from support.walks import sampled

TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
LONG = "FILLED 10,000 EUR/USD at 1.08431, then a sentence that needs more than one line at any size"


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 50)], ids=str)
async def test_it_lists_the_newest_first_with_time_and_kind_those_of_earlier_desks_last(
    size: tuple[int, int],
) -> None:
    store = example_store()
    store.kept_notices = [Notice("bad", safe("NO ANSWER"), TEN, seen=True)]
    store.notices = [Notice("good", safe(LONG), TEN + 10**9), Notice("warn", safe("NO STOP"), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=size):
        page = app.screen
        assert isinstance(page, MessagesPage)
        lines = ["".join(text for text, _ in line) for line in page.all_lines()]
        words = " ".join(" ".join(lines).split())
        assert words.index("! NO STOP") < words.index("✓ FILLED")
        assert words.index("✓ FILLED") < words.index("✗ NO ANSWER")
        assert words.startswith("Mon 02 Mar 2026 UTC 10:00:00")
        assert all(len(line) <= page.inside for line in lines)


@pytest.mark.parametrize(
    ("ahead_ns", "head"), [(0, "2026  UTC"), (10**15, "2026  market time UTC")]
)
async def test_it_names_the_clock_of_a_market_with_its_own_time(ahead_ns: int, head: str) -> None:
    store = example_store()
    store.clock_ns, store.wall_ns = TEN, lambda: TEN + ahead_ns
    store.notices = [Notice("good", safe(LONG), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)):
        page = app.screen
        assert isinstance(page, MessagesPage)
        assert page.all_lines()[0][0][0].endswith(head)


async def test_tab_shows_one_kind_after_the_other_and_letters_search() -> None:
    store = example_store()
    store.notices = [
        Notice("good", safe("FILLED 10,000 EUR/USD"), TEN),
        Notice("bad", safe("REJECTED GBP/USD"), TEN + 1),
        Notice("info", safe("The tour is over"), TEN + 2),
    ]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "· note 1  ✓ done 1  ! warning 0  ✗ problem 1" in app.words
        await pilot.press("tab", "tab")
        assert "FILLED" in app.words
        assert "REJECTED" not in app.words
        await pilot.press("tab")
        assert "None of this kind" in app.words
        await pilot.press("tab", "tab", *"usd eur")
        assert "FILLED" in app.words
        assert "REJECTED" not in app.words


async def test_messages_of_other_ledgers_are_a_key_away_and_named_by_their_account() -> None:
    store = example_store()
    replayed = 1_421_312_400_000_000_000  # 2015-01-15 09:00 UTC
    store.notices = [Notice("good", safe("FILLED here"), TEN, ledger=store.ledger)]
    store.kept_notices = [Notice("good", safe("FILLED long ago"), TEN, ledger=replayed)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "this account  account of 15 Jan 2015 09:00  all" in app.words
        assert "FILLED long ago" not in app.words
        await pilot.press("shift+tab")
        assert "FILLED here" not in app.words
        assert "FILLED long ago" in app.words
        await pilot.press("shift+tab")
        assert "FILLED here" in app.words
        assert "UTC  account of 15 Jan 2015 09:00" in app.words
        await pilot.press("shift+tab")
        assert "FILLED long ago" not in app.words


async def test_without_messages_of_other_ledgers_there_is_nothing_to_choose() -> None:
    store = example_store()
    store.notices = [Notice("good", safe("FILLED here"), TEN, ledger=store.ledger)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("shift+tab")
        assert "FILLED here" in app.words
        assert "Shift+Tab" not in app.words


async def test_many_messages_stand_in_two_columns_where_there_is_room_none_broken() -> None:
    store = example_store()
    store.notices = [Notice("good", safe(f"{number:03} {LONG}"), TEN) for number in range(150)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(200, 50)):
        heads, tails = app.words.count("10:00:00 ✓"), app.words.count(" any size")
    assert heads == tails > 40


HOSTILE = "\x1b[31mRED\x07 \u202eright to left \u4e16\u754c e\u0301\u0301\u0301 " + "x" * 300


@pytest.mark.parametrize("size", sampled([(40, 12), (80, 24), (200, 50)], 1), ids=str)
async def test_any_text_that_is_typed_is_shown_without_its_controls_and_within_the_page(
    size: tuple[int, int],
) -> None:
    store = example_store()
    store.notices = [Notice("good", clean(HOSTILE), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=size) as pilot:
        page = app.screen
        assert isinstance(page, MessagesPage)
        for letter in HOSTILE[:60]:
            page.on_key(Key("x", letter))
        await pilot.pause()
        assert not {"\x1b", "\x07", "\u202e"} & set(app.words)
        assert all(width_of(line) <= page.inside for line in page.lines())
        await pilot.press(*["backspace"] * 60)
        assert "RED" in app.words


def page_of(app: FormApp) -> MessagesPage:
    page = app.screen
    assert isinstance(page, MessagesPage)
    return page


async def test_a_search_counts_what_it_finds_by_kind_and_marks_the_words() -> None:
    store = example_store()
    store.notices = [
        Notice("good", safe("Sold EUR/USD for Euros"), TEN),
        Notice("bad", safe("REJECTED GBP/USD"), TEN + 1),
    ]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        page = page_of(app)
        assert page.title_text() == "Messages: 2, the last 200 are kept"
        await pilot.press(*"eur")
        assert page.title_text() == "Messages: 1 of 2, the last 200 are kept"
        assert "· note 0  ✓ done 1  ! warning 0  ✗ problem 0" in app.words
        marks = [text for line in page.lines() for text, role in line if " on " in role]
        assert marks == ["EUR", "Eur"]


@pytest.mark.parametrize("size", sampled([(120, 35), (200, 50)], 1), ids=str)
async def test_each_page_and_column_begins_with_the_day_and_breaks_no_message(
    size: tuple[int, int],
) -> None:
    store = example_store()
    store.notices = [Notice("good", safe(f"{number:03} {LONG}"), TEN) for number in range(50)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=size) as pilot:
        found: set[str] = set()
        for _ in range(10):
            _, _, head, *lines = [
                "".join(text for text, _ in line) for line in page_of(app).lines()
            ]
            columns = head.count("Mon 02 Mar 2026  UTC")
            assert columns == (2 if size[0] == 200 and any("✓" in x[60:] for x in lines) else 1)
            text = "\n".join(lines)
            assert text.count("✓") == text.count("FILLED") == text.count("any size")
            assert "…" not in text
            found |= set(re.findall(r"\d{3} FILLED", text))
            await pilot.press("pagedown")
        assert len(found) == 50


async def test_a_message_that_goes_on_below_the_last_line_in_sight_says_so() -> None:
    store = example_store()
    store.notices = [Notice("good", safe(LONG), TEN) for _ in range(50)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        ends = []
        for _ in range(4):
            line = page_of(app).lines()[-1]
            ends.append("".join(text for text, _ in line))
            assert width_of(line) <= page_of(app).inside
            await pilot.press("down")
        first = [each for each in ends if "FILLED" in each]
        assert first
        assert all(each.endswith("…") for each in first)


async def test_the_last_line_of_a_message_is_no_single_word() -> None:
    store = example_store()
    store.notices = [Notice("good", safe(f"{'word ' * 13}tails"), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)):
        lines = ["".join(text for text, _ in line) for line in page_of(app).all_lines()]
        assert lines[-1].split() == ["word", "tails"]


async def test_a_few_messages_take_no_more_rows_than_they_need() -> None:
    store = example_store()
    store.notices = [Notice("good", safe("FILLED"), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 12)):
        panel = page_of(app).panel
        assert panel is not None
        assert panel.region.height == panel.line_count + 2 == 6


async def test_a_short_message_leaves_panes_in_sight_beside_the_page() -> None:
    store = example_store()
    store.notices = [Notice("good", safe("ARMED"), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(200, 50)) as pilot:
        page = app.screen
        assert isinstance(page, MessagesPage)
        assert page.panel is not None
        assert page.panel.outer_size.width == max(map(width_of, page.lines())) + FRAME
        store.notices.append(Notice("good", safe(f"{LONG}. {LONG}"), TEN))
        page.redraw()
        await pilot.pause()
        assert page.panel.outer_size.width == 200
