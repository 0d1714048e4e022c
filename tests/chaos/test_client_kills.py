"""Clients killed in the middle of their orders: the next one finds the outcome of each order, and doubles none.

Some are killed from outside at a random moment, also of their recovery; the others kill themselves at a random step of
an intent, because some steps take only microseconds. The network is bad, so that answers are lost and looked up. Each
line of clients has an account and a journal of its own; or three lines share both and send like requests, which only
the broker's RequestID, read by the proxy, tells apart.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import support.ordering_process
from keydesk_client.models import Transaction
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Action, Intent
from support.broker import PracticeServer, SharedPractice
from support.data.ledgers import ledger_of
from support.order_flow import asked_by, doubled, effect, effects
from support.ordering_process import RECOVERED, SAID, Step
from support.proxies.chaos_proxy import ChaosProxy, chaos_proxy

PROGRAM = Path(support.ordering_process.__file__)
ENVIRONMENT = {"PYTHONPATH": str(PROGRAM.parent.parent)}
MAX_LIFE_S = 60.0
MAX_LIFE_ALIKE_S = 15.0
"""Shorter: some steps, as an outcome that is Unconfirmed, are seldom reached by a process that takes turns."""
Place = tuple[str, str]
"""An action, and how far its intent had come."""
FIRST_REQUEST = Step.MEANT.name.encode()
"""Ends the line that a client tells before it writes down a request."""
SENDERS = 3
"""Processes at a time that share an account and a journal."""


@dataclass(frozen=True)
class ReportedOutcome:
    """The outcome of a request as a process reported it."""

    intent: str
    kind: str
    ids: tuple[str, ...]


@dataclass
class KilledClients:
    """Clients of one account, each started after the one before was killed."""

    desk: PracticeServer
    proxy: ChaosProxy
    journal: Path
    dice: random.Random
    killed_at: Counter[Place] = field(default_factory=Counter)
    mode: str = "send"
    without_client_ids: bool = False
    longest_life_s: float = MAX_LIFE_S
    said: list[ReportedOutcome] = field(default_factory=list[ReportedOutcome])

    async def live_and_die(self, times: int) -> None:
        """Kill this many clients."""
        for _ in range(times):
            rng = self.dice.random()
            if rng < 0.1:
                await self.killed_after(self.dice.uniform(0.3, 1.0), wait_for_recovery=False)
            elif rng < 0.5:
                await self.killed_after(self.dice.uniform(0.0, 1.0), wait_for_recovery=True)
            else:
                await self.killed_by_itself()

    async def killed_after(self, seconds: float, *, wait_for_recovery: bool) -> None:
        process, out = await self.started(self.mode)
        told: list[bytes] = []
        if wait_for_recovery:
            await hear(out, told, RECOVERED if self.mode == "send" else FIRST_REQUEST)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await hear(out, told)  # a full pipe would hold it back
        process.kill()
        await hear(out, told)
        await self.died(process, told)

    async def killed_by_itself(self) -> None:
        step = self.dice.choice(tuple(Step))
        process, out = await self.started(self.mode, step.name, self.dice.randint(1, 6))
        told: list[bytes] = []
        try:
            async with asyncio.timeout(self.longest_life_s):
                await hear(out, told)
        except TimeoutError:  # a step that is seldom reached
            process.kill()
            await hear(out, told)
        await self.died(process, told)

    async def died(self, process: asyncio.subprocess.Process, told: list[bytes]) -> None:
        assert await process.wait() == -9, told[-3:]
        self.killed_at.update(reached(told))
        self.said += outcomes_in(told)

    async def recovers(self) -> None:
        """Let the last client resolve the open intents."""
        process, out = await self.started("recover")
        told: list[bytes] = []
        await hear(out, told)
        assert await process.wait() == 0
        self.said += outcomes_in(told)

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
            "rest_url": self.desk.rest_url if mode == "recover" else self.proxy.url,
            "broker_url": self.desk.rest_url,
            "account_id": self.desk.account_id,
            "journal": str(self.journal),
            "mode": mode,
            "seed": str(self.dice.random()),
            "last_step": last_step,
            "times": str(times),
            "without_client_ids": "yes" if self.without_client_ids else "",
        }
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.write_eof()
        return process, process.stdout


async def hear(out: asyncio.StreamReader, told: list[bytes], last: bytes = b"") -> None:
    """Add the lines that a client prints, up to one with this end or to the end of its output."""
    while line := await out.readline():
        told.append(line)
        if last and line.strip().endswith(last):
            break


def reached(told: list[bytes]) -> Counter[Place]:
    """Count the steps that the intents of a client had reached."""
    words = (line.decode().split() for line in told if line.count(b" ") == 2)
    return Counter({intent: (action, step) for intent, action, step in words}.values())


def outcomes_in(told: list[bytes]) -> list[ReportedOutcome]:
    """Return the outcomes that a process reported."""
    said = (json.loads(line.removeprefix(SAID)) for line in told if line.startswith(SAID))
    return [ReportedOutcome(each["intent"], each["kind"], tuple(each["ids"])) for each in said]


async def kills(desks: list[PracticeServer], folder: Path, times: int) -> Counter[Place]:
    """Kill this many clients, recover, and fail when a journal and its ledger differ."""
    faulty = chaos_proxy(desks[0].rest_url, seed=times, faulty=0.2)
    async with faulty as proxy:
        lines = [
            KilledClients(
                desk, proxy, folder / desk.account_id / "orders.jsonl", random.Random(number)
            )
            for number, desk in enumerate(desks)
        ]
        await asyncio.gather(*(line.live_and_die(times // len(desks)) for line in lines))
        await proxy.everything_arrived()
    for line in lines:
        await line.recovers()
        compare(line.journal, await ledger_of(line.desk))
    return sum((line.killed_at for line in lines), Counter())


def compare(path: Path, ledger: list[Transaction]) -> None:
    """Fail when journal and ledger differ."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    settled = {line["settled"]: line["as"] for line in lines if "settled" in line}
    intents = journalled(path)
    made = effects(ledger)
    assert doubled(ledger) == []
    assert made.keys() <= {asked_by(each) for each in intents}, "the journal knows less"
    believed = {asked_by(each) for each in intents if settled.get(each.id) == "done"}
    assert believed == made.keys()
    still_open = {intent.id for intent in FileJournal(path).open_intents()}
    assert {each.id for each in intents} == settled.keys() | still_open


@dataclass
class Alike:
    """Counts of processes that share a journal and send like requests."""

    said: Counter[str]
    """Outcomes by kind."""
    wrong: list[str]
    """Descriptions of outcomes that are not true of their request."""
    requests: int
    carried_out: int
    kills: int
    late: int
    """Requests whose answer only the proxy heard."""


async def kills_of_senders_alike(
    desks: list[PracticeServer], folder: Path, times: int, *, faulty: float = 0.4
) -> Alike:
    """Kill this many of the processes that share an account and a journal, recover, and compare with the ledger."""
    async with chaos_proxy(desks[0].rest_url, seed=times, faulty=faulty) as proxy:
        shared = [
            [
                KilledClients(
                    desk,
                    proxy,
                    folder / desk.account_id / "orders.jsonl",
                    random.Random(f"{number} {sender}"),
                    mode="alike",
                    without_client_ids=bool(number % 2),
                    longest_life_s=MAX_LIFE_ALIKE_S,
                )
                for sender in range(SENDERS)
            ]
            for number, desk in enumerate(desks)
        ]
        each_of = times // (len(desks) * SENDERS)
        lines = [line for senders in shared for line in senders]
        await asyncio.gather(*(line.live_and_die(each_of) for line in lines))
        await proxy.everything_arrived()
    result = Alike(Counter(), [], 0, 0, each_of * len(lines), 0)
    for senders in shared:
        await senders[0].recovers()
        said = [each for line in senders for each in line.said]
        judge_alike(senders[0], await ledger_of(senders[0].desk), said, result)
    return result


def judge_alike(
    line: KilledClients, ledger: list[Transaction], said: list[ReportedOutcome], result: Alike
) -> None:
    """Compare each outcome with the effect of its request, by the RequestIDs that the proxy read."""
    intents = {each.id: each for each in journalled(line.journal)}
    requests = {line.proxy.request_ids.get(name, ""): name for name in intents} | {"": ""}
    made: dict[str, list[Transaction]] = {}
    for each in ledger:
        if effect(each) is not None or each.type.endswith("_REJECT"):
            name = requests.get(getattr(each, "request_id", None) or "", "")
            if not name:
                assert effect(each) is None, f"{each} was made by no request of the journal"
            made.setdefault(name, []).append(each)
    for name in intents:
        assert line.proxy.sent[name] <= 1, f"{name} was sent twice"
        assert len([each for each in made.get(name, ()) if effect(each)]) <= 1, f"{name} doubled"
    wrong = [w for each in said if (w := untrue(each, made.get(each.intent, ())))]
    result.wrong += wrong
    result.said.update(each.kind for each in said)
    result.requests += len(intents)
    result.carried_out += sum(any(map(effect, made.get(name, ()))) for name in intents)
    answered = {each.intent for each in said if each.kind in {"Done", "Rejected"}}
    result.late += len([name for name in intents if name in made and name not in answered])


def untrue(said: ReportedOutcome, made: Iterable[Transaction]) -> str:
    """Return why an outcome is not true of its request; empty when it is."""
    done = {each.id for each in made if effect(each) is not None}
    match said.kind:
        case "Done" if not done:
            return f"{said}: it did nothing"
        case "Done" if not done <= set(said.ids):
            return f"{said}: it made {done}"
        case "Rejected" | "NotSent" if done:
            return f"{said}: it made {done}"
        case "Ambiguous" if not done <= set(said.ids):
            return f"{said}: it made {done}, which is not among them"
        case _:
            return ""


def journalled(path: Path) -> list[Intent]:
    """Return every intent of a journal, open or not."""
    lines = map(json.loads, path.read_bytes().splitlines())
    return [Intent.from_wire(line["intent"]) for line in lines if "intent" in line]


async def test_processes_that_share_a_journal_say_what_is_true_of_each_of_their_like_requests(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(2)]
    result = await kills_of_senders_alike(desks, tmp_path, times=6)
    assert result.wrong == []
    assert result.carried_out > 0


@pytest.mark.soak
async def test_a_hundred_kills_of_processes_that_send_like_requests(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(4)]
    result = await kills_of_senders_alike(desks, tmp_path, times=96)
    print(f"\n{result}")  # noqa: T201
    assert result.wrong == []
    assert result.carried_out > 20


async def test_kills_of_the_client_double_no_order_and_lose_none(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(2)]
    assert (await kills(desks, tmp_path, times=6)).total() > 0


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
