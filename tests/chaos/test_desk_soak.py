"""Random keys, sizes, faults and hostile values at once against the real desk in a real terminal.

    pytest -m soak tests/chaos/test_desk_soak.py                      # 20 minutes each of three seeds

The desk reaches the practice broker through a proxy that cuts, mutes and garbles and through one that puts hostile text
into every answer. It must neither crash nor pass a foreign control byte on, hold its memory, and send nothing that no
confirming key asked for.
"""

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.proxies.chaos_proxy import FAULTS, ChaosProxy, chaos_proxy
from support.proxies.poisoning_proxy import Poison, PoisoningProxy, poisoning_proxy
from support.signing_in import Home, address_words
from support.terminal import NeverSeen, Terminal, keydesk
from support.terminal_bytes import foreign_pieces

LARGEST = (250, 80)
USUAL = ((80, 24), (120, 35), (200, 50))
ODD = ((1, 1), (20, 5), (79, 24), (80, 23), (40, 12), (250, 80), (81, 25), (2, 80), (250, 2))
CONFIRMING = frozenset("ycdfvz")
OPENING = "BSCOEPMTDZRXA"
PLAIN = "jkhlgwctopbnmrqtueis0123456789-=.,/:?'%a \t\r\x7f"
SEQUENCES = (b"\x1b", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[5~", b"\x1b[6~", b"\x1b[Z")
PASTES = (b"\x1b[200~By\r\x1b[201~", b"\x1b[200~never ended", b"By\r", b"yyyy", b"\x1b[201~")
LEFT_BY_KEYS = frozenset({0, 130})  # :q or Ctrl-C twice
SETTLED = 180.0  # seconds after which the memory is taken for the first time
GROWTH = 10_000  # kB
ARMED_WITHIN = 10.0  # seconds
WHOLE = float(os.environ.get("SOAK_SECONDS", "1200"))
SCREEN_TAKEN = b"\x1b[?1049h"
LOOK = 5.0  # seconds between two looks at what was written


@dataclass
class Soak:
    """What happened so far."""

    random: random.Random
    desk: Callable[[], Terminal]
    journal: Path
    account_id: str
    confirms: int = 0
    starts: int = 0
    keys: int = 0
    sizes: int = 0
    memory: list[int] = field(default_factory=list)

    def actions(self) -> Counter[str]:
        """Count the requests in the desk's journals, by what they do."""
        lines = [
            json.loads(line)
            for path in self.journal.rglob("*.journal")
            for line in path.read_text(errors="replace").splitlines()
            if line.startswith('{"intent"') and line.endswith("}")
        ]
        return Counter(str(line["intent"]["action"]) for line in lines)

    def run(self, seconds: float, *, may_confirm: Callable[[], bool]) -> None:
        """Type, resize and look for that long; start the desk anew when the keys left it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.starts += 1
            with self.desk() as terminal:
                # What is typed before would be echoed by the terminal, not written by the desk.
                terminal.until(lambda: SCREEN_TAKEN in terminal.raw)
                if may_confirm():
                    self._arm(terminal)
                self._drive(terminal, until, may_confirm)

    def _arm(self, terminal: Terminal) -> None:
        """Let the keyboard open risk, as far as the account is shown by now; accidents disarm it again."""
        with suppress(NeverSeen):
            terminal.see("exit only", ARMED_WITHIN)
            terminal.press("A", *self.account_id[-3:])

    def _drive(self, terminal: Terminal, until: float, may_confirm: Callable[[], bool]) -> None:
        started = looked = time.monotonic()
        first: int | None = None
        while time.monotonic() < until:
            self._act(terminal, may_confirm())
            now = time.monotonic()
            if now - looked > LOOK:
                looked = now
                self._check_output(terminal)
            if terminal.exit_code is None and not terminal.is_running:
                code = terminal.wait_for_exit()
                assert code in LEFT_BY_KEYS, f"exit {code}: {bytes(terminal.raw[-3000:])!r}"
            if terminal.exit_code is not None:
                break
            if now - started > SETTLED:
                used = memory_of(terminal.pid)
                first = first or used
                self.memory.append(used - first)
                assert used - first < GROWTH, f"{used} kB, {first} kB after {SETTLED:g} s"
        self._check_output(terminal)

    def _check_output(self, terminal: Terminal) -> None:
        """Look at what was written, up to the last whole sequence."""
        end = terminal.raw.rfind(b"\x1b") if terminal.exit_code is None else len(terminal.raw)
        written = bytes(terminal.raw[: max(end, 0)])
        assert list(foreign_pieces(written, LARGEST))[:5] == []
        assert b"Traceback" not in written, written[-4000:]
        del terminal.raw[: len(written)]

    def _act(self, terminal: Terminal, may_confirm: bool) -> None:
        draw = self.random.random()
        if draw < 0.04:
            self.sizes += 1
            terminal.resize(*self.random.choice(USUAL if self.random.random() < 0.6 else ODD))
        elif draw < 0.07:
            self._write(terminal, bytes(self.random.randrange(256) for _ in range(9)), may_confirm)
        elif draw < 0.09:
            self._write(terminal, self.random.choice(PASTES), may_confirm)
        elif draw < 0.2:
            self._write(terminal, self.random.choice(SEQUENCES), may_confirm)
        elif draw < 0.35:
            self._write(terminal, self.random.choice(OPENING).encode(), may_confirm)
        elif draw < 0.5 and may_confirm:
            self._write(terminal, self.random.choice("yyyycdfvz").encode(), may_confirm)
        else:
            self._write(terminal, self.random.choice(PLAIN).encode(), may_confirm)
        terminal.pause(self.random.choice((0.01, 0.05, 0.1, 0.3, 0.35)))

    def _write(self, terminal: Terminal, data: bytes, may_confirm: bool) -> None:
        if not may_confirm:
            data = bytes(byte for byte in data if chr(byte) not in CONFIRMING)
        elif CONFIRMING & set(data.decode("latin-1")):
            self.confirms += 1
        self.keys += len(data)
        if data:
            terminal.write(data)


def memory_of(pid: int) -> int:
    """Return the resident memory of a process, kB."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0)


async def soak_the_desk(
    practice: PracticeServer, home: Home, seed: int, seconds: float
) -> tuple[Soak, PoisoningProxy, ChaosProxy]:
    """Run the desk for so many seconds: a third of them without any confirming key."""
    dice = random.Random(seed)
    with poisoning_proxy(practice, Poison(seed=seed)) as poisoning:
        place = [*address_words(poisoning.url), "--account", practice.account_id]
        done = await asyncio.to_thread(
            home.run, "login", "main", *place, *home.unlocked, stdin=practice.token + "\n"
        )
        assert done.returncode == 0, done.stderr
        async with chaos_proxy(poisoning.url, seed=seed, faulty=0.0, faults=FAULTS) as chaos:
            config = home.folder / "config" / "config.toml"
            found = next(iter([config, *home.folder.rglob("config.toml")]))
            found = found if found.exists() else next(home.folder.rglob("config.toml"))
            found.write_text(found.read_text().replace(poisoning.url, chaos.url))
            poisoning.poison = Poison(seed=seed, active=True, names=0.1, ids=bool(seed % 2))
            poisoning.poison.types, poisoning.poison.refuses = 0.05, 0.1
            profile = ["--profile", "main", *home.unlocked]
            soak = Soak(
                dice,
                lambda: Terminal(keydesk(*profile), dice.choice(USUAL), home.env),
                home.folder,
                practice.account_id,
            )
            weather = asyncio.create_task(_change_the_weather(chaos, dice))
            try:
                await asyncio.to_thread(soak.run, seconds / 3, may_confirm=lambda: False)
                assert not soak.actions()
                assert await ledger_requests(practice) == 0
                await asyncio.to_thread(soak.run, seconds * 2 / 3, may_confirm=lambda: True)
            finally:
                weather.cancel()
    assert poisoning.faults == []
    return soak, poisoning, chaos


async def _change_the_weather(chaos: ChaosProxy, dice: random.Random) -> None:
    """Alternate between quiet and faulty periods."""
    while True:
        chaos.faulty = dice.choice((0.0, 0.0, 0.1, 0.4, 1.0))
        await asyncio.sleep(dice.uniform(3, 15))


async def ledger_requests(practice: PracticeServer) -> int:
    """Count the requests of clients that the broker acted upon: each made one batch of transactions."""
    answer = await practice.get("{a}/transactions/sinceid", id="1")
    asked = {"CLIENT_ORDER", "CLIENT_REQUEST", "TRADE_CLOSE", "POSITION_CLOSEOUT"}
    made = [each for each in answer.json()["transactions"] if "REJECT" not in each["type"]]
    return len({each["batchID"] for each in made if each.get("reason") in asked})


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.soak)])
async def test_a_short_storm_ends_nothing_and_sends_nothing_unasked(
    practice: PracticeServer, tmp_path: Path, seed: int
) -> None:
    soak, poisoning, _ = await soak_the_desk(practice, Home(tmp_path / "home"), seed, 30.0)
    assert soak.keys > 50
    assert poisoning.poison.count > 100
    assert await ledger_requests(practice) <= soak.actions().total()
    assert soak.actions()["create"] <= soak.confirms


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_twenty_minutes_of_keys_sizes_faults_and_hostile_values(
    practice: PracticeServer, tmp_path: Path, seed: int
) -> None:
    try:
        soak, poisoning, chaos = await soak_the_desk(practice, Home(tmp_path / "home"), seed, WHOLE)
    except NeverSeen as error:
        raise AssertionError(f"seed {seed}") from error
    actions, found = soak.actions(), await ledger_requests(practice)
    faulty = sum(count for fate, count in chaos.fates.items() if fate in FAULTS)
    print(  # noqa: T201 - the figures of the run
        f"\nseed {seed}: {soak.keys} bytes typed, {soak.sizes} sizes, {soak.starts} starts, "
        f"{soak.confirms} confirming keys, {dict(actions)} journalled, {found} at the broker, "
        f"{poisoning.poison.count} hostile values, {chaos.fates.total()} exchanges, "
        f"{faulty} faulty, memory +{max(soak.memory, default=0)} kB"
    )
    assert found <= actions.total()
    assert actions["create"] + actions["replace"] <= soak.confirms  # an exit may be several
