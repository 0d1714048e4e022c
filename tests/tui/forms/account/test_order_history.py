"""The page of order outcomes, by keys alone and at every size."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.forms.account.order_history import OrderHistoryForm, Take
from keydesk.store.store import Store
from keydesk.text.format import date_and_time
from keydesk.text.sanitize import clean
from keydesk.trading.executions import Execution, figures_of
from keydesk.trading.order_history import HistoryEntry, OrderHistory
from keydesk.values import Command
from support.data.desk_data import frame_of
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp

SETTLED = [
    OrderHistory(
        f"kd-{number:020x}",
        WALL_NS - number * 60_000_000_000,
        clean(f"BUY {number},000 EUR/USD market"),
        "settled",
        clean(f"FILLED {number},000 EUR/USD @ 1.08502 0.2 pip worse 120 ms"),
        clean('create {"units": "1000", "type": "MARKET", "instrument": "EUR_USD"}'),
        (HistoryEntry(WALL_NS, clean("outcome"), clean("FILLED " + "words " * 80)),),
    )
    for number in range(1, 40)
]
LOST = replace(SETTLED[0], id="kd-lost", state="unconfirmed", outcome=clean("not found so far"))
EXECUTIONS = [
    Execution(1, "EUR_USD", "open", "filled", 120.0, Decimal("0.25")),
    Execution(2, "\x1b[31mHOSTILE_NAME_OF_AN_INSTRUMENT", "open", "rejected", 7.0, None),
]


class Page:
    """The form over given orders; counts how often they were read."""

    def __init__(self, lives: Sequence[OrderHistory], store: Store | None = None) -> None:
        self.lives, self.store, self.reads = lives, store or example_store(), 0
        self.form = OrderHistoryForm(self.store, self.read)
        self.app = FormApp(lambda: self.form)

    def read(self, take: Take) -> None:
        self.reads += 1
        take(self.lives, figures_of(EXECUTIONS))


async def after(*keys: str, size: tuple[int, int] = (80, 24)) -> str:
    page = Page([LOST, *SETTLED])
    async with page.app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return page.app.words


@pytest.mark.parametrize("size", [(80, 24), (120, 35), (200, 50), (60, 16), (40, 12)])
async def test_an_open_order_is_first_with_what_to_do(size: tuple[int, int]) -> None:
    text = await after(size=size)
    assert "Order outcomes  1 open, 40 in all" in text
    assert text.index("UNCONFIRMED") < text.index("BUY 2,000")
    assert len(text.splitlines()) <= size[1]
    if size[1] >= 16:
        assert "to do" in text
        assert "send it again" in " ".join(text.replace("│", " ").split())


async def test_arrows_choose_and_space_shows_more_of_the_order() -> None:
    text = await after("down", "j")
    assert "▶" in next(line for line in text.splitlines() if "BUY 2,000" in line)
    small = (60, 16)
    assert "create; market buy" not in await after("down", "j", size=small)
    pages = [await after("down", "j", *["space"] * count, size=small) for count in range(1, 6)]
    assert any("create; market buy" in page for page in pages)


async def test_v_shows_slippage_and_times_by_instrument() -> None:
    text = await after("v")
    assert "Slippage and time to acknowledge" in text
    assert "120" in text
    assert "\x1b" not in text
    assert "Order outcomes" in await after("v", "v")


async def test_an_order_in_flight_shows_at_once_and_is_read_again_when_it_settles() -> None:
    page = Page(SETTLED)
    async with page.app.run_test(size=(80, 24)) as pilot:
        page.form.on_frame(frame_of(page.store))
        record = Command("BUY 7 EUR/USD", id="kd-new", instrument="EUR_USD", state="unknown")
        page.store.set_in_flight(record)
        page.form.on_frame(frame_of(page.store))
        await pilot.pause()
        assert "now      UNKNOWN" in page.app.words
        page.store.settle("kd-new")
        page.form.on_frame(frame_of(page.store))
        page.form.on_frame(frame_of(page.store))
        await pilot.pause()
        assert "UNKNOWN" not in page.app.words
    assert page.reads == 3


async def test_the_choice_stays_on_its_order_when_others_come() -> None:
    page = Page(SETTLED)
    async with page.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down")
        page.form.show([LOST, *SETTLED], ())
        await pilot.pause()
        assert page.form.chosen == SETTLED[1].id
        line = next(each for each in page.app.words.splitlines() if "▶" in each)
        assert "BUY 2,000" in line


async def test_nothing_was_sent_yet() -> None:
    page = Page(())
    async with page.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "space", "v", "v")
        assert "No order was sent from here yet" in page.app.words


async def test_the_smallest_window_still_shows_how_to_leave() -> None:
    page = Page(SETTLED)
    async with page.app.run_test(size=(40, 12)):
        assert "Esc closes" in page.app.words


async def test_a_acknowledges_one_of_several_and_nothing_else() -> None:
    alike = replace(LOST, id="kd-alike", state="one of several")
    page, seen = Page([alike, replace(LOST, time_ns=1), *SETTLED]), list[str]()
    page.form = OrderHistoryForm(page.store, page.read, lambda life: seen.append(life.id))
    async with page.app.run_test(size=(80, 24)) as pilot:
        assert "a acknowledges" in page.app.words
        await pilot.press("a", "j", "a")
        assert "a acknowledges" not in page.app.words
    assert seen == ["kd-alike"]
    assert page.reads == 2


async def test_an_unconfirmed_order_is_dismissed_by_a_and_then_enter() -> None:
    page, seen = Page([LOST, *SETTLED]), list[str]()
    page.form = OrderHistoryForm(page.store, page.read, lambda life: seen.append(life.id))
    async with page.app.run_test(size=(80, 24)) as pilot:
        await pilot.press(
            "enter", "a", "j", "k", "enter", "a", "v", "v", "enter"
        )  # not asked, or no longer
        assert seen == []
        await pilot.press("a")
        await pilot.pause()
        assert "Dismiss it?" in page.app.words
        assert "Enter dismisses it" in page.app.words
        await pilot.press("enter")
    assert seen == ["kd-lost"]


async def test_a_request_is_shown_as_it_was_sent_by_a_key() -> None:
    assert 'create {"units"' not in await after("down")
    assert 'create {"units"' in await after("down", "r")


async def test_the_line_of_an_outcome_ends_at_a_word() -> None:
    outcome = "FILLED 10,000 EUR/USD @ 1.13512 no slippage 34 ms #5 SL 1.13212 TP 1.14112 set"
    page = Page([replace(SETTLED[0], outcome=clean(outcome))])
    for width in (80, 90, 100, 110):
        async with page.app.run_test(size=(width, 28)) as pilot:
            await pilot.pause()
            line = next(each for each in page.app.words.splitlines() if "▶" in each)
        page = Page([replace(SETTLED[0], outcome=clean(outcome))])
        shown = line.strip("│ ").partition("FILLED")[2].rstrip("… ")
        assert outcome.startswith(f"FILLED{shown} ") or f"FILLED{shown}" == outcome


async def test_an_order_on_a_market_with_its_own_time_names_that_clock() -> None:
    line = replace(SETTLED[0].lines[0], market_ns=WALL_NS - 10**18)
    page = Page([replace(SETTLED[0], lines=(line,), market_ns=WALL_NS - 10**18)])
    async with page.app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        text = page.app.words
    day = date_and_time(WALL_NS - 10**18)
    assert f"{day}, the market's time" in text
    assert text.count(day[11:19]) == 3, "in the list, as made, and beside the outcome"
