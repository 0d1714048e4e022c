"""The page of messages."""

import pytest

from keydesk.forms.account.messages import MessagesPage
from keydesk.store.state import Notice
from keydesk.text.sanitize import safe
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp

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
        assert words.index("warning NO STOP") < words.index("done FILLED")
        assert words.index("done FILLED") < words.index("problem NO ANSWER")
        assert "02 Mar 10:00:01" in words
        assert all(len(line) <= page.inside for line in lines)


@pytest.mark.parametrize(("ahead_ns", "head"), [(0, "time UTC "), (10**15, "market time UTC ")])
async def test_it_names_the_clock_of_a_market_with_its_own_time(ahead_ns: int, head: str) -> None:
    store = example_store()
    store.clock_ns, store.wall_ns = TEN, lambda: TEN + ahead_ns
    store.notices = [Notice("good", safe(LONG), TEN)]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)):
        page = app.screen
        assert isinstance(page, MessagesPage)
        assert page.all_lines()[0][0][0].startswith(head)


async def test_tab_shows_one_kind_after_the_other_and_letters_search() -> None:
    store = example_store()
    store.notices = [
        Notice("good", safe("FILLED 10,000 EUR/USD"), TEN),
        Notice("bad", safe("REJECTED GBP/USD"), TEN + 1),
        Notice("info", safe("The tour is over"), TEN + 2),
    ]
    app = FormApp(lambda: MessagesPage(store))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "note 1  done 1  warning 0  problem 1" in app.words
        await pilot.press("tab", "tab")
        assert "FILLED" in app.words
        assert "REJECTED" not in app.words
        await pilot.press("tab")
        assert "None of this kind" in app.words
        await pilot.press("tab", "tab", *"usd eur")
        assert "FILLED" in app.words
        assert "REJECTED" not in app.words
