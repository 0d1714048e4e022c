"""The desks of one account find each other, and what nobody has read is told by the next."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import pytest

from keydesk.app.account_sources import AccountAddress
from keydesk.trading.desk_session import CHECK_INTERVAL, TO_READ, DeskSession, UnreadOutcome
from keydesk_client.auth.secret import Secret


@dataclass
class Clock:
    seconds: float = 100.0
    opened: list[DeskSession] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    def desk(self, folder: Path, name: str = "001") -> DeskSession:
        desk = DeskSession(folder, name, now=self.now, wall_ns=lambda: 1_795_000_000 * 10**9)
        desk.open()
        self.opened.append(desk)
        return desk

    def said(self, desk: DeskSession) -> list[str]:
        self.seconds += CHECK_INTERVAL
        return [text for _, text in desk.changed()]


def kill_desk(desk: DeskSession) -> None:
    """End a desk as a kill does: the system takes its lock, its file stays."""
    descriptor, desk._descriptor = desk._descriptor, None
    assert descriptor is not None
    os.close(descriptor)


def words_of(left: Mapping[str, UnreadOutcome]) -> list[str]:
    return [each.text for each in left.values()]


def test_two_desks_of_an_account_each_say_so_and_say_when_the_other_is_closed(
    tmp_path: Path,
) -> None:
    clock = Clock()
    first = clock.desk(tmp_path)
    assert clock.said(first) == []
    second = clock.desk(tmp_path)
    for desk in (first, second):
        (text,) = clock.said(desk)
        assert text.startswith(f"ANOTHER DESK has this account open: process {os.getpid()}")
        assert clock.said(desk) == []
    second.close()
    (text,) = clock.said(first)
    assert text.startswith("The other desk on this account was closed")
    first.close()
    assert list(tmp_path.iterdir()) == []


def test_desks_of_other_accounts_say_nothing(tmp_path: Path) -> None:
    clock = Clock()
    first, second = clock.desk(tmp_path, "001"), clock.desk(tmp_path, "002")
    assert clock.said(first) == clock.said(second) == []


@pytest.mark.e2e
def test_a_desk_that_was_killed_is_no_other_desk(tmp_path: Path) -> None:
    clock = Clock()
    program = (
        "import sys, time; from pathlib import Path; from keydesk.trading.desk_session import DeskSession;"
        "DeskSession(Path(sys.argv[1]), '001').open(); print('open', flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout is not None
    with killed:
        assert killed.stdout.readline() == "open\n"
        desk = clock.desk(tmp_path)
        assert f"process {killed.pid}" in clock.said(desk)[0]
        killed.kill()
    assert "was closed" in clock.said(desk)[0]
    assert len(list(tmp_path.iterdir())) == 1


def test_an_outcome_that_nobody_read_is_left_to_the_next_desk_once(tmp_path: Path) -> None:
    clock = Clock()
    killed = clock.desk(tmp_path)
    killed.keep_outcome("kd-1", "good", "FILLED 10,000 EUR/USD")
    kill_desk(killed)
    desk = clock.desk(tmp_path)
    [(name, left)] = desk.pop_left_over().items()
    assert left.late_text(UTC).startswith("NOT SEEN BEFORE, from 2026-11-18 ")
    assert left.late_text(UTC).endswith(" UTC: FILLED 10,000 EUR/USD")
    desk.key_pressed(clock.seconds + 60)  # it was not painted yet
    desk.shown(name)
    desk.key_pressed(clock.seconds + TO_READ)
    desk.close()
    assert clock.desk(tmp_path).pop_left_over() == {}


def test_what_the_next_desk_could_not_show_either_is_left_to_the_one_after_it(
    tmp_path: Path,
) -> None:
    clock = Clock()
    killed = clock.desk(tmp_path)
    killed.keep_outcome("kd-1", "good", "FILLED 10,000 EUR/USD")
    kill_desk(killed)
    kill_desk(clock.desk(tmp_path))
    assert words_of(clock.desk(tmp_path).pop_left_over()) == ["FILLED 10,000 EUR/USD"]


@pytest.mark.parametrize(
    ("pressed", "left"),
    [(TO_READ, 0), (TO_READ / 2, 1), (-1.0, 1)],
    ids=["later", "soon", "before"],
)
def test_a_key_that_was_pressed_after_it_was_painted_says_that_it_was_read(
    tmp_path: Path, pressed: float, left: int
) -> None:
    clock = Clock()
    desk = clock.desk(tmp_path)
    desk.keep_outcome("kd-1", "good", "FILLED 10,000 EUR/USD")
    desk.key_pressed(clock.seconds + 60)
    desk.shown("kd-1")
    desk.key_pressed(clock.seconds + pressed)
    desk.close()
    assert len(clock.desk(tmp_path).pop_left_over()) == left


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]\n",
        b'{"unread": 7}\n',
        b'{"unread": [1, {}, {"level": "loud", "words": "x", "time_ns": 1}]}\n',
        b'{"unread": [{"level": "good", "words": "x", "time_ns": "then"}]}\n',
        b'{"unread": [{"level": "good", "words": "x", "time_ns": 1e300}]}\n',
        b'{"unread": [{"level": [], "words": "x", "time_ns": 1}]}\n',
        b"\xff" * 100,
    ],
)
def test_a_file_that_is_none_of_a_desk_is_passed_over_and_removed(
    tmp_path: Path, content: bytes
) -> None:
    clock = Clock()
    path = tmp_path / "001.7-abc.desk"
    path.write_bytes(content)
    path.chmod(0o600)
    desk = clock.desk(tmp_path)
    assert desk.pop_left_over() == {}
    assert clock.said(desk) == []
    assert not path.exists()


def test_escape_sequences_in_such_a_file_reach_no_terminal(tmp_path: Path) -> None:
    clock = Clock()
    unread = [{"level": "good", "words": "\x1b]52;c;eA==\x07", "time_ns": 1}]
    path = tmp_path / "001.7-abc.desk"
    path.write_text(json.dumps({"pid": 7, "terminal": "\x1b[2J", "unread": unread}) + "\n")
    path.chmod(0o600)
    (left,) = clock.desk(tmp_path).pop_left_over().values()
    assert "\x1b" not in left.late_text(UTC)


def test_its_file_is_private(tmp_path: Path) -> None:
    Clock().desk(tmp_path).keep_outcome("kd-1", "good", "FILLED")
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_takes_no_file_stops_no_desk(tmp_path: Path) -> None:
    desk = Clock().desk(tmp_path / "missing")
    desk.keep_outcome("kd-1", "good", "FILLED")
    desk.shown("kd-1")
    desk.key_pressed(1e9)
    desk.close()


def test_two_profiles_of_one_account_have_one_session_and_two_brokers_two() -> None:
    def name(profile: str, rest_url: str) -> str:
        target = AccountAddress(
            rest_url, "s", Secret("t"), "001", own_broker=False, profile=profile
        )
        return target.shared_records

    assert name("main", "https://a") == name("other", "https://a")
    assert name("main", "https://a") != name("main", "https://b")
