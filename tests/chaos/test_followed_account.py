"""A followed account through cut and mute streams, lost answers, stale reads and restarts of its broker.

The faults are a profile of the practice broker, whose market runs faster than the wall clock. After each change of the
account, what the client believes is noted; the ledger, read in the end from a broker without faults, says what was true
after each transaction.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_client import (
    AccountState,
    Client,
    DateTime,
    FileJournal,
    FollowSettings,
    StreamInterrupted,
    Timeouts,
)
from keydesk_client.models import LimitOrderRequest, MarketOrderRequest, StopLossDetails
from support.broker import PracticeServer, start_practice

PAIRS = ("EUR_USD", "USD_JPY")
TOKEN = ("--token", "token-of-this-test", "--rate-limit", "100000")
SETTINGS = FollowSettings(check_every_s=0.5, stall_s=6.0, max_backoff_s=1.0)
LONG_S = 120.0
PATIENCE_S = 1.0
ELSEWHERE = 0.5
STREAM_FAULTS = """
latency_ms = 5
jitter_ms = 20
lost = 0.1
read_lag_ms = 150
duplicates = 0.2
late_ms = 100
cut_streams_s = 0.4
mute_streams_s = 1.0
"""
"""Streams that cut and fall silent, lost answers: whatever happens to a request, its look-up finds it at once."""
ALL_FAULTS = """
latency_ms = 5
jitter_ms = 40
refused = 0.03
lost = 0.05
error_429 = 0.01
error_502 = 0.03
error_503 = 0.03
cut_streams_s = 6
mute_streams_s = 20
read_lag_ms = 150
duplicates = 0.1
late_ms = 100
"""


@dataclass(frozen=True)
class Belief:
    """An account after a transaction."""

    balance: Decimal
    positions: Mapping[str, Decimal]
    trades: Mapping[str, Decimal]
    orders: frozenset[str]


def belief_of(account: AccountState) -> Belief:
    """Return what the client holds now."""
    return Belief(
        account.balance,
        {name: each.units for name, each in account.positions.items() if each.units},
        {each.id: each.units for each in account.trades.values()},
        frozenset(account.orders),
    )


def truth_of(ledger: Iterable[Mapping[str, Any]]) -> dict[str, Belief]:
    """Return the account after each transaction, by the transactions alone."""
    after: dict[str, Belief] = {}
    balance = Decimal(0)
    positions: dict[str, Decimal] = {}
    trades: dict[str, Decimal] = {}
    orders: set[str] = set()
    for each in ledger:
        balance = Decimal(each.get("accountBalance", balance))
        if each["type"].endswith("_ORDER") and each["type"] != "MARKET_ORDER":
            orders.add(each["id"])
        elif each["type"] in {"ORDER_FILL", "ORDER_CANCEL"}:
            orders.discard(each["orderID"])
        if each["type"] == "ORDER_FILL":
            name = each["instrument"]
            positions[name] = positions.get(name, Decimal(0)) + Decimal(each["units"])
            _take_fill(each, trades)
        held = {name: units for name, units in positions.items() if units}
        after[each["id"]] = Belief(balance, held, dict(trades), frozenset(orders))
    return after


def _take_fill(fill: Mapping[str, Any], trades: dict[str, Decimal]) -> None:
    if opened := fill.get("tradeOpened"):
        trades[opened["tradeID"]] = Decimal(opened["units"])
    if reduced := fill.get("tradeReduced"):
        trades[reduced["tradeID"]] += Decimal(reduced["units"])
    for closed in fill.get("tradesClosed", ()):
        del trades[closed["tradeID"]]


@dataclass
class Following:
    """An account that is followed and traded, and its broker, which is killed and started again."""

    account: AccountState
    folder: Path
    arguments: tuple[str, ...]
    desk: PracticeServer
    dice: random.Random
    beliefs: list[tuple[str, Belief]] = field(default_factory=list[tuple[str, Belief]])
    restarts: int = 0
    interruptions: int = 0

    async def note(self) -> None:
        """Note what is believed after each change."""
        async for event in self.account.events():
            self.interruptions += isinstance(event, StreamInterrupted)
            self.beliefs.append((self.account.newest, belief_of(self.account)))

    async def restart(self, *arguments: str) -> None:
        """Kill the broker as a power cut would, and start it again on its ledger."""
        await self.desk.kill()
        await self.desk.close()
        self.desk = await start_practice(self.folder, *(arguments or self.arguments))
        self.restarts += 1

    async def trade(self, until: Callable[[], bool]) -> None:
        """Send orders of every kind, one after the other, and some past the client."""
        while not until():
            await self._one_request()
            if self.dice.random() < ELSEWHERE:
                await self._trade_elsewhere()
            await self.account.wait_for(lambda: not self.account.interrupted, PATIENCE_S)

    async def _one_request(self) -> None:
        account, sender = self.account, self.account.sender
        name, units = self.dice.choice(PAIRS), self.dice.choice((-300, -200, 100, 200, 300))
        price = account.prices[name].mid
        rng = self.dice.random()
        if rng < 0.15 and account.trades:
            await sender.close_trade(self.dice.choice(list(account.trades)))
        elif rng < 0.25 and account.orders:
            await sender.cancel(self.dice.choice(list(account.orders)))
        elif rng < 0.4:
            far = account.instruments[name].round_price(price * Decimal("0.9"))
            await sender.create(LimitOrderRequest(instrument=name, units=abs(units), price=far))
        else:
            distance = account.instruments[name].round_price(price / 50)
            stop = StopLossDetails(distance=distance) if rng < 0.7 else None
            order = MarketOrderRequest(instrument=name, units=units)
            await sender.create(order if stop is None else order.with_(stop_loss_on_fill=stop))

    async def _trade_elsewhere(self) -> None:
        """Send a market order as another program of the trader would; it may be lost."""
        units = str(self.dice.choice((-50, 50, 100)))
        order = {"type": "MARKET", "instrument": self.dice.choice(PAIRS), "units": units}
        with suppress(httpx.HTTPError):
            await self.desk.send("POST", "{a}/orders", {"order": order})

    @property
    def market_time(self) -> DateTime:
        """The time of the latest price."""
        return max(each.time for each in self.account.prices.values())


@asynccontextmanager
async def following(
    folder: Path, tmp_path: Path, faults: str, *, speed: int
) -> AsyncIterator[Following]:
    """Follow an account of a broker with faults."""
    profile = tmp_path / "faults.toml"
    profile.write_text(faults)
    clear = (*TOKEN, "--speed", str(speed))
    arguments = (*clear, "--faults", str(profile))
    desk = await start_practice(folder, *arguments)
    journal = FileJournal(tmp_path / "private" / "orders.jsonl")
    timeouts = Timeouts(connect=2.0, read=2.0, whole=4.0)
    client = Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
        timeouts=timeouts,
    )
    async with (
        client,
        client.follow(journal, instruments=PAIRS, settings=SETTINGS) as account,
    ):
        await account.wait_for(lambda: account.prices.keys() >= set(PAIRS), LONG_S)
        followed = Following(account, folder, arguments, desk, random.Random(14))
        try:
            yield followed
        finally:
            await followed.desk.close()


async def follow_through_faults(followed: Following, ends: Iterable[Callable[[], bool]]) -> str:
    """Trade until each end, then restart the broker; fail if a belief is not what the ledger says."""
    account = followed.account
    noting = asyncio.create_task(followed.note())
    began = followed.market_time
    for number, end in enumerate(ends):
        if number:
            await followed.restart()
        await followed.trade(end)
    span = followed.market_time - began
    await followed.restart(*TOKEN)
    ledger = await transactions_of(followed.desk)
    assert await account.wait_for(lambda: account.newest == ledger[-1]["id"], LONG_S)
    followed.beliefs.append((account.newest, belief_of(account)))
    noting.cancel()
    truth = truth_of(ledger)
    for newest, belief in followed.beliefs:
        assert belief == truth[newest], f"after transaction {newest}"
    return (
        f"{span} of the market, {followed.restarts} restarts: {len(followed.beliefs)} beliefs equal the ledger of "
        f"{len(ledger)} transactions; interrupted {followed.interruptions} times"
    )


async def transactions_of(desk: PracticeServer) -> list[dict[str, Any]]:
    """Return the account's transactions."""
    found: list[dict[str, Any]] = []
    while True:
        last = found[-1]["id"] if found else "0"
        answer = (await desk.get("{a}/transactions/sinceid", id=last)).json()
        if not answer["transactions"]:
            return found
        found += answer["transactions"]


async def test_a_followed_account_is_the_ledgers_through_faults_and_a_restart(
    practice_folder: Path, tmp_path: Path
) -> None:
    async with following(practice_folder, tmp_path, STREAM_FAULTS, speed=30) as followed:
        rounds = count()
        await follow_through_faults(followed, [lambda: next(rounds) >= 20])
    assert len(followed.beliefs) > 1


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_an_hour_of_cuts_silences_and_restarts(practice_folder: Path, tmp_path: Path) -> None:
    async with following(practice_folder, tmp_path, ALL_FAULTS, speed=12) as followed:
        began = followed.market_time
        ends = [
            lambda end=began + timedelta(minutes=5 * part): followed.market_time >= end
            for part in range(1, 13)
        ]
        text = await follow_through_faults(followed, ends)
    sys.stdout.write(text + "\n")
    assert followed.restarts == 12
    assert len(followed.beliefs) > followed.restarts
