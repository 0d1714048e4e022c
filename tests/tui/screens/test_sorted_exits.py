"""However the trades are sorted, filtered and grouped: an exit is about the row that is shown under the cursor."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from textual.screen import ModalScreen

from keydesk.calc.orders.instructions import ClosePosition, CloseTrades
from keydesk.tables.trades import Trades
from keydesk.trading.account_changes import LabelOrder
from keydesk.trading.desk_session import DeskLock
from keydesk_client.account.valuation import rebuild_position
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled, sampled_rows


def desk(folder: Path) -> WorkingDesk:
    """A desk with two trades in euro and one in yen."""
    app = WorkingDesk(DeskLock.of(folder, "practice"))
    trades = app.store.trades
    trades["6420"] = replace(trades["6411"], id="6420", unrealized_pl=Decimal(-30), tag="late")
    rebuild_position(app.store, "EUR_USD")
    return app


@pytest.mark.parametrize(
    ("keys", "id_"),
    sampled_rows(
        [
            (("v",), "6420"),  # the cursor stays on its trade
            (("v", "v", "home"), "6420"),  # the worst first
            (("v", "v", "end"), "6411"),
            (("l", "l", "end"), "6398"),
        ],
        2,
    ),
)
async def test_a_sorted_row_is_the_one_that_is_closed(
    keys: tuple[str, ...], id_: str, tmp_path: Path
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", *keys)
        pane = app.query_one(Trades)
        app.draw()
        await pilot.pause()
        shown = pane.render_line(pane.HEAD + pane.cursor - pane.first).text
        await pilot.press("C", "y")
        [closed] = app.decided
        assert isinstance(closed, CloseTrades)
        assert closed.trade_ids == (pane.selected,)
        assert str(pane.selected) in shown
        if keys != ("l", "l", "end"):
            assert pane.selected == id_


async def test_the_key_of_labels_is_about_the_order_under_the_cursor(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "o", "K", "k", *"dip", "enter", "y")
        assert app.decided == [LabelOrder("6415", "EUR_USD", tag="dip", with_trade=True)]


async def test_a_row_of_sums_closes_the_position(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", "w", "g", "home")
        assert app.query_one(Trades).selected == "= EUR_USD"
        await pilot.press("C")
        await pilot.pause()
        assert isinstance(app.screen, ModalScreen)
        await pilot.press("y")
        [closed] = app.decided
        assert isinstance(closed, ClosePosition)
        assert closed.instrument == "EUR_USD"


async def test_a_filtered_out_trade_is_not_what_an_exit_is_about(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", "home")
        app.query_one(Trades).show_only("short")
        await pilot.pause()
        assert app.store.focus == "USD_JPY"
        await pilot.press("C", "y")
        [closed] = app.decided
        assert isinstance(closed, CloseTrades)
        assert closed.trade_ids == ("6398",)


PAGES = ("account_page", "exposure_page", "instrument_page", "outcomes", "sessions", "limits")


FORMS = (*PAGES, "modify", "buy", "scale_out", "command_line", "help")
USUAL = ("account_page", "buy", "modify")
STORM = ((40, 12), (1, 1), (200, 50), (12, 40), (120, 35), (40, 12), (80, 24))


@pytest.mark.parametrize("action", sampled(USUAL, 1))
async def test_pages_and_forms_stand_a_storm_of_sizes(action: str, tmp_path: Path) -> None:
    await stand_sizes(action, STORM[USUAL.index(action) % 2 :: 2], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("action", FORMS)
async def test_pages_and_forms_stand_the_whole_storm_of_sizes(action: str, tmp_path: Path) -> None:
    await stand_sizes(action, STORM, tmp_path)


async def stand_sizes(action: str, sizes: Sequence[tuple[int, int]], tmp_path: Path) -> None:
    """Open a page or a form, press keys at every size, and close it."""
    app = desk(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t")
        app.actions.perform(action)
        await pilot.pause()
        assert isinstance(app.screen, ModalScreen)
        for size in (*sizes, (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("j", "space", "end", "v")
            app.draw()
        await pilot.pause()
        await pilot.press("escape", "escape")  # of a ticket, the first one leaves the comment
        assert not isinstance(app.screen, ModalScreen)
