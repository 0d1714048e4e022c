"""The bot of the examples behind a bad link, killed again and again: what it believes is the ledger, at every step.

Each line of the bot says which positions it believes in, and up to which transaction. They are compared with the sum of
the ledger's fills up to that transaction, which is another way to the same numbers than the bot's.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from keydesk_client import FileJournal
from keydesk_client.orders.protocol import LATE_NS
from support.broker import PracticeServer, practice_server
from support.proxies.chaos_proxy import FAULTS, ChaosProxy, Fate, chaos_proxy

PROGRAM = Path(__file__).parents[2] / "client" / "examples" / "bot.py"
MAX_SILENCE_S = 120.0
FEWEST_STEPS = 3
"""A life ends after this many lines at least, so that each one recovers, trades and dies."""


@dataclass
class BotLives:
    """Bots of one account and journal, each started after the one before was killed."""

    desk: PracticeServer
    proxy: ChaosProxy
    journal: Path
    beliefs: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])
    kills: int = 0
    last_start_ns: int = 0
    """When the last bot was started, in nanoseconds since 1970."""

    @property
    def place(self) -> bytes:
        """The line that a bot reads: the broker's, behind the bad link."""
        place = {
            "rest_url": self.proxy.url,
            "stream_url": self.proxy.url,
            "token": self.desk.token,
            "accounts": [asdict(account) for account in self.desk.accounts],
        }
        return json.dumps(place).encode() + b"\n"

    async def live_until(self, end: datetime | None, span: timedelta) -> datetime:
        """Run a bot until its market has come to `end`, or `span` after its first line; kill it; return that time."""
        self.last_start_ns = time.time_ns()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(PROGRAM), str(self.journal), "1000000"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(self.place)
        process.stdin.write_eof()
        steps, now = 0, None
        async for belief in self._lines(process):
            self.beliefs.append(belief)
            steps, now = steps + 1, datetime.fromisoformat(f"{str(belief['time'])[:19]}+00:00")
            end = end or now + span
            if now >= end and steps >= FEWEST_STEPS:
                break
        process.kill()
        assert await process.wait() == -9, "the bot ended by itself"
        self.kills += 1
        assert now is not None
        return now

    async def _lines(self, process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, object]]:
        assert process.stdout is not None
        while True:
            async with asyncio.timeout(MAX_SILENCE_S):
                line = await process.stdout.readline()
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)


async def transactions_of(desk: PracticeServer) -> list[dict[str, Any]]:
    """Return the account's transactions, read past the bad link."""
    found: list[dict[str, Any]] = []
    while True:
        last = found[-1]["id"] if found else "0"
        answer = (await desk.get("{a}/transactions/sinceid", id=last)).json()
        if not answer["transactions"]:
            return found
        found += answer["transactions"]


def positions_by_id(transactions: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, Decimal]]:
    """Return the net units by instrument after each transaction, from the fills alone."""
    after: dict[int, dict[str, Decimal]] = {}
    units: dict[str, Decimal] = {}
    for each in transactions:
        if each["type"] == "ORDER_FILL":
            name = each["instrument"]
            units[name] = units.get(name, Decimal(0)) + Decimal(each["units"])
        after[int(each["id"])] = {name: size for name, size in units.items() if size}
    return after


def believed(belief: Mapping[str, object]) -> dict[str, Decimal]:
    held = belief["held"]
    assert isinstance(held, dict)
    return {name: Decimal(size) for name, size in held.items()}


def check_open_intents(lives: BotLives, executed: set[str]) -> None:
    """Check that each start settled what the earlier lives had left open and what can be told.

    Of an earlier life only an order stays open that was looked up, is not in the ledger, and was younger than `LATE_NS`
    at the last start: it might still have arrived. The last life leaves the order that it was sending, and at most one
    of which it did not find out more: to give up takes longer than the life.
    """
    of_last_life = 0
    for intent in FileJournal(lives.journal).open_intents():
        if intent.at_ns >= lives.last_start_ns:
            of_last_life += 1
            continue
        assert intent.id not in executed, "it was executed, and the next start did not find it"
        assert lives.last_start_ns - intent.at_ns <= LATE_NS, "too old to arrive, and not settled"
    assert of_last_life <= 2


async def trade_through_kills(
    folder: Path, tmp_path: Path, *, minutes: int, kills: int, speed: int
) -> BotLives:
    """Let the bot trade this many virtual minutes, killed this often; check each of its lines against the ledger."""
    async with (
        practice_server(folder, "--speed", str(speed), "--rate-limit", "100000") as desk,
        chaos_proxy(desk.rest_url, seed=minutes, faulty=0.3, faults=FAULTS, latest_s=0.3) as proxy,
    ):
        lives = BotLives(desk, proxy, tmp_path / "private" / "orders.jsonl")
        span = timedelta(minutes=minutes) / kills
        end = None
        for _ in range(kills):
            end = await lives.live_until(end, span) + span
        await proxy.everything_arrived()
        ledger = await transactions_of(desk)
    truth = positions_by_id(ledger)
    for belief in lives.beliefs:
        newest = belief["newest"]
        assert isinstance(newest, str)
        assert believed(belief) == truth[int(newest)], belief
    sent = [each.get("clientExtensions", {}) for each in ledger if each["type"] == "MARKET_ORDER"]
    ids = [each["id"] for each in sent if "id" in each]
    assert len(ids) == len(set(ids))
    check_open_intents(lives, {*ids})
    faulty = proxy.fates.total() - proxy.fates[Fate.FINE]
    sys.stdout.write(
        f"{minutes} virtual minutes, {lives.kills} kills: {len(lives.beliefs)} beliefs equal the ledger; "
        f"{len(ids)} orders, {len(ledger)} transactions, {faulty} of {proxy.fates.total()} exchanges faulty\n"
    )
    return lives


async def test_a_killed_bot_believes_what_the_ledger_holds(
    practice_folder: Path, tmp_path: Path
) -> None:
    lives = await trade_through_kills(practice_folder, tmp_path, minutes=2, kills=2, speed=60)
    assert lives.kills == 2


@pytest.mark.soak
async def test_thirty_virtual_minutes_and_ten_kills(practice_folder: Path, tmp_path: Path) -> None:
    lives = await trade_through_kills(practice_folder, tmp_path, minutes=30, kills=10, speed=10)
    assert lives.kills == 10
    assert len(lives.beliefs) > 100
