"""A command whose outcome is not known locks the opening tickets of its instrument, before and after a restart."""

import asyncio
import time
from pathlib import Path

import pytest

from keydesk.app.account_connection import open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.instructions import CloseTrades
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.close_trade import CloseForm
from keydesk.forms.trades.reverse_flatten import ReverseForm
from keydesk.store.entry_obstacles import entry_obstacle
from keydesk.store.sent_orders import EARLIER, WAITS
from keydesk.store.store import Store
from keydesk.trading.dispatcher import Dispatcher
from keydesk.trading.entry_requests import OpenOrder, Reverse
from keydesk.trading.order_history import TO_DO, read_order_histories
from keydesk.values import Command
from keydesk_client.auth.secret import Secret
from keydesk_client.models._core.json import JsonObject
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Action, Intent, Outcome, Sending, Unconfirmed, Unknown
from support.broker import PracticeServer
from support.data.desk_store import NOW, D, example_store
from support.data.outcomes import done, opening_fill
from support.fakes.form_app import FormApp, example_context
from support.fakes.recording_gate import RecordingGate
from support.walks import crossed, sampled

BUY: JsonObject = {"type": "MARKET", "instrument": "EUR_USD", "units": "20000"}
LIMIT: JsonObject = {"type": "LIMIT", "instrument": "EUR_USD", "units": "20000", "price": "1.08"}
# Every kind of command, all of EUR_USD: trade 6411 and order 6415 of the example store are.
KINDS: dict[str, tuple[Action, str, JsonObject]] = {
    "open": (Action.CREATE, "", BUY),
    "replace": (Action.REPLACE, "6415", LIMIT),
    "cancel": (Action.CANCEL, "6415", {}),
    "close of a trade": (Action.CLOSE_TRADE, "6411", {"units": "ALL"}),
    "close of a position": (Action.CLOSE_POSITION, "EUR_USD", {"longUnits": "ALL"}),
    "protection": (Action.SET_DEPENDENT_ORDERS, "6411", {"stopLoss": {"price": "1.083"}}),
}


def intent_of(kind: str, instrument: str = "") -> Intent:
    action, target, body = KINDS[kind]
    return Intent("kd-1", action, 6417, 1, "101-004-1234567-001", target, body, instrument)


async def ticket(store: Store, *keys: str, instrument: str = "EUR_USD") -> FormApp:
    """Open a buy ticket, keep what it says, then press keys."""
    app = FormApp(lambda: TicketForm(example_context(store), "BUY", instrument))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.last_text = " ".join(app.words.replace("┃", " ").split())
        await pilot.press(*keys)
    app.results = [each for each in app.results if each is not None]
    return app


async def in_this_session(store: Store, intent: Intent) -> None:
    """Send it; its answer is lost and it is not found."""
    dispatcher = Dispatcher(store, RecordingGate())

    async def answer() -> Outcome:
        dispatcher.on_progress(Sending(intent))
        dispatcher.on_progress(Unknown(intent, "read timed out"))
        lost = Unconfirmed(intent, "not found")
        dispatcher.on_progress(lost)
        return lost

    await dispatcher.send(Command("SOMETHING in EUR/USD", "close", "kd-1"), answer())


async def in_an_earlier_session(store: Store, intent: Intent) -> None:
    """Only the journal knows it: it is looked up at the start, and not found."""
    Dispatcher(store, RecordingGate()).on_progress(Unconfirmed(intent, "not found"))


@pytest.mark.parametrize(("kind", "lost"), crossed(KINDS, [in_this_session, in_an_earlier_session]))
async def test_an_unconfirmed_command_of_any_kind_locks_the_ticket_of_its_instrument(
    kind: str, lost: object
) -> None:
    store = example_store()
    assert callable(lost)
    await lost(store, intent_of(kind))
    app = await ticket(store, "y")
    assert app.results == [], "a plain y must not open beside it"
    assert "UNCONFIRMED" in app.last_text
    assert "to send" in app.last_text, "the letter asks for the trader's own decision"


@pytest.mark.parametrize("kind", sampled(KINDS, 2))
async def test_another_instrument_is_not_locked(kind: str) -> None:
    store = example_store()
    await in_an_earlier_session(store, intent_of(kind))
    app = await ticket(store, "y", instrument="EUR_GBP")
    [order] = app.results
    assert isinstance(order, OpenOrder)


async def test_one_sentence_says_what_an_order_of_an_earlier_session_holds_up() -> None:
    """The ticket of every instrument, the deal pane, what is sent, and the page of outcomes say the same."""
    store = example_store()
    store.sent.looks_up_earlier = True
    Dispatcher(store, RecordingGate()).on_progress(
        Unknown(intent_of("open"), "the desk was killed")
    )
    app = await ticket(store, "y", instrument="EUR_GBP")
    assert app.results == []
    assert "An order of an earlier session is still looked up" in app.last_text
    assert entry_obstacle(store, "EUR_GBP", NOW) == "entries wait: earlier orders are looked up"
    assert WAITS in TO_DO["unknown"]
    assert WAITS in EARLIER


@pytest.mark.parametrize("kind", KINDS)
async def test_a_command_that_is_still_looked_up_refuses_every_opening_of_its_instrument(
    kind: str,
) -> None:
    store = example_store()
    Dispatcher(store, RecordingGate()).on_progress(
        Unknown(intent_of(kind), "an earlier session ended")
    )
    app = await ticket(store, "y")
    assert app.results == []
    assert "still under way" in app.last_text


@pytest.mark.parametrize("kind", ["cancel", "close of a trade", "protection"])
async def test_the_journal_knows_the_instrument_when_order_and_trade_are_gone(kind: str) -> None:
    store = example_store()
    store.trades.clear()
    store.orders.clear()
    await in_an_earlier_session(store, intent_of(kind, "EUR_USD"))
    assert "UNCONFIRMED" in (await ticket(store, "y")).last_text
    assert (await ticket(store, "y", instrument="EUR_GBP")).results


@pytest.mark.parametrize("kind", sampled(["cancel", "close of a trade", "protection"], 2))
async def test_where_nobody_knows_the_instrument_every_opening_ticket_is_locked(kind: str) -> None:
    store = example_store()
    store.trades.clear()
    store.orders.clear()
    await in_an_earlier_session(store, intent_of(kind))
    for instrument in ("EUR_USD", "EUR_GBP", "USD_JPY"):
        app = await ticket(store, "y", instrument=instrument)
        assert app.results == []
        assert "instrument is not known" in app.last_text


@pytest.mark.parametrize("progress", [Unknown, Unconfirmed])
async def test_a_close_is_never_locked(progress: type[Unknown | Unconfirmed]) -> None:
    store = example_store()
    for kind in KINDS:
        Dispatcher(store, RecordingGate()).on_progress(progress(intent_of(kind), "lost"))
    app = FormApp(lambda: CloseForm(example_context(store), "EUR_USD", ["6411"]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
    assert app.results == [CloseTrades("EUR_USD", ("6411",))]


async def test_an_order_that_only_reduces_is_never_locked() -> None:
    store = example_store()
    Dispatcher(store, RecordingGate()).on_progress(Unknown(intent_of("open"), "lost"))
    app = FormApp(lambda: TicketForm(example_context(store), "SELL", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.reduces


async def test_a_reversal_opens_and_is_locked_too() -> None:
    store = example_store()
    Dispatcher(store, RecordingGate()).on_progress(Unknown(intent_of("close of a trade"), "lost"))
    app = FormApp(lambda: ReverseForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        assert "still under way" in app.words
    assert app.results == []


async def test_a_reversal_beside_an_unconfirmed_close_says_so() -> None:
    store = example_store()
    await in_an_earlier_session(store, intent_of("close of a trade"))
    app = FormApp(lambda: ReverseForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "UNCONFIRMED" in app.words
        await pilot.press("c")
    [order] = app.results
    assert isinstance(order, Reverse)


async def test_what_shows_up_unlocks_the_ticket() -> None:
    store = example_store()
    await in_an_earlier_session(store, intent_of("close of a trade"))
    assert "UNCONFIRMED" in (await ticket(store)).last_text
    Dispatcher(store, RecordingGate()).on_progress(done(opening_fill()))
    assert (await ticket(store, "y")).results


async def test_an_unconfirmed_close_of_the_last_session_locks_at_the_real_desk(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    await desk_of_my_own.send("POST", "{a}/orders", {"order": BUY | {"units": "1000"}})
    answer = await desk_of_my_own.send("GET", "{a}/openTrades")
    [trade] = answer.json()["trades"]
    orders = tmp_path / "orders"
    orders.mkdir(mode=0o700)
    lost = Intent(
        "kd-1",
        Action.CLOSE_TRADE,
        int(answer.json()["lastTransactionID"]),
        1,  # so long ago that one look-up is enough
        desk_of_my_own.account_id,
        trade["id"],
        {"units": "ALL"},
    )
    FileJournal(orders / "journal").write(lost)
    store, url = Store(), desk_of_my_own.rest_url
    target = AccountAddress(
        url, url, Secret(desk_of_my_own.token), desk_of_my_own.account_id, own_broker=True
    )
    async with open_account(target, store, orders / "journal", orders / "audit") as connection:
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(20):
            await connection.recovered.wait()
        [record] = store.in_flight.values()
        assert (record.instrument, record.kind, record.state) == (
            "EUR_USD",
            "close trade",
            "unconfirmed",
        )
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_while_the_broker_is_away_at_the_start_the_open_order_of_the_last_session_is_named(
    tmp_path: Path,
) -> None:
    orders = tmp_path / "orders"
    orders.mkdir(mode=0o700)
    lost = Intent("kd-1", Action.CREATE, 1, 1, "001", "", BUY, "EUR_USD")
    FileJournal(orders / "journal").write(lost)
    store, away = Store(), "http://127.0.0.1:9"
    target = AccountAddress(away, away, Secret("token"), "001", own_broker=False)
    async with open_account(target, store, orders / "journal", orders / "audit"):
        [record] = store.in_flight.values()
    assert record.line == (
        "UNKNOWN BUY 20,000 EUR/USD market: an earlier session ended before the answer came, looking it up"
    )


async def test_an_outcome_of_the_last_session_is_reported_and_kept_while_another_is_still_looked_up(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    filled = BUY | {"clientExtensions": {"id": "kd-filled"}}
    await desk_of_my_own.send("POST", "{a}/orders", {"order": filled})
    orders = tmp_path / "orders"
    orders.mkdir(mode=0o700)
    for id_ in (
        "kd-filled",
        "kd-never-arrived",
    ):  # just sent: the second one is looked up for a while
        account, body = desk_of_my_own.account_id, BUY | {"clientExtensions": {"id": id_}}
        lost = Intent(id_, Action.CREATE, 1, time.time_ns(), account, "", body, "EUR_USD")
        FileJournal(orders / "journal").write(lost)
    store, url = Store(), desk_of_my_own.rest_url
    target = AccountAddress(url, url, Secret(desk_of_my_own.token), account, own_broker=True)
    async with open_account(target, store, orders / "journal", orders / "audit") as connection:
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(20):
            while not any(notice.outcome == "kd-filled" for notice in store.notices):  # noqa: ASYNC110 - no call-backs
                await asyncio.sleep(0.01)
        assert not connection.recovered.is_set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    histories = {
        each.id: each for each in read_order_histories(orders / "journal", orders / "audit")
    }
    assert histories["kd-filled"].outcome.startswith("FILLED 20,000 EUR/USD")


async def test_the_desk_writes_the_instrument_of_an_exit_into_the_journal(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    await desk_of_my_own.send("POST", "{a}/orders", {"order": BUY | {"units": "1000"}})
    store, url = Store(), desk_of_my_own.rest_url
    target = AccountAddress(
        url, url, Secret(desk_of_my_own.token), desk_of_my_own.account_id, own_broker=True
    )
    orders = tmp_path / "orders"
    orders.mkdir(mode=0o700)
    async with open_account(target, store, orders / "journal", orders / "audit") as connection:
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(20):
            await connection.recovered.wait()
        [trade_id] = store.trades
        await connection.commands.execute(CloseTrades("EUR_USD", (trade_id,), D(1)))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    lines = (orders / "journal").read_text().splitlines()
    assert '"instrument":"EUR_USD"' in lines[0]
