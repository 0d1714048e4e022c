"""An account opens whatever is wrong with its journal: exits leave, new orders stay and say why."""

import asyncio
import errno
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.app.account_connection import open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.instructions import CloseTrades
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder
from keydesk.trading.journal import REMEDY, ROOM, UnavailableJournal, open_journal, trouble
from keydesk_client.auth.secret import Secret
from keydesk_client.orders.journal import FileJournal
from support.broker import PracticeServer
from support.data.entry_orders import open_order
from support.data.outcomes import intent
from support.fakes.form_app import FormApp, example_context
from support.full_disk import no_room

BUY = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}


def a_file_in_its_place(folder: Path) -> None:
    folder.write_text("")


def open_to_others(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def with_a_folder_for_a_journal(folder: Path) -> None:
    (folder / "journal").mkdir(parents=True)
    folder.chmod(0o700)


def of_another_user(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)


def not_to_be_written(folder: Path) -> None:
    folder.mkdir(mode=0o500)


UNUSABLE = [a_file_in_its_place, open_to_others, with_a_folder_for_a_journal]
IS_ROOT = os.geteuid() == 0
UNUSABLE += [of_another_user] if IS_ROOT else [not_to_be_written]  # nothing stops root from writing


@pytest.mark.parametrize("spoil", UNUSABLE)
def test_a_journal_that_cannot_be_kept_says_where_why_and_what_to_do(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path / "orders")
    journal = open_journal(tmp_path / "orders" / "journal")
    assert isinstance(journal, UnavailableJournal)
    assert str(tmp_path / "orders") in journal.why
    assert journal.why.endswith(REMEDY)
    assert journal.open_intents() == ()


def test_a_journal_that_can_be_kept_is_one(tmp_path: Path) -> None:
    assert isinstance(open_journal(tmp_path / "orders" / "journal"), FileJournal)


async def test_without_a_journal_an_exit_leaves_and_a_new_order_does_not(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    await desk_of_my_own.send("POST", "{a}/orders", {"order": BUY})
    store, url = Store(), desk_of_my_own.rest_url
    target = AccountAddress(
        url, url, Secret(desk_of_my_own.token), desk_of_my_own.account_id, own_broker=True
    )
    orders = tmp_path / "orders"
    a_file_in_its_place(orders)
    async with open_account(target, store, orders / "journal", orders / "audit") as connection:
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(20):
            await connection.recovered.wait()
            while not (store.trades and "EUR_USD" in store.quotes):  # noqa: ASYNC110 - no call-backs
                await asyncio.sleep(0.01)
        assert REMEDY in store.sent.no_orders
        await connection.commands.execute(open_order("EUR_USD", "MARKET", Decimal(1000)))
        said = store.notices[-1].text
        assert said.startswith("NOT SENT BUY 1,000 EUR/USD at market: the order journal")
        assert REMEDY in said
        [trade_id] = store.trades
        await connection.commands.execute(CloseTrades("EUR_USD", (trade_id,)))
        assert store.notices[-1].text.startswith("CLOSED 1,000 EUR/USD")
        assert any("NOT JOURNALLED" in notice.text for notice in store.notices)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_a_disk_that_fills_up_while_the_desk_is_open_is_told_with_its_remedy(
    tmp_path: Path,
) -> None:
    path = tmp_path / "orders" / "journal"
    journal = open_journal(path)
    with (
        no_room(),
        pytest.raises(OSError, match="make room there, until then only exits are sent") as told,
    ):
        journal.write(intent())
    assert str(path) in str(told.value)
    assert "Errno" not in str(told.value)
    journal.write(intent())  # there is room again: nothing has to be started anew
    assert journal.open_intents() == (intent(),)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_asks_for_room(code: int) -> None:
    text = trouble(OSError(code, os.strerror(code)), Path("/x/orders/main.journal"))
    assert text == f"{os.strerror(code)}: /x/orders/main.journal; {ROOM}"


async def test_a_ticket_says_beforehand_that_nothing_new_leaves() -> None:

    context = example_context()
    context.store.sent.no_orders = f"/x/orders: Read-only file system; {REMEDY}"
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        assert app.results == []
        text = " ".join(app.words.replace("┃", " ").split())
    assert f"No new orders, exits work: /x/orders: Read-only file system; {REMEDY}" in text


async def test_a_ticket_that_only_reduces_is_an_exit_and_leaves() -> None:
    context = example_context()
    context.store.sent.no_orders = f"/x/orders: No space left; {REMEDY}"
    app = FormApp(lambda: TicketForm(context, "SELL", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.reduces
