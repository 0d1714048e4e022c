"""The worker processes of a supervisor: started, watched, started again when one ends, and ended with the supervisor."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from keydesk_practice.workers.handover import hand_over
from keydesk_practice.workers.settings import WorkerSettings

READY_SECONDS = 600.0  # a large ledger is checked first
STOP_SECONDS = 10.0
MAX_FAILED_STARTS = 3  # in a row
PAUSE_SECONDS = 0.2  # before a worker that could not start is started again
log = logging.getLogger("keydesk.practice.workers")


@dataclass(slots=True)
class Worker:
    """One worker process, and whether it serves."""

    number: int
    up: asyncio.Event = field(default_factory=asyncio.Event)
    process: asyncio.subprocess.Process | None = None
    channel: socket.socket | None = None
    starts: int = 0

    def hand_over(self, connection: socket.socket) -> bool:
        """Hand a connection over; return False when the worker does not serve."""
        if not self.up.is_set() or self.channel is None:
            return False
        try:
            hand_over(self.channel, connection)
        except OSError:
            return False
        return True


class Pool:
    """The workers; `join` is awaited with each one that listens, before it serves."""

    def __init__(
        self,
        count: int,
        settings: Callable[[int], WorkerSettings],
        join: Callable[[Worker], Awaitable[None]],
        on_failure: Callable[[], None],
    ) -> None:
        self.workers = [Worker(number) for number in range(count)]
        self.failed = False
        self._settings = settings
        self._join = join
        self._on_failure = on_failure
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> bool:
        """Start every worker; return False when one of them cannot start."""
        listening = await asyncio.gather(*map(self._start, self.workers))
        return all(listening)

    def watch(self) -> None:
        """Watch the workers from now on, and restart each one that ends."""
        for worker in self.workers:
            task = asyncio.create_task(self._watch(worker), name=f"worker {worker.number + 1}")
            task.add_done_callback(self._watch_ended)
            self._tasks.append(task)

    @property
    def not_serving(self) -> list[int]:
        """The numbers, from 1, of the workers that do not serve."""
        return [worker.number + 1 for worker in self.workers if not worker.up.is_set()]

    async def stop(self) -> bool:
        """Let every worker end; return whether all of them ended well."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        codes = await asyncio.gather(*map(_end, self.workers))
        return not any(codes)

    async def _start(self, worker: Worker) -> bool:
        """Start a process; return whether it listens."""
        ours, theirs = socket.socketpair()
        worker.starts += 1
        try:
            ours.setblocking(False)
            worker.channel = ours
            worker.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "keydesk_practice.workers.worker"),
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
            )
        finally:
            theirs.close()
        loop = asyncio.get_running_loop()
        line = self._settings(worker.number).to_json() + "\n"
        try:
            async with asyncio.timeout(READY_SECONDS):
                await loop.sock_sendall(ours, line.encode())
                return bool(await loop.sock_recv(ours, 64))
        except (OSError, TimeoutError):
            return False

    async def _watch(self, worker: Worker) -> None:
        failed_starts = 0
        while failed_starts < MAX_FAILED_STARTS:
            assert worker.process is not None  # noqa: S101 - it was started
            code = await worker.process.wait()
            was_up = worker.up.is_set()
            worker.up.clear()
            _close_channel(worker)
            failed_starts = 0 if was_up else failed_starts + 1
            log.warning("worker %d ended (%s): starting it again", worker.number + 1, _words(code))
            await asyncio.sleep(PAUSE_SECONDS * failed_starts)
            if await self._start(worker):
                await self._join_again(worker)
        self.failed = True
        log.critical("worker %d cannot be started: stopping", worker.number + 1)
        self._on_failure()

    async def _join_again(self, worker: Worker) -> None:
        try:
            await self._join(worker)
        except Exception:
            log.exception("worker %d does not answer", worker.number + 1)
            _kill(worker)

    def _watch_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.critical("the task %r failed", task.get_name(), exc_info=error)
            self.failed = True
            self._on_failure()


async def _end(worker: Worker) -> int:
    """Let a worker end by itself, or kill it when it takes too long; return its exit code."""
    worker.up.clear()
    _close_channel(worker)
    if worker.process is None:
        return 0
    try:
        async with asyncio.timeout(STOP_SECONDS):
            return await worker.process.wait()
    except TimeoutError:
        log.warning("worker %d does not end: killing it", worker.number + 1)
        _kill(worker)
        return await worker.process.wait()


def _close_channel(worker: Worker) -> None:
    if worker.channel is not None:
        worker.channel.close()
        worker.channel = None


def _kill(worker: Worker) -> None:
    if worker.process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.process.pid, signal.SIGKILL)


def _words(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
