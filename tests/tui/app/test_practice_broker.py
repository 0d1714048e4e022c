"""The practice broker as a child: it listens, it is private, and it leaves with its parent."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keydesk.app.practice_broker import EmbeddedBroker, PracticeFailed

pytestmark = pytest.mark.e2e


async def test_the_child_says_where_it_listens_and_who_may_come_in(tmp_path: Path) -> None:
    broker = EmbeddedBroker.start(tmp_path / "practice")
    try:
        address = await broker.address()
        assert address.rest_url.startswith("http+unix://")
        assert address.account_ids
        assert len(address.token) >= 32
        assert address.token not in repr(address)
    finally:
        broker.stop()


async def test_its_socket_is_for_the_owner_alone_and_goes_with_it(tmp_path: Path) -> None:
    broker = EmbeddedBroker.start(tmp_path / "practice")
    try:
        socket = Path((await broker.address()).rest_url.removeprefix("http+unix://"))
        assert socket.stat().st_mode & 0o777 == 0o600
        assert socket.parent.stat().st_mode & 0o777 == 0o700
    finally:
        broker.stop()
    assert not socket.parent.exists()


async def test_the_token_is_in_no_argument_and_no_environment_of_the_child(tmp_path: Path) -> None:
    broker = EmbeddedBroker.start(tmp_path / "practice")
    try:
        token = (await broker.address()).token.encode()
        process = Path(f"/proc/{broker.pid}")
        if process.exists():  # Linux shows what other users could see
            assert token not in (process / "cmdline").read_bytes()
            assert token not in (process / "environ").read_bytes()
    finally:
        broker.stop()


PARENT = """
import asyncio, sys, time
from pathlib import Path
from keydesk.app.practice_broker import EmbeddedBroker
broker = EmbeddedBroker.start(Path(sys.argv[1]))
asyncio.run(broker.address())
print(broker.pid, flush=True)
time.sleep(600)
"""


def test_a_parent_killed_hard_leaves_no_child_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "practice")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        watch = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
        parent.send_signal(signal.SIGKILL)
    if watch is not None:
        assert select.select([watch], [], [], 10)[0], "the child still runs"
        os.close(watch)


async def test_a_child_that_cannot_start_is_told_in_its_own_words(tmp_path: Path) -> None:
    first = EmbeddedBroker.start(tmp_path / "practice")
    try:
        await first.address()
        second = EmbeddedBroker.start(tmp_path / "practice")
        try:
            with pytest.raises(PracticeFailed, match=r"ledger|process|use"):
                await second.address()
        finally:
            second.stop()
    finally:
        first.stop()


async def test_a_child_that_is_killed_is_noticed_and_started_again(tmp_path: Path) -> None:
    broker = EmbeddedBroker.start(tmp_path)
    try:
        before = await broker.address()
        os.kill(broker.pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            await broker.wait_until_ended()
        assert broker.has_ended
        assert await broker.start_again() == before
    finally:
        broker.stop()
