"""Rows of the accident table with the real practice broker, whose market stands still but for what a test lets happen."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import CloseTrades
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.auth.secret import Secret
from keydesk_client.models import DateTime, LimitOrder
from keydesk_practice.pytest_plugin import START, PracticeBroker
from support.data.entry_orders import open_order, ticket_order
from support.fakes.form_app import FormApp, example_context

pytestmark = pytest.mark.e2e

D = Decimal
HOUR_NS = 3_600_000_000_000
GAP = "0.004"  # 0.4 percent: far beyond a quarter of the distance to the template's stop


@dataclass
class Desk:
    """A connected desk without a screen."""

    broker: PracticeBroker
    connection: Connection
    store: Store

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not holds():  # noqa: ASYNC110 - the store calls nobody back, by design
                await asyncio.sleep(0.005)

    async def does(self, instruction: OpenOrder | CloseTrades) -> str:
        """Carry out, and return what was told last."""
        await self.connection.commands.execute(instruction)
        return self.store.notices[-1].text

    async def gaps_up(self) -> None:
        """Let the market jump, and wait until the desk has the price."""
        before = self.store.quotes["EUR_USD"].ask
        await asyncio.to_thread(self.broker.shock, "gap", "EUR_USD", size=GAP)
        await asyncio.to_thread(self.broker.step, 1, "S5")
        await self.until(lambda: self.store.quotes["EUR_USD"].ask > before)

    def buy(self) -> OpenOrder:
        """A bounded order at the price that is seen now, which is no old one however slow the machine is."""
        quote = self.store.quotes["EUR_USD"]
        quote.received, ask = self.connection.commands.dispatcher.now(), quote.ask
        return open_order("EUR_USD", "MARKET", D(1_000), bound=ask + D("0.0002"), expected=ask)


@pytest.fixture
async def desk(keydesk_broker: PracticeBroker, tmp_path: Path) -> AsyncIterator[Desk]:
    store, folder = Store(), tmp_path / "orders"
    folder.mkdir(mode=0o700)
    broker = keydesk_broker
    target = AccountAddress(
        broker.rest_url, broker.stream_url, Secret(broker.token), broker.account_id, own_broker=True
    )
    async with open_account(target, store, folder / "journal", folder / "audit") as connection:
        running = asyncio.create_task(connection.run())
        it = Desk(broker, connection, store)
        try:
            await it.until(lambda: "EUR_USD" in store.quotes and connection.recovered.is_set())
            store.arming = Arming("ARMED", "practice money")
            yield it
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_price_that_ran_between_preview_and_key_asks_once_more_and_fills_at_the_new_one(
    desk: Desk,
) -> None:
    context = replace(
        example_context(desk.store),
        clock=lambda: desk.store.quotes["EUR_USD"].received,  # however slow the machine is
        limits=Limits(slow_ms=1e9),
    )
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(100, 40)) as pilot:
        seen = desk.store.quotes["EUR_USD"].ask
        await desk.gaps_up()
        await pilot.press("y")
        ran = desk.store.quotes["EUR_USD"].ask
        assert app.results == []
        assert f"just moved from {seen} to {ran}" in " ".join(app.words.split())
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.expected == ran
    assert f"FILLED 10,000 EUR/USD @ {ran}" in await desk.does(order)


async def test_a_price_that_ran_between_key_and_broker_is_not_filled_beyond_the_bound(
    desk: Desk,
) -> None:
    order = desk.buy()
    await asyncio.to_thread(desk.broker.shock, "gap", "EUR_USD", size=GAP)
    await asyncio.to_thread(desk.broker.step, 1, "S5")
    text = await desk.does(order)
    assert "past the bound" in text
    assert desk.broker.account()["openTrades"] == 0


async def test_an_order_that_is_throttled_is_not_sent_and_can_be_sent_again_prices_go_on(
    desk: Desk,
) -> None:
    await desk.does(desk.buy())
    await desk.until(lambda: bool(desk.store.trades))
    [trade] = desk.store.trades.values()
    await asyncio.to_thread(desk.broker.faults, error429=1.0)
    for instruction in (desk.buy(), CloseTrades("EUR_USD", (trade.id,))):
        text = await desk.does(instruction)
        assert text.startswith("NOT SENT"), text
        assert "Again: " in text
    await desk.gaps_up()  # the price stream is no request
    assert desk.broker.account()["openTrades"] == 1
    await asyncio.to_thread(desk.broker.faults)
    assert (await desk.does(CloseTrades("EUR_USD", (trade.id,)))).startswith("CLOSED 1,000")


async def test_on_a_machine_whose_clock_is_years_off_an_expiry_counts_from_the_brokers_time(
    desk: Desk,
) -> None:
    price = desk.store.quotes["EUR_USD"].bid - D("0.0100")
    draft = Draft("BUY", "EUR_USD", "LIMIT", Entry("1000", "units"), Entry(str(price), "price"))
    order = ticket_order(replace(draft, expiry="GTD 4h"), now_ns=desk.store.now_ns)
    assert desk.store.clock_ns == DateTime(START).ns
    text = await desk.does(order)
    assert text.startswith("RESTING"), text
    orders = await desk.connection.feed.client.orders.pending()
    [resting] = [each for each in orders.orders if isinstance(each, LimitOrder)]
    assert resting.gtd_time is not None
    assert resting.gtd_time.ns == DateTime(START).ns + 4 * HOUR_NS
