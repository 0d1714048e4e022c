"""Count the modules of desk and client that one order passes, from the key that opens its ticket to its bytes.

    PYTHONPATH=tests python tests/bench/count_ticket_modules.py

`B` and `y` are pressed on the desk over a made-up store, which has no feeds and no key guard, then the order is carried
out at a practice broker. A module is counted when one of its functions is called: by the keys and up to their pictures,
then in the task that carries the order out, up to the first byte on the network. Both were done once before. What the
background does meanwhile (feeds, the clock of the desk) runs in other tasks and is not counted.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

from keydesk.trading.desk_session import DeskLock
from keydesk.trading.entry_requests import OpenOrder
from support.broker import PracticeServer, practice_server
from support.exit_plan_desk import plan_desk
from support.fakes.working_desk import WorkingDesk

PACKAGES: Final = ("keydesk.", "keydesk_client.")
BUILT: Final = ("keydesk_client.models.requests", "_validate_order")
"""What is called where the request record is built."""
SENT: Final = ("keydesk_client.http.network", "write")
"""What is called where its first byte leaves."""
DRAWS: Final = (
    "keydesk.app",
    "keydesk.chart",
    "keydesk.forms.form_view",
    "keydesk.forms.panel",
    "keydesk.forms.ticket_lines",
    "keydesk.panes",
    "keydesk.screens",
    "keydesk.tables",
    "keydesk.terminal",
    "keydesk.text",
    "keydesk.widgets",
    "keydesk.words",
)
"""What draws or words what is drawn."""


class Modules:
    """The modules whose functions are called while it records, and those that wait for the last call of its end."""

    def __init__(self, end: tuple[str, str]) -> None:
        self.end = end
        self.called: set[str] = set()
        self.way: set[str] = set()
        self.task: asyncio.Task[object] | None = None  # None: any task

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; for `sys.setprofile`."""
        module = module_of(frame)
        if event != "call" or not module.startswith(PACKAGES) or frame.f_code.co_name == "<module>":
            return
        if self.task is not None and asyncio.current_task() is not self.task:
            return
        self.called.add(module)
        if (module, frame.f_code.co_name) == self.end:
            self.way = {each for each in map(module_of, stack(frame)) if each.startswith(PACKAGES)}
            if self.task is not None:
                sys.setprofile(None)

    @contextmanager
    def recording(self, task: asyncio.Task[object] | None = None) -> Iterator[None]:
        """Record what is called until the end of the block, or until the task writes its first byte."""
        self.task = task
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)


def module_of(frame: FrameType) -> str:
    """Return the module of a function."""
    return str(frame.f_globals.get("__name__") or "")


def stack(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a call and those that wait for it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


async def decide(folder: Path, modules: Modules) -> OpenOrder:
    """Press `B` and `y` on the desk; return what they decided."""
    desk = WorkingDesk(DeskLock.of(folder, "practice"))
    desk.store.trades, desk.store.positions = {}, {}
    async with desk.run_test(size=(120, 35)) as pilot:
        for recording in (nullcontext(), modules.recording()):
            await pilot.pause()
            desk.draw()
            with recording:
                await pilot.press("B")
                desk.draw()
                await pilot.press("y")
    decided = desk.decided[-1]
    assert isinstance(decided, OpenOrder)
    anywhere = decided.request.with_(
        price_bound=None, stop_loss_on_fill=None, take_profit_on_fill=None
    )
    return replace(decided, request=anywhere)  # the broker has another price


async def carry_out(order: OpenOrder, server: PracticeServer, folder: Path) -> Modules:
    """Carry the order out at a broker; return the modules up to its first byte."""
    modules = Modules(SENT)
    async with plan_desk(server, folder) as desk:

        async def send() -> None:
            with modules.recording(asyncio.current_task()):
                await desk.does(order)

        await desk.does(order)
        await asyncio.create_task(send())
    return modules


def report(name: str, modules: set[str]) -> None:
    """Print them."""
    sys.stdout.write(f"{name}: {len(modules)} modules\n")
    for module in sorted(modules):
        sys.stdout.write(f"  {module}\n")


async def main(folder: Path) -> None:
    """Count, and print."""
    keys = Modules(BUILT)
    order = await decide(folder, keys)
    async with practice_server(folder) as server:
        sent = await carry_out(order, server, folder / "orders")
    called = keys.called | sent.called
    drawing = {each for each in called if each.startswith(DRAWS)}
    report(
        "On the way: they wait for the request to be built or for its first byte",
        keys.way | sent.way,
    )
    report(
        "Called beside: they compute, check, keep or build", called - drawing - keys.way - sent.way
    )
    report("Called to draw the desk and the ticket", drawing - keys.way - sent.way)
    report(
        "Of all these, called after the key that confirms: the task that carries it out",
        sent.called,
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        asyncio.run(main(Path(name)))
