"""A pytest plugin: a running practice broker, an account, and control of its clock and faults.

    def test_my_bot_buys_once(keydesk_broker):
        keydesk_broker.begin(scenario="franc")
        my_bot(keydesk_broker.rest_url, keydesk_broker.token, keydesk_broker.account_id)
        keydesk_broker.step(30)
        assert keydesk_broker.account()["openTrades"] == 1

The broker is a process of its own, started by the first test that asks for it: one for each worker of pytest-xdist, on a
free port and in a temporary folder. It ends with pytest, however pytest ends. Each test begins with fresh accounts at the
same time, paused, without faults. This module imports the standard library and pytest only, until the fixture is used.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

START = "2019-06-05T10:00:00Z"  # a Wednesday morning in London
START_SECONDS = 60.0
STOP_SECONDS = 10.0
Json = dict[str, Any]


class BrokerNotStarted(Exception):
    """The broker did not start; the text is its error output."""


@dataclass(slots=True)
class PracticeBroker:
    """A running practice broker: its addresses, tokens and accounts, and its control operations."""

    rest_url: str
    stream_url: str
    token: str
    account_id: str  # US dollars, netting
    hedging_account_id: str  # euros, hedging
    data: Path
    _client: Any = field(default=None, repr=False)

    def begin(self, start: str | None = None, **replay: Any) -> Json:  # noqa: ANN401 - JSON
        """Begin anew at a time, or with `scenario="franc"`, `random=True, blind=True`, `balance=...`; paused."""
        chosen = replay if start is None else {"start": start, **replay}
        if not {"start", "scenario", "random"} & chosen.keys():
            chosen = {"start": START, **chosen}
        return self.control("POST", "/replay", {"keepLedger": False, **chosen})

    def pause(self) -> Json:
        """Stop the market's time."""
        return self.control("POST", "/clock/pause", {})

    def play(self, speed: float = 1.0) -> Json:
        """Let the market run, so many market seconds a second."""
        return self.control("POST", "/clock/play", {"speed": speed})

    def step(self, candles: int = 1, granularity: str = "M1") -> Json:
        """Pause, and go on to the end of the candle in progress, or of the `candles`-th one."""
        body = {"candles": candles, "granularity": granularity}
        return self.control("POST", "/clock/step", body)

    def jump(self, time: str) -> Json:
        """Go on to a later time; orders trigger on the way."""
        return self.control("POST", "/clock/jump", {"time": time})

    def shock(self, kind: str, instrument: str | None = None, **more: Any) -> Json:  # noqa: ANN401 - JSON
        """Let a `spike`, `gap`, `halt`, wide `spread` or thin `depth` happen."""
        named = {} if instrument is None else {"instrument": instrument}
        return self.control("POST", "/shocks", {"kind": kind, **named, **more})

    def faults(self, name: str | None = None, **profile: Any) -> Json:  # noqa: ANN401 - JSON
        """Simulate faults: a profile by name, such as `bad-day`, or members such as `latencyMs=200`; without either, none."""
        if name is None and not profile:
            return self.control("DELETE", "/faults")
        body: Json = {"profile": profile} if name is None else {"name": name}
        return self.control("PUT", "/faults", body)

    def add_account(self, **terms: Any) -> Json:  # noqa: ANN401 - JSON
        """Add an account: `currency`, `hedging`, `fifo`, `balance`, `marginRate`, `alias`."""
        return self.control("POST", "/accounts", terms)

    def account(self, account_id: str | None = None) -> Json:
        """Return balance, NAV and counts of an account."""
        id_ = account_id or self.account_id
        accounts: list[Json] = self.state()["accounts"]
        return next(one for one in accounts if one["id"] == id_)

    def state(self) -> Json:
        """Return the market's time, what is going on in it, and its accounts."""
        return self.control("GET", "/state")

    def control(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send any request of the control interface."""
        answer: Json = self._client.call(method, path, body)
        return answer


@contextlib.contextmanager
def running_broker(*arguments: str) -> Iterator[PracticeBroker]:
    """Run a broker for the length of the block; `arguments` as for `keydesk practice serve`."""
    from keydesk_practice.control.client import ControlClient  # noqa: PLC0415 - not before it is used

    folder = Path(tempfile.mkdtemp(prefix="keydesk-"))
    theirs, ours = os.pipe()
    log = (folder / "log").open("w+b")
    command = [sys.executable, "-m", "keydesk_practice.__main__", "serve", "--port", "0"]
    place = ["--data", str(folder / "data"), "--parent-fd", str(theirs)]
    clock = ["--start", START, "--paused"]
    process = subprocess.Popen(  # noqa: S603 - our own module, by the running interpreter
        [*command, *place, *clock, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        pass_fds=(theirs,),
    )
    os.close(theirs)
    try:
        members = json.loads(_first_line(process, log))
        accounts = [str(one["id"]) for one in members["accounts"]]
        client = ControlClient.of_data_folder(folder / "data")
        yield PracticeBroker(
            rest_url=members["rest_url"],
            stream_url=members["stream_url"],
            token=members["token"],
            account_id=accounts[0],
            hedging_account_id=accounts[1],
            data=folder / "data",
            _client=client,
        )
    finally:
        os.close(ours)  # the broker ends with it
        _stop(process)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def keydesk_broker_process() -> Iterator[PracticeBroker]:
    """The broker of this test run, or of this worker."""
    with running_broker() as broker:
        yield broker


@pytest.fixture
def keydesk_broker(keydesk_broker_process: PracticeBroker) -> PracticeBroker:
    """A practice broker with fresh accounts, paused on a Wednesday morning of 2019, without faults."""
    keydesk_broker_process.faults()
    keydesk_broker_process.begin()
    return keydesk_broker_process


def _first_line(process: "subprocess.Popen[bytes]", log: IO[bytes]) -> bytes:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    line = process.stdout.readline() if ready else b""
    if not line:
        log.seek(0)
        text = log.read().decode(errors="replace").strip()
        raise BrokerNotStarted(text or f"the broker printed nothing in {START_SECONDS:g} s")
    return line


def _stop(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
