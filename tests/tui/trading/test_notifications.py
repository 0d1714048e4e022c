"""What the broker does by itself is told and stays until it was seen; what a key did is told by its command."""

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.app.account_connection import open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.trading.executions import TRIGGERED, ExecutionLog, read_executions
from keydesk.trading.notifications import Notifier
from keydesk.words.notifications import FILLS
from keydesk_client.auth.secret import Secret
from keydesk_client.models import Transaction
from support.broker import PracticeServer
from support.data.account_history import fill, fresh_store, opening, reduction, transaction
from support.data.in_flight import in_flight


def notices_after(*transactions: Transaction) -> list[Notice]:
    store = fresh_store()
    apply(store, opening(5, "10000", "1.08500"))
    notifier = Notifier(store, lambda: 0)
    for each in transactions:
        apply(store, each)
        notifier.on_transaction(each)
    return store.notices


def closing_fill(reason: str, **more: object) -> Transaction:
    part = reduction(5, "-10000", "1.08300", "-20.0000")
    members = {"units": "-10000", "pl": "-20.0000", "price": "1.08300", "tradesClosed": [part]}
    return fill(9, "EUR_USD", reason=reason, orderID="6", **(members | more))


@pytest.mark.parametrize("reason", FILLS)
def test_a_fill_that_nobody_asked_for_just_now_is_told_and_waits_to_be_seen(reason: str) -> None:
    [notice] = notices_after(closing_fill(reason))
    level, what = FILLS[reason]
    assert (notice.level, notice.waits) == (level, True)
    assert notice.text == f"{what}: CLOSED 10,000 EUR/USD @ 1.08300 realized −20.00"


@pytest.mark.parametrize("reason", ["STOP_LOSS_ORDER", "TAKE_PROFIT_ORDER"])
def test_how_far_a_fill_is_from_its_order_is_told(reason: str) -> None:
    members = {"tradeID": "5", "price": "1.09000", "timeInForce": "GTC"}
    kind = reason.removesuffix("_ORDER") + "_ORDER"
    stop = transaction(6, kind, reason="ON_FILL", triggerCondition="DEFAULT", **members)
    [notice] = notices_after(stop, closing_fill(reason))
    what = FILLS[reason][1]
    assert notice.text == f"{what}: CLOSED 10,000 EUR/USD @ 1.08300 70.0 pips worse realized −20.00"


def test_the_slippage_of_an_order_that_rested_is_kept(tmp_path: Path) -> None:
    store, log = fresh_store(), ExecutionLog(tmp_path / "a.executions")
    apply(store, opening(5, "10000", "1.08500"))
    members = {"tradeID": "5", "price": "1.08310", "timeInForce": "GTC"}
    stop = transaction(
        6, "STOP_LOSS_ORDER", reason="ON_FILL", triggerCondition="DEFAULT", **members
    )
    notifier = Notifier(store, lambda: 1, log)
    for each in (stop, closing_fill("STOP_LOSS_ORDER")):
        apply(store, each)
        notifier.on_transaction(each)
    [kept] = read_executions(log.path)
    assert (kept.instrument, kept.kind, kept.slippage) == ("EUR_USD", TRIGGERED, Decimal("1.0"))
    assert (kept.milliseconds, kept.fill_id) == (None, "9")


@pytest.mark.parametrize(
    "reason", ["MARKET_ORDER", "MARKET_ORDER_TRADE_CLOSE", "MARKET_ORDER_POSITION_CLOSEOUT"]
)
def test_what_a_key_did_is_told_by_its_command(reason: str) -> None:
    assert notices_after(closing_fill(reason)) == []


@pytest.mark.parametrize(
    "ended",
    [
        closing_fill("MARKET_ORDER"),
        closing_fill("MARKET_ORDER_TRADE_CLOSE"),
        closing_fill("MARKET_ORDER_POSITION_CLOSEOUT"),
        closing_fill("LIMIT_ORDER", batchID="6"),
    ],
)
def test_a_fill_by_another_program_is_told(ended: Transaction) -> None:
    store = fresh_store()
    apply(store, opening(5, "10000", "1.08500"))
    notifier = Notifier(store, lambda: 0)
    apply(store, ended)
    notifier.on_transaction(ended)
    notifier.check()
    notifier.check()
    [notice] = store.notices
    assert notice.text == "BY ANOTHER PROGRAM: CLOSED 10,000 EUR/USD @ 1.08300 realized −20.00"
    assert (notice.level, notice.waits) == ("warn", False)


@pytest.mark.parametrize("is_own", [True, False])
def test_a_fill_is_told_once_no_command_under_way_may_have_caused_it(is_own: bool) -> None:
    store, ended = fresh_store(), closing_fill("MARKET_ORDER_TRADE_CLOSE")
    apply(store, opening(5, "10000", "1.08500"))
    notifier = Notifier(store, lambda: 0)
    store.set_in_flight(in_flight("EUR_USD"))
    apply(store, ended)
    notifier.on_transaction(ended)
    notifier.check()
    assert store.notices == []
    if is_own:
        store.sent.own.add(ended.id)  # its answer named it
    for each in list(store.in_flight):
        store.settle(each)
    notifier.check()
    assert len(store.notices) == (0 if is_own else 1)


def test_an_entry_order_that_filled_at_once_is_told_by_its_command() -> None:
    assert notices_after(closing_fill("LIMIT_ORDER", batchID="6")) == []


def limit() -> Transaction:
    members = {"instrument": "EUR_USD", "units": "1000", "price": "1.08", "timeInForce": "GTD"}
    return transaction(6, "LIMIT_ORDER", reason="CLIENT_ORDER", **members)


def test_an_order_whose_time_is_over_is_told() -> None:
    gone = transaction(7, "ORDER_CANCEL", orderID="6", reason="TIME_IN_FORCE_EXPIRED")
    [notice] = notices_after(limit(), gone)
    assert notice.text == "ORDER ENDED: EUR/USD Limit 1.08 #6 cancelled: expired"
    assert notice.waits


@pytest.mark.parametrize(
    "reason", ["CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED", "LINKED_TRADE_CLOSED"]
)
def test_an_order_that_was_cancelled_or_went_with_its_trade_is_no_news(reason: str) -> None:
    assert notices_after(limit(), transaction(7, "ORDER_CANCEL", orderID="6", reason=reason)) == []


def test_a_margin_call_is_told_loudly() -> None:
    [notice] = notices_after(transaction(7, "MARGIN_CALL_ENTER"))
    assert (notice.level, notice.text) == ("bad", "MARGIN CALL: add funds or close positions")


@pytest.mark.e2e
async def test_an_order_that_the_real_broker_fills_by_itself_is_told(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    store, url = Store(), desk_of_my_own.rest_url
    target = AccountAddress(
        url, url, Secret(desk_of_my_own.token), desk_of_my_own.account_id, own_broker=True
    )
    orders = tmp_path / "orders"
    async with open_account(target, store, orders / "journal", orders / "audit") as connection:
        running = asyncio.create_task(connection.run())
        async with asyncio.timeout(60):
            while store.account is None or "EUR_USD" not in store.quotes:  # noqa: ASYNC110 - no call-backs
                await asyncio.sleep(0.01)
            entry = {"type": "MARKET_IF_TOUCHED", "instrument": "EUR_USD", "units": "1000"}
            ask = store.quotes["EUR_USD"].ask
            for price in (ask + Decimal("0.00001"), ask - Decimal("0.00001")):  # one comes soon
                order = entry | {"price": str(price)}
                await desk_of_my_own.send("POST", "{a}/orders", {"order": order})
            while not store.notices:  # noqa: ASYNC110 - the market comes to it
                await asyncio.sleep(0.05)
        assert store.notices[0].text.startswith("ORDER TOUCHED: FILLED 1,000 EUR/USD")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
