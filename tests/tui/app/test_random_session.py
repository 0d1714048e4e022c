"""A random session at a practice market that stands still at each poll: the figures on the screen are the broker's.

    pytest -m soak -n0 -s tests/tui/app/test_random_session.py        # 30 minutes of the market for each account

NAV, profit, margin and closeout are compared twice: as the desk computes them from the prices, before the poll brings the
broker's own, and as the strip and the account page then show them. What is held of all currencies adds up to nothing.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.instructions import CancelOrders, ClosePosition, CloseTrades, SetProtection
from keydesk.feeds.conversions import conversions_once
from keydesk.forms.account.account_page import account_rows
from keydesk.forms.account.exposure import exposure_rows
from keydesk.panes.strips.account import AccountStrip
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.valuation import revalue
from keydesk.text.format import money, percent
from keydesk.trading.commands import Instruction
from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.arithmetic.profit import pip
from keydesk_client.auth.secret import Secret
from keydesk_client.following.feeds import check_once
from keydesk_practice.pytest_plugin import PracticeBroker
from support.data.desk_data import frame_of
from support.data.entry_orders import open_order
from support.fakes.pane_app import shown, text_of

pytestmark = pytest.mark.e2e

D = Decimal
ZERO = D(0)
HALF_A_CENT = D("0.006")  # the broker rounds each trade to four decimals
NAMES = ("EUR_USD", "USD_JPY", "GBP_USD", "EUR_GBP", "EUR_JPY", "AUD_USD", "USD_CHF")
WITHIN = 20.0  # seconds
MINUTES_OF_S5 = 12
Figures = dict[str, Any]
STRIP: dict[str, Callable[[Figures], str]] = {
    "NAV": lambda own: money(own["NAV"]),
    "uPL": lambda own: money(own["unrealizedPL"], signed=True),
    "bal": lambda own: money(own["balance"]),
    "free": lambda own: money(own["marginAvailable"]),
    "margin": lambda own: f"{percent(own['marginUsed'] / own['NAV'], 0)}%",
    "closeout": lambda own: f"{percent(own['marginCloseoutPercent'], 1)}%",
}
PAGE: dict[str, Callable[[Figures], str]] = {
    "NAV": lambda own: money(own["NAV"]),
    "NAV at mid prices": lambda own: money(own["marginCloseoutNAV"]),
    "balance": lambda own: money(own["balance"]),
    "unrealized": lambda own: money(own["unrealizedPL"], signed=True),
    "margin used": lambda own: money(own["marginUsed"]),
    "margin available": lambda own: money(own["marginAvailable"]),
}


@dataclass
class Session:
    """A connected desk, the broker asked beside it, and the dice."""

    broker: PracticeBroker
    connection: Connection
    store: Store
    http: httpx.AsyncClient
    strip: AccountStrip
    dice: random.Random
    polls: int = 0
    done: Counter[str] = field(default_factory=Counter)
    off_by: Decimal = ZERO  # at most, of the desk's own figures

    async def run(self, polls: int) -> None:
        """Let the market go on by five seconds, do something, poll and compare; so many times."""
        for _ in range(polls):
            await asyncio.to_thread(self.broker.step, 1, "S5")
            if self.dice.random() < 0.4:
                await self._act()
            await self._compare()

    async def _act(self) -> None:
        instruction = self._some_instruction()
        self.done[type(instruction).__name__] += 1
        await self.connection.commands.execute(instruction)

    def _some_instruction(self) -> Instruction:
        store, dice = self.store, self.dice
        trades = sorted(store.trades.values(), key=lambda each: each.id)
        entries = sorted(each.id for each in store.orders.values() if each.trade_id is None)
        rng = dice.random()
        if rng < 0.2 and trades:
            trade = dice.choice(trades)
            part = None if dice.random() < 0.5 else abs(trade.units) // 3 or None
            return CloseTrades(trade.instrument, (trade.id,), part)
        if rng < 0.3 and trades:
            trade = dice.choice(trades)
            away = self._pips(trade.instrument, dice.randint(8, 60))
            quote, side = store.quotes[trade.instrument], 1 if trade.units > 0 else -1
            return SetProtection(trade.instrument, trade.id, stop=quote.bid - side * away)
        if rng < 0.36 and store.positions:
            return ClosePosition(dice.choice(sorted(store.positions)), "ALL", "ALL")
        if rng < 0.42 and entries:
            return CancelOrders((dice.choice(entries),), "")
        return self._some_order()

    def _some_order(self) -> OpenOrder:
        name, units = self.dice.choice(NAMES), D(self.dice.randint(1, 30) * 1000)
        side = self.dice.choice((1, -1))
        quote, away = self.store.quotes[name], self._pips(name, self.dice.randint(15, 60))
        entry = quote.ask if side > 0 else quote.bid
        if self.dice.random() < 0.3:
            price = entry - side * self._pips(name, self.dice.randint(1, 4))
            return open_order(name, "LIMIT", side * units, price=price)
        bound = entry + side * self._pips(name, 20)
        stop, target = entry - side * away, entry + side * 2 * away
        return open_order(
            *(name, "MARKET", side * units),
            bound=bound,
            expected=entry,
            stop=stop,
            target=target,
        )

    def _pips(self, name: str, count: int) -> Decimal:
        return count * pip(self.store.instruments[name].pip_location)

    async def _compare(self) -> None:
        """Wait until the desk has the market's prices and the account's last transaction, then compare."""
        own = await self._ask("")
        await self._until_current(own)
        assert await conversions_once(self.connection.feed, NAMES)
        self._revalue()
        account = self.store.account
        assert account is not None
        for ours, theirs in (
            (account.nav, own["NAV"]),
            (account.unrealized_pl, own["unrealizedPL"]),
            (account.margin_used, own["marginUsed"]),
            (account.margin_available, own["marginAvailable"]),
            (account.mid_nav, own["marginCloseoutNAV"]),
        ):
            assert ours is not None
            self.off_by = max(self.off_by, abs(ours - theirs))
        assert self.off_by < HALF_A_CENT
        assert await check_once(self.connection.feed.follower) is None
        revalue(self.store, monotonic())
        self._compare_screen(own)
        self.polls += 1
        self.store.pop_dirty()

    async def _until_current(self, own: Figures) -> None:
        names = ",".join(sorted(self.store.positions) or ["EUR_USD"])
        found = (await self._get("/pricing", instruments=names))["prices"]
        now = {each["instrument"]: (_best(each["bids"]), _best(each["asks"])) for each in found}

        def is_current() -> bool:
            quotes = self.store.quotes
            priced = all((quotes[name].bid, quotes[name].ask) == now[name] for name in now)
            account = self.store.account
            told = account is not None and account.last_transaction_id >= own["lastTransactionID"]
            return priced and told

        await until(is_current)

    def _revalue(self) -> None:
        self.store.mark(Topic.PRICES)
        revalue(self.store, monotonic())

    def _compare_screen(self, own: Figures) -> None:
        self.strip.on_frame(frame_of(self.store, now=monotonic(), everything=True))
        line = text_of(self.strip)[0]
        for label, shows in STRIP.items():
            assert re.search(rf"  {label} (\S+)", line) is not None, line
            assert re.findall(rf"  {label} (\S+)", line)[0] == shows(own), line
        page = {str(name): str(text) for name, text in account_rows(self.store, monotonic())}
        for label, shows in PAGE.items():
            assert page[label].split()[0] == shows(own), (label, page[label])
        closeout = percent(own["marginCloseoutPercent"], 1)
        assert f" {closeout} %, closed out" in page["closeout"]
        self._check_exposure()

    def _check_exposure(self) -> None:
        rows = {str(name): str(text) for name, text in exposure_rows(self.store, monotonic())}
        if not self.store.positions:
            return
        total = D(rows["sum of all"].split()[0].replace("−", "-").replace(",", ""))
        gross = sum(
            abs(each.long_units) + abs(each.short_units) for each in self.store.positions.values()
        )
        assert abs(total) <= max(D("0.05"), gross * D("0.00002")), rows

    async def _ask(self, path: str) -> Figures:
        account = (await self._get(f"{path}/summary"))["account"]
        figures = {
            name: D(value)
            for name, value in account.items()
            if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value)
        }
        return {**figures, "lastTransactionID": int(account["lastTransactionID"])}

    async def _get(self, path: str, **query: str) -> Figures:
        answer = await self.http.get(path, params=query or None)
        assert answer.status_code == 200, answer.text
        found: Figures = answer.json()
        return found


def _best(levels: list[dict[str, str]]) -> Decimal:
    return D(levels[0]["price"])


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN):
        while not holds():  # noqa: ASYNC110 - the store calls nobody back, by design
            await asyncio.sleep(0.005)


@asynccontextmanager
async def session(
    broker: PracticeBroker, folder: Path, account_id: str, seed: int
) -> AsyncIterator[Session]:
    """A desk without keys on an account, its strip on a screen."""
    store, orders = Store(), folder / "orders"
    orders.mkdir(mode=0o700)
    target = AccountAddress(
        broker.rest_url, broker.stream_url, Secret(broker.token), account_id, own_broker=True
    )
    base = f"{broker.rest_url}/v3/accounts/{account_id}"
    headers = {"Authorization": f"Bearer {broker.token}"}
    strip = AccountStrip()
    async with (
        httpx.AsyncClient(base_url=base, headers=headers) as http,
        open_account(target, store, orders / "journal", orders / "audit") as connection,
        shown(strip, store, size=(250, 3)),
    ):
        connection.feed.follower.check_every_s = 1000.0
        running = asyncio.create_task(connection.run())
        try:
            await until(lambda: set(NAMES) <= set(store.quotes) and connection.recovered.is_set())
            yield Session(broker, connection, store, http, strip, random.Random(seed))
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


KINDS = ("netting", "hedging")


async def compare_for(broker: PracticeBroker, folder: Path, kind: str, polls: int) -> Session:
    account_id = broker.account_id if kind == "netting" else broker.hedging_account_id
    async with session(broker, folder, account_id, seed=polls) as it:
        await it.run(polls)
    assert it.polls == polls
    return it


@pytest.mark.parametrize("kind", KINDS)
async def test_a_minute_of_random_trading_shows_the_brokers_figures_at_every_poll(
    keydesk_broker: PracticeBroker, tmp_path: Path, kind: str
) -> None:
    it = await compare_for(keydesk_broker, tmp_path, kind, MINUTES_OF_S5)
    assert it.done.total() > 0


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
async def test_half_an_hour_of_random_trading_shows_the_brokers_figures_at_every_poll(
    keydesk_broker: PracticeBroker, tmp_path: Path, kind: str
) -> None:
    it = await compare_for(keydesk_broker, tmp_path, kind, 30 * MINUTES_OF_S5)
    print(f"\n{kind}: {it.polls} polls, {dict(it.done)}, off by {it.off_by} at most")  # noqa: T201
