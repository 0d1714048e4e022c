"""A client killed in the middle of its orders: the next one knows what became of each, and doubles none."""

import asyncio
import json
import random
import sys
from pathlib import Path

import pytest

import support.ordering_process
from keydesk_client.journal import FileJournal
from keydesk_client.models import Transaction
from support.broker import PracticeServer
from support.order_flow import client_id, doubled, ledger_of

PROGRAM = Path(support.ordering_process.__file__)
ENVIRONMENT = {"PYTHONPATH": str(PROGRAM.parent.parent)}


async def started(
    practice: PracticeServer, journal: Path, mode: str, seed: int
) -> asyncio.subprocess.Process:
    """A client process that has recovered."""
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
        "token": practice.token,
        "rest_url": practice.rest_url,
        "account_id": practice.account_id,
        "journal": str(journal),
        "mode": mode,
        "seed": str(seed),
    }
    process.stdin.write(json.dumps(settings).encode() + b"\n")
    process.stdin.write_eof()
    assert await process.stdout.readline() == b"recovered\n"
    return process


async def kills(practice: PracticeServer, folder: Path, times: int) -> int:
    """Kill that many clients at random moments, recover, and compare; returns how many orders were sent."""
    path = folder / "journal" / "orders.jsonl"
    dice = random.Random(times)
    for number in range(times):
        process = await started(practice, path, "send", number)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(dice.uniform(0.0, 0.3)):
                await process.wait()
        process.kill()
        await process.wait()
    last = await started(practice, path, "recover", times)
    assert await last.wait() == 0
    return compared(path, await ledger_of(practice))


def compared(path: Path, ledger: list[Transaction]) -> int:
    """Fail where journal and ledger differ."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    settled = {line["settled"]: line["as"] for line in lines if "settled" in line}
    ids = {line["intent"]["id"] for line in lines if "intent" in line}
    created = {
        line["intent"]["id"] for line in lines if line.get("intent", {}).get("action") == "create"
    }
    made = {name for each in ledger if (name := client_id(each)) is not None}
    assert doubled(ledger) == []
    assert made <= created, "the broker has orders that the journal does not know"
    believed = {name for name in created if settled.get(name) == "done"}
    assert believed == made
    still_open = {intent.id for intent in FileJournal(path).open_intents()}
    assert ids == settled.keys() | still_open
    assert not still_open & made
    return len(created)


async def test_kills_of_the_client_double_no_order_and_lose_sight_of_none(
    practice: PracticeServer, tmp_path: Path
) -> None:
    assert await kills(practice, tmp_path, times=4) > 8


@pytest.mark.soak
async def test_two_hundred_kills_of_the_client(practice: PracticeServer, tmp_path: Path) -> None:
    assert await kills(practice, tmp_path, times=200) > 1000
