"""A program that watches an account's alerts, as a desk and `keydesk watch` do: prices on its input, what it delivered on its output.

Arguments: the alert file; the number of the firing at whose delivery it is killed (0: it is not); seconds by which its
clock is ahead.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

from keydesk.alerts.alert_records import AlertRecords
from keydesk.alerts.watch import AlertWatch
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.records.desk_records import DeskRecords
from keydesk.store.prices import apply_price
from support.alert_watch import SECOND, D, known_market
from support.data.account_history import price

STEP_MS = 300  # of the broker's time between two prices
TESTS = Path(__file__).parents[1]


async def watch(path: Path, killed_at: int, ahead_s: int) -> None:
    """Watch until the input ends; each price is answered by "seen" when everything was delivered."""

    def deliver(fired: FiringRecord, mine: bool) -> None:
        if mine and fired.number == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        _say({"number": fired.number, "mine": mine, "late": fired.late, "text": fired.text})

    store = known_market()
    file = AlertRecords(DeskRecords(path), wall_ns=lambda: time_ns() + ahead_s * SECOND)
    alerts = AlertWatch(store, file, deliver, lambda _, text: _say({"problem": text}))
    running = asyncio.create_task(alerts.run())
    await alerts.settled()
    alerts.end_gap()
    _say({"seen": -1})
    while line := await asyncio.to_thread(sys.stdin.readline):
        at, mid = line.split()
        seconds, thousandths = divmod(int(at) * STEP_MS, 1000)
        time = f"2026-03-02T10:{seconds // 60:02}:{seconds % 60:02}.{thousandths:03}000000Z"
        bid, ask = (str(D(mid) + D(each)) for each in ("-0.0001", "0.0001"))
        apply_price(store, price("EUR_USD", bid, ask, time), float(at))
        alerts.check(float(at))
        await alerts.settled()
        _say({"seen": int(at)})
    running.cancel()


def _say(members: dict[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(members)}\n")
    sys.stdout.flush()


@dataclass
class AlertProgram:
    """The program, as a test runs it."""

    path: Path
    killed_at: int = 0
    ahead_s: int = 0
    delivered: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        arguments = (str(self.path), str(self.killed_at), str(self.ahead_s))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.alert_program", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=TESTS,
        )

    @property
    def own(self) -> list[int]:
        """The numbers of the firings that it delivered itself, not those that it saw delivered."""
        return [int(str(each["number"])) for each in self.delivered if each["mine"]]

    def send(self, at: int, mid: str) -> None:
        """Give it a price."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{at} {mid}\n")
        self.process.stdin.flush()

    def wait(self, at: int = -1) -> bool:
        """Read what it says until it has seen a price; return whether it is alive."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            members = json.loads(line)
            assert "problem" not in members, members
            if members.get("seen") == at:
                return True
            if "number" in members:
                self.delivered.append(members)
        return False

    def end(self) -> None:
        """End it and wait."""
        self.process.kill()
        self.process.communicate()


if __name__ == "__main__":
    asyncio.run(watch(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
