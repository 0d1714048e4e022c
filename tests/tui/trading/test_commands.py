"""Commands against the real practice broker: from a decision to the fill, the log and the words."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import NoReturn, cast

import pytest
from msgspec.structs import replace

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.instructions import (
    CancelOrders,
    ClosePosition,
    CloseTrades,
    Flatten,
    MoveEntry,
    SetProtection,
)
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import SendableLevels
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder, reversal_of
from keydesk.trading.flatten import Flattening
from keydesk.trading.open_items import OpenItems
from keydesk.trading.order_requests import HOUR_NS
from keydesk.values import TradeRow
from keydesk_client.auth.secret import Secret
from keydesk_client.client import Client
from keydesk_client.errors import Unreachable
from keydesk_client.models import (
    ClientExtensions,
    DateTime,
    LimitOrder,
    StopLossOrder,
    TrailingStopLossOrder,
)
from support.broker import PracticeServer
from support.data.entry_orders import open_order
from support.data.in_flight import in_flight

D = Decimal
PIP = D("0.0001")
FAR = D("0.01")


class Desk:
    """A connected desk without a screen."""

    def __init__(self, connection: Connection, store: Store) -> None:
        self.connection = connection
        self.store = store

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110 - the store calls nobody back, by design
                await asyncio.sleep(0.01)

    async def does(self, *instructions: object) -> str:
        """Carry out, and return what was told last."""
        for each in instructions:
            await self.connection.commands.execute(each)  # type: ignore[arg-type]
        return self.store.notices[-1].text

    def buy(self, units: int = 10_000, *, bracket: bool = True) -> OpenOrder:
        """A market order at the price seen now, bounded a cent away."""
        quote = self.store.quotes["EUR_USD"]
        return open_order(
            "EUR_USD",
            "MARKET",
            D(units),
            bound=quote.ask + FAR if units > 0 else quote.bid - FAR,
            expected=quote.ask if units > 0 else quote.bid,
            stop=quote.bid - FAR if bracket else None,
            target=quote.ask + FAR if bracket else None,
        )

    @property
    def trade(self) -> TradeRow:
        [trade] = self.store.trades.values()
        return trade

    @property
    def balance(self) -> Decimal:
        assert self.store.account is not None
        return self.store.account.balance


@pytest.fixture
async def desk(desk_of_my_own: PracticeServer, tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk on an account of its own."""
    async with desk_on(desk_of_my_own, desk_of_my_own.account_id, tmp_path) as it:
        yield it


@pytest.fixture
async def hedging_desk(desk_of_my_own: PracticeServer, tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk on an account that may hold both sides of an instrument."""
    async with desk_on(desk_of_my_own, desk_of_my_own.hedging_id, tmp_path) as it:
        yield it


@asynccontextmanager
async def desk_on(server: PracticeServer, account_id: str, tmp_path: Path) -> AsyncIterator[Desk]:
    store = Store()
    target = AccountAddress(
        server.rest_url, server.stream_url, Secret(server.token), account_id, own_broker=True
    )
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    async with open_account(target, store, folder / "journal", folder / "audit") as connection:
        running = asyncio.create_task(connection.run())
        it = Desk(connection, store)
        try:
            await it.until(lambda: "EUR_USD" in store.quotes and connection.recovered.is_set())
            yield it
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_bought_trade_is_told_with_its_stop_and_stands_on_the_desk(desk: Desk) -> None:
    text = await desk.does(desk.buy())
    assert text.startswith("FILLED 10,000 EUR/USD @ ")
    assert " stop " in text
    assert " target " in text
    assert desk.trade.units == 10_000
    assert desk.trade.stop_loss is not None
    assert desk.store.in_flight == {}


async def test_a_stop_that_only_reduces_rests_as_reduce_only_whatever_stands_before_opening(
    desk: Desk,
) -> None:
    await desk.does(desk.buy())
    price = desk.store.quotes["EUR_USD"].bid - FAR
    desk.connection.commands._opening.add("EUR_USD")  # as if an order were under way
    text = await desk.does(open_order("EUR_USD", "STOP", D(-10_000), price=price, reduces=True))
    assert text.startswith(f"RESTING SELL 10,000 EUR/USD stop {price} reduce-only #")
    [order] = [each for each in desk.store.orders.values() if each.trade_id is None]
    assert order.reduces
    assert "reduce-only" in desk.store.log[-1].text


async def test_while_a_lock_is_on_nothing_opens_and_every_exit_is_sent(desk: Desk) -> None:
    await desk.does(desk.buy())
    limit = open_order(
        "EUR_USD",
        "LIMIT",
        D(1_000),
        price=desk.store.quotes["EUR_USD"].bid - FAR,
    )
    await desk.does(limit)
    await desk.until(lambda: any(each.trade_id is None for each in desk.store.orders.values()))
    desk.connection.commands.exit_only = lambda: "LOCKED"
    for opening in (desk.buy(), limit):
        assert (await desk.does(opening)).endswith(": LOCKED")
    assert desk.trade.stop_loss is not None
    assert desk.trade.stop_loss.price is not None
    tighter = SetProtection(desk.trade.id, "EUR_USD", stop=desk.trade.stop_loss.price + PIP)
    assert (await desk.does(tighter)).startswith("DONE")
    part = await desk.does(CloseTrades("EUR_USD", (desk.trade.id,), D(5_000)))
    assert part.startswith("CLOSED 5,000")
    await desk.does(Flatten())
    await desk.until(lambda: not desk.store.trades and not desk.store.orders)
    assert any(each.text.startswith("FLAT") for each in desk.store.notices)


async def test_half_and_then_the_rest_change_the_balance_by_what_the_log_says(desk: Desk) -> None:
    await desk.does(desk.buy())
    before, trade_id = desk.balance, desk.trade.id
    text = await desk.does(CloseTrades("EUR_USD", (trade_id,), D(5_000)))
    assert text.startswith(f"CLOSED 5,000 of #{trade_id} EUR/USD")
    await desk.until(lambda: desk.trade.units == 5_000)
    await desk.does(CloseTrades("EUR_USD", (trade_id,)))
    await desk.until(lambda: not desk.store.trades)
    logged = sum(
        (line.amount for line in desk.store.log if line.kind == "CLOSE" and line.amount), D(0)
    )
    assert desk.balance == before + logged


async def test_a_part_larger_than_what_is_open_closes_all_of_it(desk: Desk) -> None:
    await desk.does(desk.buy())
    await desk.does(CloseTrades("EUR_USD", (desk.trade.id,), D(50_000)))
    await desk.until(lambda: not desk.store.trades)


async def test_the_stop_moves_and_the_target_stays(desk: Desk) -> None:
    await desk.does(desk.buy())
    assert desk.trade.stop_loss is not None
    assert desk.trade.take_profit is not None
    target_id, stop = desk.trade.take_profit.order_id, desk.trade.stop_loss.price
    assert stop is not None
    text = await desk.does(SetProtection(desk.trade.id, "EUR_USD", stop=stop + PIP))
    assert text.startswith(f"DONE stop {stop + PIP} on #{desk.trade.id}")
    await desk.until(
        lambda: desk.trade.stop_loss is not None and desk.trade.stop_loss.price == stop + PIP
    )
    assert desk.trade.take_profit.order_id == target_id

    for pips, expiry in ((2, "GFD"), (3, "")):
        at = stop + pips * PIP
        await desk.does(SetProtection(desk.trade.id, "EUR_USD", stop=at, expiry=expiry))
        stands = desk.trade.stop_loss
        assert stands is not None
        assert stands.price == at
        assert desk.store.orders[stands.order_id].time_in_force == "GFD", "a moved one lives on"


async def test_a_stop_triggers_where_it_is_told_and_keeps_that_when_it_moves(desk: Desk) -> None:
    await desk.does(desk.buy())
    trade = desk.trade
    assert trade.stop_loss is not None
    stop = trade.stop_loss.price
    assert stop is not None
    change = SetProtection(trade.id, "EUR_USD", stop=stop, trail=FAR, trigger="MID")
    text = await desk.does(change)
    assert "trigger MID" in text
    moved = SetProtection(trade.id, "EUR_USD", stop=stop + PIP, target=None)
    await desk.does(moved)
    await desk.until(lambda: trade.stop_loss is not None and trade.stop_loss.price == stop + PIP)
    assert trade.take_profit is None
    assert trade.stop_loss is not None
    assert trade.trailing_stop is not None
    for level in (trade.stop_loss, trade.trailing_stop):
        order = (await desk.connection.feed.client.orders.get(level.order_id)).order
        assert isinstance(order, StopLossOrder | TrailingStopLossOrder)
        assert order.trigger_condition == "MID"
        assert desk.store.orders[level.order_id].trigger == "MID"
    usual = SetProtection(trade.id, "EUR_USD", stop=stop + PIP, trigger="DEFAULT")
    await desk.does(usual)
    await desk.until(
        lambda: (
            trade.stop_loss is not None
            and desk.store.orders[trade.stop_loss.order_id].trigger == "DEFAULT"
        )
    )


async def test_levels_of_a_fill_end_when_the_ticket_said_and_the_trade_has_its_id(
    desk: Desk,
) -> None:
    bracket = desk.buy().request
    assert bracket.stop_loss_on_fill is not None
    assert bracket.take_profit_on_fill is not None
    ends = DateTime.from_ns(desk.store.now_ns + 4 * HOUR_NS)
    order = OpenOrder(
        bracket.with_(
            stop_loss_on_fill=bracket.stop_loss_on_fill.with_(time_in_force="GFD"),
            take_profit_on_fill=bracket.take_profit_on_fill.with_(
                time_in_force="GTD", gtd_time=ends
            ),
            trade_client_extensions=ClientExtensions(id="swing-7"),
        )
    )
    await desk.does(order)
    trade = desk.trade
    assert trade.client_id == "swing-7"
    assert trade.stop_loss is not None
    assert trade.take_profit is not None
    await desk.until(
        lambda: {trade.stop_loss.order_id, trade.take_profit.order_id} <= set(desk.store.orders)  # type: ignore[union-attr]
    )
    assert desk.store.orders[trade.stop_loss.order_id].time_in_force == "GFD"
    assert desk.store.orders[trade.take_profit.order_id].gtd_ns is not None
    text = await desk.does(order)
    assert "an open trade has this id already" in text


async def test_a_resting_order_gets_another_end_and_trigger(desk: Desk) -> None:
    price = desk.store.quotes["EUR_USD"].bid - FAR
    await desk.does(open_order("EUR_USD", "LIMIT", D(1_000), price=price))
    await desk.until(lambda: bool(desk.store.orders))
    [before] = desk.store.orders.values()
    lifetime = Lifetime("GTD 4h")
    move = MoveEntry(before.id, "EUR_USD", price, None, None, lifetime=lifetime, trigger="MID")
    await desk.does(move)
    await desk.until(lambda: before.id not in desk.store.orders and bool(desk.store.orders))
    [after] = desk.store.orders.values()
    assert after.gtd_ns is not None
    assert (after.price, after.trigger) == (price, "MID")


async def test_a_limit_order_rests_and_is_cancelled(desk: Desk) -> None:
    price = desk.store.quotes["EUR_USD"].bid - FAR
    order = open_order(
        "EUR_USD", "LIMIT", D(1_000), price=price, ends_ns=desk.store.now_ns + 4 * HOUR_NS
    )
    assert (await desk.does(order)).startswith("RESTING BUY 1,000 EUR/USD limit")
    await desk.until(lambda: bool(desk.store.orders))
    [order_id] = desk.store.orders
    text = await desk.does(CancelOrders((order_id,), "the limit"))
    assert text.startswith(f"CANCELLED BUY 1,000 EUR/USD limit {price} #{order_id}")
    await desk.until(lambda: not desk.store.orders)


async def test_a_resting_order_moves_and_keeps_what_was_not_moved(desk: Desk) -> None:
    price = desk.store.quotes["EUR_USD"].bid - FAR
    order = open_order(
        "EUR_USD",
        "LIMIT",
        D(1_000),
        price=price,
        stop=price - FAR,
        trail=FAR,
        ends_ns=desk.store.now_ns + 4 * HOUR_NS,
    )
    await desk.does(order)
    await desk.until(lambda: bool(desk.store.orders))
    [before] = desk.store.orders.values()
    move = MoveEntry(before.id, "EUR_USD", price + PIP, before.stop_loss, price + FAR)
    assert (await desk.does(move)).startswith(f"RESTING MOVE order #{before.id}")
    await desk.until(lambda: before.id not in desk.store.orders and bool(desk.store.orders))
    [after] = desk.store.orders.values()
    assert (after.price, after.stop_loss) == (price + PIP, before.stop_loss)
    assert (after.gtd_ns, after.take_profit) == (before.gtd_ns, price + FAR)
    known = (await desk.connection.feed.client.orders.get(after.id)).order
    assert isinstance(known, LimitOrder)
    assert known.trailing_stop_loss_on_fill is not None


async def test_too_large_is_told_in_words(desk: Desk) -> None:
    text = await desk.does(desk.buy(90_000_000, bracket=False))
    assert text.startswith("NOT FILLED BUY 90,000,000 EUR/USD at market: not enough ")
    assert desk.store.notices[-1].level == "bad"


async def test_what_no_longer_exists_is_told_in_words(desk: Desk) -> None:
    assert "does not exist" in await desk.does(CloseTrades("EUR_USD", ("99999",)))
    assert "does not exist" in await desk.does(CancelOrders(("99999",), "it"))


async def test_reverse_turns_the_position_in_one_order(desk: Desk) -> None:
    await desk.does(desk.buy())
    quote = desk.store.quotes["EUR_USD"]
    levels = SendableLevels(quote.bid, quote.bid - FAR, quote.ask + FAR, quote.bid - 2 * FAR, None)
    reverse = reversal_of(Draft("SELL", "EUR_USD"), D(-20_000), levels)
    text = await desk.does(reverse)
    assert text.startswith("TURNED EUR/USD +10,000 → −10,000 @ ")
    await desk.until(lambda: [each.units for each in desk.store.trades.values()] == [D(-10_000)])


async def test_flatten_closes_cancels_looks_again_and_says_flat(desk: Desk) -> None:
    price = desk.store.quotes["EUR_USD"].bid - FAR
    limit = open_order("EUR_USD", "LIMIT", D(1_000), price=price)
    await desk.does(desk.buy(), limit)
    assert await desk.does(Flatten()) == "FLAT: the account has no position and no entry order"
    await desk.until(lambda: not desk.store.trades and not desk.store.orders)


async def test_only_what_another_program_fills_is_told_as_another_programs(
    desk: Desk, desk_of_my_own: PracticeServer
) -> None:
    def told() -> list[str]:
        desk.connection.notifier.check()
        texts = [each.text for each in desk.store.notices]
        return [each for each in texts if each.startswith("BY ANOTHER PROGRAM")]

    await desk.does(desk.buy())
    await desk.does(CloseTrades("EUR_USD", (desk.trade.id,)), desk.buy(2_000), Flatten())
    await desk.until(lambda: not desk.store.trades)
    assert told() == []
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
    await desk_of_my_own.send("POST", "{a}/orders", {"order": order})
    await desk.until(lambda: bool(told()))
    [text] = told()
    assert text.startswith("BY ANOTHER PROGRAM: FILLED 1,000 EUR/USD @ ")


class SilentBroker:
    """A client of a broker that cannot be asked what is open."""

    @property
    def trades(self) -> "SilentBroker":
        return self

    async def open(self) -> NoReturn:
        raise Unreachable("no answer")


def flattening_of(desk: Desk, patience: float) -> Flattening:
    """A flattening that closes at the broker and cannot check what is left."""
    commands = desk.connection.commands
    close_all = commands.exits.close_and_cancel_all
    client = cast("Client", SilentBroker())
    return Flattening(client, desk.store, commands.dispatcher, close_all, patience)


async def test_what_was_closed_is_not_called_open_where_the_broker_cannot_be_asked(
    desk: Desk,
) -> None:
    await desk.does(desk.buy(), desk.buy())
    await desk.until(lambda: len(desk.store.trades) == 2)
    await flattening_of(desk, 60).run(None)
    text = desk.store.notices[-1].text
    assert text.startswith("NOT CHECKED: nothing is open as far as known")
    assert "#" not in text

    await desk.does(desk.buy())
    await desk.until(lambda: len(desk.store.trades) == 1)
    closing = replace(flattening_of(desk, 60), close_and_cancel=_nothing)
    await closing.run(None)
    start = "NOT FLAT: 1 trade still open as far as known. Again: X. #"
    assert desk.store.notices[-1].text.startswith(start)


async def _nothing(_: OpenItems) -> None:
    """Close nothing, as a broker does that rejects every close."""


async def test_a_flattening_without_answers_says_what_is_open_until_it_is_over(desk: Desk) -> None:
    await desk.does(desk.buy())
    flattening, answered = flattening_of(desk, 0.0), asyncio.Event()

    async def close_late(open_items: OpenItems) -> None:
        await answered.wait()
        await desk.connection.commands.exits.close_and_cancel_all(open_items)

    late = replace(flattening, client=desk.connection.commands.client, close_and_cancel=close_late)
    running = asyncio.create_task(late.run(None))
    await desk.until(lambda: desk.store.notices[-1].text.startswith("NOT FLAT after 0 s"))
    notice = desk.store.notices[-1]
    assert notice.sums_up
    assert notice.waits
    assert "1 trade still open as far as known. Again: X" in notice.text
    answered.set()
    await running
    assert desk.store.notices[-1].text.startswith("FLAT: ")
    assert not any(each.waits for each in desk.store.notices if "NOT FLAT" in each.text)


async def test_an_exit_goes_through_disarmed_with_no_price_and_an_order_in_flight(
    desk: Desk,
) -> None:
    await desk.does(desk.buy())
    desk.store.arming = Arming("DISARMED")
    desk.store.quotes.clear()
    desk.store.set_in_flight(in_flight("EUR_USD"))
    await desk.does(CloseTrades("EUR_USD", (desk.trade.id,)))
    await desk.until(lambda: not desk.store.trades)


async def test_an_old_price_is_read_again_before_anything_opens_on_it(desk: Desk) -> None:
    order = desk.buy()
    quote = desk.store.quotes["EUR_USD"]
    quote.received -= 60
    assert (await desk.does(order)).startswith("FILLED")


async def test_a_price_that_left_the_bound_is_not_sent(desk: Desk) -> None:
    seen = desk.buy()
    order = open_order("EUR_USD", "MARKET", D(1_000), bound=(seen.expected or D(1)) - FAR)
    text = await desk.does(order)
    assert "past the bound" in text
    assert desk.store.trades == {}


async def test_the_same_order_is_remembered_for_ten_seconds(desk: Desk) -> None:
    sent = desk.store.sent
    assert sent.seconds_since("EUR_USD", "MARKET", "BUY", monotonic()) is None
    await desk.does(desk.buy())
    since = sent.seconds_since("EUR_USD", "MARKET", "BUY", monotonic())
    assert since is not None
    assert since < 10
    assert sent.seconds_since("EUR_USD", "MARKET", "SELL", monotonic()) is None


async def test_two_orders_at_once_in_an_instrument_become_one(desk: Desk) -> None:
    await asyncio.gather(
        desk.connection.commands.execute(desk.buy()),
        desk.connection.commands.execute(desk.buy()),
    )
    await desk.until(lambda: bool(desk.store.trades))
    assert desk.trade.units == 10_000
    assert any("is under way" in notice.text for notice in desk.store.notices)


async def test_an_old_price_is_read_again_when_a_form_asks(desk: Desk) -> None:
    quote = desk.store.quotes["EUR_USD"]
    quote.received -= 60
    assert await desk.connection.commands.requote("EUR_USD") == ""
    assert desk.connection.commands.dispatcher.now() - quote.received < 3


async def test_a_position_of_several_trades_closes_in_one_order(desk: Desk) -> None:
    await desk.does(desk.buy(6_000), desk.buy(4_000))
    await desk.until(lambda: len(desk.store.trades) == 2)
    text = await desk.does(ClosePosition("EUR_USD", long_units="ALL"))
    assert text.startswith("CLOSED 10,000 EUR/USD @ ")
    assert " realized " in text
    await desk.until(lambda: not desk.store.positions)
    assert sum(line.kind == "CLOSE" for line in desk.store.log) == 1


async def test_a_part_of_a_position_closes_the_oldest_trade_first(desk: Desk) -> None:
    await desk.does(desk.buy(6_000), desk.buy(4_000))
    await desk.until(lambda: len(desk.store.trades) == 2)
    newest = max(desk.store.trades, key=int)
    text = await desk.does(ClosePosition("EUR_USD", long_units=D(7_000)))
    assert text.startswith("CLOSED 7,000")
    await desk.until(lambda: len(desk.store.trades) == 1)
    assert (desk.trade.id, desk.trade.units) == (newest, D(3_000))


async def test_more_than_a_position_holds_closes_all_of_it(desk: Desk) -> None:
    await desk.does(desk.buy())
    await desk.does(ClosePosition("EUR_USD", long_units=D(50_000)))
    await desk.until(lambda: not desk.store.positions)


async def test_a_side_that_is_flat_is_never_named_so_that_the_other_one_closes(desk: Desk) -> None:
    await desk.does(desk.buy())
    await desk.does(ClosePosition("EUR_USD", long_units="ALL", short_units="ALL"))
    await desk.until(lambda: not desk.store.positions)


async def test_a_position_that_is_closed_already_is_told_and_nothing_is_sent(desk: Desk) -> None:
    await desk.does(desk.buy())
    close = ClosePosition("EUR_USD", long_units="ALL")
    assert "closed already" in await desk.does(close, close)


@pytest.mark.e2e
async def test_a_position_closes_by_what_the_desk_knows_when_reading_it_again_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.does(desk.buy())

    async def silent(_instrument: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(desk.connection.feed.client.positions, "get", silent)
    await desk.does(ClosePosition("EUR_USD", long_units="ALL", short_units="ALL"))
    await desk.until(lambda: not desk.store.positions)


async def test_both_sides_of_a_hedged_position_close_and_both_are_told(hedging_desk: Desk) -> None:
    desk = hedging_desk
    await desk.does(desk.buy(6_000), desk.buy(-4_000, bracket=False))
    await desk.until(lambda: len(desk.store.trades) == 2)
    text = await desk.does(ClosePosition("EUR_USD", long_units="ALL", short_units="ALL"))
    assert text.count("CLOSED ") == 2
    assert text.count(" realized ") == 2
    await desk.until(lambda: not desk.store.positions)


async def test_one_side_of_a_hedged_position_closes_and_the_other_stays(hedging_desk: Desk) -> None:
    desk = hedging_desk
    await desk.does(desk.buy(6_000), desk.buy(-4_000, bracket=False))
    await desk.until(lambda: len(desk.store.trades) == 2)
    await desk.does(ClosePosition("EUR_USD", short_units=D(1_000)))
    await desk.until(lambda: desk.store.positions["EUR_USD"].short_units == -3_000)
    assert desk.store.positions["EUR_USD"].long_units == 6_000
