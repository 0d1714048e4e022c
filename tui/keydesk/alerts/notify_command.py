"""The trader's command: a program with arguments, never a shell; the event as JSON on its standard input.

`{title}` and `{text}` in an argument are replaced by cleaned text within that one argument. At most four run at once, sixteen
wait, and one that takes longer than the time-out is killed with what it started.
"""

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic

from msgspec import Struct, field

from keydesk.text.sanitize import clean

AT_ONCE, MAX_WAITING = 4, 16
REPORT_EVERY = 60.0  # seconds between two messages about the command


def arguments(template: Sequence[str], event: Mapping[str, object]) -> list[str]:
    """Return program and arguments for an event; the program's name is taken as it is."""
    program, *words = template
    return [program, *(_filled(word, event) for word in words)]


def _filled(word: str, event: Mapping[str, object]) -> str:
    """Return an argument with its placeholders filled; the text of an event is never searched for placeholders."""
    parts = [part.split("{text}") for part in word.split("{title}")]
    title, text = clean(str(event["title"])), clean(str(event["text"]))
    filled = title.join(text.join(part) for part in parts)
    is_option = filled.startswith("-") and not word.startswith("-")
    return f" {filled}" if is_option else filled


class CommandRunner(Struct):
    """Runs the command for events.

    Args:
        template: Program and arguments; empty: nothing is run.
        timeout_s: After which it is killed.
        report: Called with the reason why a command failed, at most once a minute.
    """

    template: Sequence[str]
    timeout_s: float
    report: Callable[[str], None]
    now: Callable[[], float] = monotonic
    dropped: int = 0
    _waiting: deque[Mapping[str, object]] = field(default_factory=deque)
    _running: set["asyncio.Task[None]"] = field(default_factory=set)
    _reported: float = float("-inf")

    def run(self, event: Mapping[str, object]) -> None:
        """Run the command for an event, now or when another one ended."""
        if not self.template:
            return
        if len(self._waiting) >= MAX_WAITING:
            self.dropped += 1
            self._say(f"{self.dropped} events were not given to the command: it is too slow")
            return
        self._waiting.append(event)
        self._start()

    async def finish(self) -> None:
        """Wait for the commands that run or wait."""
        while self._running:
            await asyncio.wait(self._running)

    def _start(self) -> None:
        while self._waiting and len(self._running) < AT_ONCE:
            task = asyncio.create_task(self._run(self._waiting.popleft()))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._start()

    async def _run(self, event: Mapping[str, object]) -> None:
        content = json.dumps(event).encode() + b"\n"
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments(self.template, event),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._say(f"cannot be started: {error}")
            return
        try:
            async with asyncio.timeout(self.timeout_s):
                with suppress(OSError):  # one that does not read has its arguments
                    await process.communicate(content)
                code = await process.wait()
        except TimeoutError:
            self._say(
                f"took longer than {self.timeout_s:g} s and was killed; raise alerts.notify_timeout"
            )
        else:
            if code:
                self._say(f"exited with status {code}")
        finally:
            _kill_group(process)
            await asyncio.shield(process.wait())

    def _say(self, text: str) -> None:
        if self.now() - self._reported >= REPORT_EVERY:
            self._reported = self.now()
            self.report(f"The command of alerts, {clean(self.template[0])}: {clean(text)}")


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill the command and what it left running in its session."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
