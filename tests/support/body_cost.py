"""A client in a process of its own that asks for an answer, and tells what reading it cost.

    python -m support.body_cost URL KIND      # prints a JSON line: error, megabytes, held_ms, slowness

The first answer warms the process up, the second one is measured: the highest memory beyond what was held before, and
the longest time for which the event loop's thread was busy without a break, in processor time. A processor that is
shared does less in the same processor time: `slowness` is how many times as long a known piece of work took right after it.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from keydesk_client import Client, Limiter, Retries
from keydesk_client.errors import KeydeskClientError

KINDS: dict[str, Callable[[Client], Awaitable[object]]] = {
    "account": lambda client: client.accounts.get(),
    "candles": lambda client: client.candles.get("EUR_USD", granularity="M5", count=5000),
    "order": lambda client: client.orders.cancel("1"),
    "prices": lambda client: client.pricing.get(["EUR_USD"]),
    "trades": lambda client: client.trades.list(count=500),
    "transactions": lambda client: client.transactions.range(1, 500),
}


async def main(url: str, kind: str) -> None:
    """Ask twice, measure the second."""
    async with Client(
        token="t",
        rest_url=url,
        stream_url=url,
        account_id="1",
        limiter=Limiter(rate=10_000),
        retries=Retries(max_retries=0),
    ) as client:
        await _asked(client, kind)
        before = _peak_megabytes(reset=True)
        watch = asyncio.create_task(_watched())
        error = await _asked(client, kind)
        noted = len(HELD)
        while len(HELD) < noted + 4:  # noqa: ASYNC110 - the watch sees what held the loop once that is over
            await asyncio.sleep(0.001)
        watch.cancel()
        held = max(HELD, default=0.0)
        told = {
            "error": error,
            "megabytes": _peak_megabytes() - before,
            "held_ms": held * 1000,
            "slowness": _slowness(),
        }
        sys.stdout.write(json.dumps(told) + "\n")


HELD: list[float] = []
KNOWN_WORK = b"[" + b",".join([b'{"id":"7","units":"1.5"}'] * 40_000) + b"]"
KNOWN_SECONDS = 0.014  # of processor time on a machine of our own that did nothing else


async def _watched() -> None:
    while True:
        began = time.thread_time()
        await asyncio.sleep(0)
        HELD.append(time.thread_time() - began)
        await asyncio.sleep(0.001)
        HELD.append(time.thread_time() - began)


async def _asked(client: Client, kind: str) -> str:
    try:
        await KINDS[kind](client)
    except KeydeskClientError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _slowness() -> float:
    """How many times as long a known piece of work takes just now as on a machine that does nothing else."""
    taken = []
    for _ in range(3):
        began = time.thread_time()
        json.loads(KNOWN_WORK)
        taken.append(time.thread_time() - began)
    return sorted(taken)[1] / KNOWN_SECONDS


def _peak_megabytes(*, reset: bool = False) -> float:
    """The highest resident size so far; `reset` forgets it, so that from now on a new one is noted."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
