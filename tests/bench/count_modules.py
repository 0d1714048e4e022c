"""Count the modules that one market order passes, in the client and in the practice broker.

    python tests/bench/count_modules.py

A sender and a broker, each a process of its own, run under `sys.setprofile`. A module is counted when one of its
functions is called between `Sender.create` and its return in every one of `ORDERS` orders: what a timer does meanwhile
is in some of them only. Functions of other libraries are not counted.
"""

import asyncio
import contextlib
import json
import os
import runpy
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

ORDERS: Final = 20
WARM_UP: Final = 3
PACKAGES: Final = ("keydesk_client.", "keydesk_practice.")


class CallRecorder:
    """Modules of our packages whose functions are called, with how many calls of each."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.is_on: bool = False

    def record(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count a call; for `sys.setprofile`."""
        if self.is_on and event == "call":
            module = frame.f_globals.get("__name__") or ""
            if module.startswith(PACKAGES):
                self.calls[module] = self.calls.get(module, 0) + 1

    def take(self) -> dict[str, int]:
        """Return the counts since the last time."""
        calls, self.calls = self.calls, {}
        return calls


def serve(folder: Path) -> None:
    """Run the practice broker; write what was called to `folder/calls` at each SIGUSR1."""
    recorder = CallRecorder()
    recorder.is_on = True

    def write(_number: int, _frame: FrameType | None) -> None:
        lines = "".join(f"{module} {calls}\n" for module, calls in recorder.take().items())
        (folder / "calls.new").write_text(lines)
        (folder / "calls.new").replace(folder / "calls")

    signal.signal(signal.SIGUSR1, write)
    threading.setprofile(recorder.record)
    sys.setprofile(recorder.record)
    sys.argv = ["practice", "serve", "--data", str(folder / "data"), "--uds", str(folder / "s")]
    runpy.run_module("keydesk_practice.__main__", run_name="__main__")


def calls_of_broker(process: int, folder: Path) -> dict[str, int]:
    """Return what the broker called since the last time."""
    written = folder / "calls"
    os.kill(process, signal.SIGUSR1)
    while not written.exists():
        time.sleep(0.001)
    lines = written.read_text().splitlines()
    written.unlink()
    return {module: int(calls) for module, calls in map(str.split, lines)}


async def count(folder: Path) -> list[dict[str, int]]:
    """Send orders, one after the other; return for each of them the calls of both processes by module."""
    from keydesk_client import Client, FileJournal, Sender  # noqa: PLC0415 - the broker's process needs none of it
    from keydesk_client.models import MarketOrderRequest  # noqa: PLC0415 - same

    broker = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--serve", str(folder), stdout=asyncio.subprocess.PIPE
    )
    recorder, counts = CallRecorder(), list[dict[str, int]]()
    try:
        assert broker.stdout is not None
        listening = json.loads(await broker.stdout.readline())
        async with Client(
            token=listening["token"],
            rest_url=listening["rest_url"],
            stream_url=listening["stream_url"],
            account_id=listening["accounts"][0]["id"],
        ) as client:
            sender = Sender(client, FileJournal(folder / "journal" / "orders.jsonl"), lambda: 1)
            order = MarketOrderRequest(instrument="EUR_USD", units=100)
            for _ in range(ORDERS + WARM_UP):
                calls_of_broker(broker.pid, folder)
                recorder.is_on = True
                sys.setprofile(recorder.record)
                await sender.create(order)
                sys.setprofile(None)
                counts.append(recorder.take() | calls_of_broker(broker.pid, folder))
    finally:
        with contextlib.suppress(ProcessLookupError):
            broker.terminate()
        await broker.wait()
    return counts[WARM_UP:]


def report(counts: list[dict[str, int]], say: Callable[[str], object]) -> None:
    """Print the modules that every order passed, with the median of the calls to each."""
    passed = set.intersection(*(set(calls) for calls in counts))
    for package in PACKAGES:
        modules = sorted(module for module in passed if module.startswith(package))
        median = {
            module: sorted(calls[module] for calls in counts)[len(counts) // 2]
            for module in modules
        }
        say(f"{package[:-1]}: {len(modules)} modules, {sum(median.values())} calls")
        for module in modules:
            say(f"  {module.removeprefix(package):40} {median[module]:4}")
    say(f"together: {len(passed)} modules")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory(dir="/tmp") as name:
            report(asyncio.run(count(Path(name))), print)
