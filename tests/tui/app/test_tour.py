"""The tour: what comes next follows from what happened, and its end is kept."""

import dataclasses
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.app.settings_changes import SizePresets
from keydesk.app.tour import SHOWN_FOR, Facts, Step, Tour, end_text, step_text
from keydesk.app.window import DeskWindow
from keydesk.calc.orders.ticket_settings import Template
from keydesk.config.tour_file import ENDED, TourFile
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.guard import Guard
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.values import ClosedTrade
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp
from support.fakes.form_app import example_context

NOTHING_DONE = Facts(False, False, False, False, False)


@pytest.mark.parametrize(
    ("done", "step"),
    [
        ((), Step.CHOOSE),
        (("sizes_by_risk",), Step.CHOOSE),
        (("has_chosen",), Step.SIZE),
        (("has_chosen", "sizes_by_risk"), Step.OPEN),
        (("has_ticket",), Step.SEND),
        (("holds_trade", "has_ticket"), Step.CLOSE),
        (("has_closed",), Step.DONE),
    ],
)
def test_the_step_follows_from_what_happened(done: tuple[str, ...], step: Step) -> None:
    assert replace(NOTHING_DONE, **dict.fromkeys(done, True)).step is step


@pytest.mark.parametrize("step", list(Step)[:-1])
def test_every_step_fits_on_the_line_of_a_small_terminal(step: Step) -> None:
    assert cell_len(step_text(step, KEYMAP, "XAU/USD", "0.25%")) <= 78
    assert cell_len(end_text(KEYMAP)) <= 78


def test_a_step_names_the_key_that_the_trader_has_moved() -> None:
    own = KeyMap(overrides={"buy": "V"})
    assert "V opens the buy ticket of EUR/USD" in step_text(Step.OPEN, own, "EUR/USD", "1%")


class Toured:
    """A tour over the main screen."""

    def __init__(self, app: DeskApp, folder: Path) -> None:
        self.app, self.store = app, app.store
        self.window = DeskWindow(app, app.store, KEYMAP)
        self.presets = SizePresets(self.window, Template())
        self.path = folder / "tour"
        self.tour = Tour(self.window, self.presets, TourFile(self.path, begins=True))

    def line(self, now: float = 0.0) -> str:
        self.tour.check(now)
        return self.store.tour


def store_without_trades() -> Store:
    store = desk_store()
    store.arming = Arming("ARMED", "practice money")
    store.trades, store.closed = {}, []
    return store


async def test_each_step_is_done_by_what_happened_and_not_by_its_key(tmp_path: Path) -> None:
    trade = next(iter(desk_store().trades.values()))
    async with DeskApp(store_without_trades()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        toured = Toured(pilot.app, tmp_path)  # type: ignore[arg-type]
        store = toured.store
        assert "Tour 1/5" in toured.line()
        store.set_focus("USD_JPY")
        assert "Tour 2/5" in toured.line()
        toured.presets.choose(0, Guard(frozenset()))
        assert "Tour 3/5: B opens the buy ticket of USD/JPY" in toured.line()
        await pilot.app.push_screen(TicketForm(example_context(), "BUY", "EUR_USD"))
        assert "Tour 4/5" in toured.line()
        pilot.app.pop_screen()
        assert "Tour 3/5" in toured.line(), "the ticket was dropped"
        store.trades = {trade.id: trade}
        assert "Tour 5/5" in toured.line()
        store.trades = {}
        assert "Tour 5/5" not in toured.line(), "it has left the snapshot, but no fill closed it"
        store.closed = [ClosedTrade(trade.id, 1, Decimal(3))]
        assert "Tour done" in toured.line(now=9)
        assert toured.path.read_text().strip() == ENDED
        assert "Tour done" in toured.line(now=10)
        assert toured.line(now=10 + SHOWN_FOR) == ""


async def test_a_tour_that_is_done_does_not_begin_again_in_a_replay(tmp_path: Path) -> None:
    trade = next(iter(desk_store().trades.values()))
    async with DeskApp(store_without_trades()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        toured = Toured(pilot.app, tmp_path)  # type: ignore[arg-type]
        store = toured.store
        assert toured.line()
        store.trades = {trade.id: trade}
        assert "Tour 5/5" in toured.line()
        store.trades, store.closed = {}, [ClosedTrade(trade.id, 1, Decimal(3))]
        assert "Tour done" in toured.line()
        assert store.account is not None
        store.account = dataclasses.replace(
            store.account, created_time_ns=store.account.created_time_ns + 1
        )
        assert toured.line() == ""
        assert toured.path.read_text().strip() == ENDED
        toured.tour.begin()
        assert "Tour" in toured.line(), "it is asked for again"


async def test_a_trade_from_before_is_not_the_tours(tmp_path: Path) -> None:
    store = desk_store()
    assert store.trades
    async with DeskApp(store).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        toured = Toured(pilot.app, tmp_path)  # type: ignore[arg-type]
        assert "Tour 1/5" in toured.line()
        first = next(iter(store.trades))
        store.closed.append(ClosedTrade(first, 1, Decimal(3)))
        del store.trades[first]
        assert "Tour 1/5" in toured.line()


async def test_esc_ends_it_for_good_and_a_command_begins_it_again(tmp_path: Path) -> None:
    async with DeskApp(store_without_trades()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        toured = Toured(pilot.app, tmp_path)  # type: ignore[arg-type]
        assert toured.line()
        assert toured.tour.end()
        assert (toured.line(), TourFile.of(tmp_path).begins) == ("", False)
        assert toured.store.notices[-1].text == "The tour is over; :tour brings it back"
        assert not toured.tour.end(), "Esc has its other meanings again"
        toured.tour.begin()
        assert "Tour 1/5" in toured.line()
        assert TourFile.of(tmp_path).begins


async def test_a_disarmed_desk_is_armed_first_and_a_live_one_has_no_tour(tmp_path: Path) -> None:
    async with DeskApp(store_without_trades()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        toured = Toured(pilot.app, tmp_path)  # type: ignore[arg-type]
        toured.line()
        toured.store.set_focus("USD_JPY")
        toured.presets.choose(0, Guard(frozenset()))
        toured.store.arming = Arming("DISARMED", "keys came too fast")
        assert toured.line().startswith("Tour: A arms the desk")
        toured.tour.end()
        toured.store.health.environment = "LIVE"
        toured.tour.begin()
        assert toured.line() == ""
        assert "keydesk --practice" in toured.store.notices[-1].text


async def test_a_window_without_room_for_a_ticket_shows_no_tour(tmp_path: Path) -> None:
    async with DeskApp(store_without_trades()).run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert Toured(pilot.app, tmp_path).line() == ""  # type: ignore[arg-type]
