"""The screen is kept as text when a fill opens or closes a trade."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from keydesk.app.journal.screen_keeper import ScreenKeeper, moments_of
from keydesk.forms.details_form import DetailsForm
from keydesk.trade_journal.screens import read_screens
from keydesk.trading.desk_session import DeskLock
from keydesk_client.models import Transaction
from support.data.journal_service import JournalService
from support.data.journal_trades import closed_trade
from support.fakes.working_desk import WorkingDesk
from support.practised_account import PractisedAccount


def fills() -> list[Transaction]:
    """Return the history of an account that opened a trade, took a part off it, turned it round."""
    account = PractisedAccount()
    account.trade("EUR_USD", 3000)
    account.trade("EUR_USD", -4000)
    return JournalService(account).history


def test_fills_open_and_close_trades_and_other_transactions_do_neither() -> None:
    found = [moment for each in fills() for moment in moments_of(each)]
    assert [what for _, what in found] == ["entry", "entry", "exit"]
    assert found[0][0] == found[2][0]


@pytest.mark.parametrize("age_s", [1, 3600])
async def test_only_a_fill_of_just_now_keeps_the_screen(age_s: int, tmp_path: Path) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    keeper = ScreenKeeper(app, app.store)
    kept: list[tuple[str, str]] = []
    delays: list[float] = []

    def timer(delay: float, keep: partial[None]) -> None:
        delays.append(delay)
        kept.append(keep.args[:2])

    keeper._app = cast("WorkingDesk", SimpleNamespace(set_timer=timer))
    history = fills()
    for each in history:
        app.store.clock_ns = each.time.ns + age_s * 1_000_000_000
        keeper.on_transaction(each)
    assert len(kept) == (3 if age_s == 1 else 0)
    assert all(delay > 0 for delay in delays)


async def test_the_desk_is_kept_without_the_form_over_it_or_the_accounts_number(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "journal" / "main.screens"
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    trade = closed_trade("1", 7)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        keeper = ScreenKeeper(app, app.store)
        keeper.open(folder)
        app.push_screen(DetailsForm("Secret form", [("of", "the trader")]))
        await pilot.pause()
        keeper.save("7", "entry", trade.opened_ns)
        await app.workers.wait_for_complete()
        assert keeper.trades_with_screen == {"7"}
        assert app.store.account is not None
        number = app.store.account.id
    [found] = read_screens(folder, trade)
    text = "\n".join(found.lines)
    assert "EUR/USD" in text
    assert "Secret form" not in text
    assert number not in text
    assert number[-4:] in text
