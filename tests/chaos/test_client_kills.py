"""A client killed in the middle of its orders: the next one knows what became of each, and doubles none.

Some are killed from outside at a random moment, of their recovery too; the others kill themselves at a step of an
intent that was drawn, because some steps are over in microseconds. The network is bad, so that answers are lost and
looked up. Each line of clients has an account and a journal of its own.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import support.ordering_process
from keydesk_client.intent import Action, Intent
from keydesk_client.journal import FileJournal
from keydesk_client.models import Transaction
from support.broker import PracticeServer, SharedPractice
from support.chaos_proxy import ChaosProxy, chaos_proxy
from support.ledgers import ledger_of
from support.order_flow import asked_by, doubled, effects
from support.ordering_process import RECOVERED, Step

PROGRAM = Path(support.ordering_process.__file__)
ENVIRONMENT = {"PYTHONPATH": str(PROGRAM.parent.parent)}
LONGEST_LIFE_S = 60.0
Place = tuple[str, str]
"""An action, and how far its intent had come."""


@dataclass
class Line:
    """Clients of one account, each after the death of the one before."""

    desk: PracticeServer
    proxy: ChaosProxy
    journal: Path
    dice: random.Random
    killed_at: Counter[Place] = field(default_factory=Counter)

    async def live_and_die(self, times: int) -> None:
        """Kill so many clients."""
        for _ in range(times):
            chance = self.dice.random()
            if chance < 0.1:
                await self.killed_after(self.dice.uniform(0.3, 1.0), wait_for_recovery=False)
            elif chance < 0.5:
                await self.killed_after(self.dice.uniform(0.0, 1.0), wait_for_recovery=True)
            else:
                await self.killed_by_itself()

    async def killed_after(self, seconds: float, *, wait_for_recovery: bool) -> None:
        process, out = await self.started("send")
        told: list[bytes] = []
        if wait_for_recovery:
            await hear(out, told, RECOVERED)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await hear(out, told)  # a full pipe would hold it back
        process.kill()
        await hear(out, told)
        await self.died(process, told)

    async def killed_by_itself(self) -> None:
        step = self.dice.choice(tuple(Step))
        process, out = await self.started("send", step.name, self.dice.randint(1, 6))
        told: list[bytes] = []
        async with asyncio.timeout(LONGEST_LIFE_S):
            await hear(out, told)
        await self.died(process, told)

    async def died(self, process: asyncio.subprocess.Process, told: list[bytes]) -> None:
        assert await process.wait() == -9, told[-3:]
        self.killed_at.update(reached(told))

    async def recovers(self) -> None:
        """Let the last client resolve what is open."""
        process, out = await self.started("recover")
        await hear(out, [])
        assert await process.wait() == 0

    async def started(
        self, mode: str, last_step: str = "", times: int = 0
    ) -> tuple[asyncio.subprocess.Process, asyncio.StreamReader]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAM),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=ENVIRONMENT,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        settings = {
            "token": self.desk.token,
            "rest_url": self.proxy.url if mode == "send" else self.desk.rest_url,
            "account_id": self.desk.account_id,
            "journal": str(self.journal),
            "mode": mode,
            "seed": str(self.dice.random()),
            "last_step": last_step,
            "times": str(times),
        }
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.write_eof()
        return process, process.stdout


async def hear(out: asyncio.StreamReader, told: list[bytes], last: bytes = b"") -> None:
    """Add what a client tells, up to this line or to its end."""
    while (line := await out.readline()) and line.strip() != last:
        told.append(line)


def reached(told: list[bytes]) -> Counter[Place]:
    """How far each intent of a client had come."""
    words = (line.decode().split() for line in told if line.count(b" ") == 2)
    return Counter({intent: (action, step) for intent, action, step in words}.values())


async def kills(desks: list[PracticeServer], folder: Path, times: int) -> Counter[Place]:
    """Kill that many clients, recover, and fail where a journal and its ledger differ."""
    faulty = chaos_proxy(desks[0].rest_url, seed=times, faulty=0.2)
    async with faulty as proxy:
        lines = [
            Line(desk, proxy, folder / desk.account_id / "orders.jsonl", random.Random(number))
            for number, desk in enumerate(desks)
        ]
        await asyncio.gather(*(line.live_and_die(times // len(desks)) for line in lines))
        await proxy.everything_arrived()
    for line in lines:
        await line.recovers()
        compare(line.journal, await ledger_of(line.desk))
    return sum((line.killed_at for line in lines), Counter())


def compare(path: Path, ledger: list[Transaction]) -> None:
    """Fail where journal and ledger differ."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    settled = {line["settled"]: line["as"] for line in lines if "settled" in line}
    intents = [Intent.from_wire(line["intent"]) for line in lines if "intent" in line]
    made = effects(ledger)
    assert doubled(ledger) == []
    assert made.keys() <= {asked_by(each) for each in intents}, "the journal knows less"
    believed = {asked_by(each) for each in intents if settled.get(each.id) == "done"}
    assert believed == made.keys()
    still_open = {intent.id for intent in FileJournal(path).open_intents()}
    assert {each.id for each in intents} == settled.keys() | still_open


async def test_kills_of_the_client_double_no_order_and_lose_sight_of_none(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(2)]
    assert (await kills(desks, tmp_path, times=4)).total() > 4


@pytest.mark.soak
async def test_two_hundred_kills_of_the_client(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(8)]
    killed_at = await kills(desks, tmp_path, times=200)
    for action in Action:
        told = {step.value: killed_at[action.value, step.name] for step in Step}
        print(f"\n{action.value}: {told}")  # noqa: T201
    for action in Action:
        unfinished = (killed_at[action.value, step.name] for step in set(Step) - {Step.SETTLED})
        assert sum(unfinished) >= 10
    for step in Step:
        assert sum(times for (_, at), times in killed_at.items() if at == step.name) >= 5
