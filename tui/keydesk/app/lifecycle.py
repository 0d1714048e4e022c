"""Open an account, and end the desk on signals, on the loss of the terminal and on faults.

A plain terminal program dies at once on a hang-up and misses the answer of an order in flight. Signals therefore ask
the desk to end: it waits for commands in flight, then restores the terminal. `LastResort` ends the process after two
seconds in any case; open intents are in the journal and are resolved at the next start.

Models, HTTP and the keyring are imported inside functions, after the first paint.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import termios
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keydesk.app.account_sources import AccountAddress
from keydesk.config.settings import Reconciliation
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.terminal.reset import RESTORE, TERMINAL, pop_title, write_without_waiting
from keydesk_client.errors import KeydeskClientError

if TYPE_CHECKING:
    from keydesk.calc.instructions import Instruction
    from keydesk.feeds.link import Link
    from keydesk.store.store import Store
    from keydesk.trading.commands import Commands
    from keydesk.trading.dispatcher import UnreadOutcomes
    from keydesk_client.orders.sender import Sender


USUAL_CHECKS = Reconciliation()
PRACTICE_POLL = 1.0  # seconds
POLL = 5.0
LEAVE_SECONDS = 1.3  # what is left of two seconds is for noticing it, and for the broker's end
TERMINAL_CHECK_SECONDS = 0.1
HUNG_UP = 129
FAILED = 1
TRIES = 3
WAKE = signal.SIGUSR1  # has a handler here, so it interrupts a system call and ends nothing
OUTPUT = (1, 2)  # standard output and error
# What does not end a program by itself, cannot be caught, or tells of a fault inside the process.
NOT_TO_LEAVE = frozenset(
    getattr(signal, name)
    for name in (
        *("SIGKILL", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGWINCH"),
        *("SIGURG", "SIGPIPE", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP"),
    )
)
CODES: dict[int, int] = {
    number: 128 + number for number in signal.valid_signals() if number not in NOT_TO_LEAVE
}
"""Exit codes of all signals whose default action silently ends the program."""


@dataclass(slots=True)
class Connection:
    """An open account; `run` feeds the store until it is cancelled."""

    link: Link
    sender: Sender
    commands: Commands
    revalue: Callable[
        [Store, float], None
    ]  # profit, margin and totals after the prices that changed
    linked: bool | None  # to a third-party platform; None: not known yet
    recovered: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Run the feeds, and resolve open intents of the last session before new risk can be opened."""
        from keydesk.feeds import session  # noqa: PLC0415 - see the module's head

        async with asyncio.TaskGroup() as group:
            group.create_task(session.run(self.link), name="feeds")
            recovery = session.supervise(self.link, "orders left open", lambda _: self._recover())
            group.create_task(recovery, name="recovery")

    async def _recover(self) -> None:
        self.commands.hold_openings()
        await self.link.ready.wait()
        await self._learn_whether_linked()
        await self.commands.recover()
        self.recovered.set()

    async def _learn_whether_linked(self) -> None:
        """Ask whether the account is linked, if not known yet; orders of a linked account carry no client id.

        Without an answer they carry none either: they are found by their terms then, and refused nowhere.
        """
        if self.linked is None:
            with suppress(KeydeskClientError):
                client = self.link.client
                accounts = (await client.accounts.list()).accounts
                ours = (each for each in accounts if each.id == client.account_id)
                self.linked = any(each.mt4_account_id is not None for each in ours)
        self.sender.client_ids = self.linked is False

    async def carry_out(self, instruction: Instruction) -> None:
        """Carry out the instruction of a form."""
        await self.commands.carry_out(instruction)


def load_all() -> None:
    """Import what opening an account needs, while the broker starts."""
    import_module("keydesk_client.http.transport")
    for name in (
        "trading.commands",
        "trading.dispatcher",
        "feeds.session",
        "store.valuation",
    ):
        import_module(f"keydesk.{name}")
    import_module("keydesk_client.orders.sender")
    import_module("httpcore")  # else the first connection would


@asynccontextmanager
async def open_account(
    target: AccountAddress,
    store: Store,
    journal: Path,
    audit: Path,
    keymap: KeyMap = KEYMAP,
    *,
    reconciliation: Reconciliation = USUAL_CHECKS,
    unread: UnreadOutcomes | None = None,
) -> AsyncIterator[Connection]:
    """Open the account; leaving the block closes all connections."""
    from keydesk.feeds.account import Reconciler  # noqa: PLC0415
    from keydesk.feeds.link import Link  # noqa: PLC0415
    from keydesk.feeds.session import ClientStreams  # noqa: PLC0415
    from keydesk.store.valuation import revalue  # noqa: PLC0415
    from keydesk.trading.audit import AuditLog  # noqa: PLC0415
    from keydesk.trading.commands import Commands  # noqa: PLC0415
    from keydesk.trading.dispatcher import (  # noqa: PLC0415
        Dispatcher,
        instrument_of_target,
    )
    from keydesk.trading.journal import (  # noqa: PLC0415
        UnavailableJournal,
        open_journal,
    )
    from keydesk.trading.notifications import Notifier  # noqa: PLC0415 - see the module's head
    from keydesk_client.client import Client  # noqa: PLC0415
    from keydesk_client.orders.sender import Sender  # noqa: PLC0415

    async with Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        account_id=target.account_id,
    ) as client:
        link = Link(
            client=client,
            store=store,
            streams=ClientStreams(client),
            poll_every=PRACTICE_POLL if target.own_broker else POLL,
        )
        dispatcher = Dispatcher(
            store,
            link.gate.offer_all,
            link.gate.saw_last,
            audit=AuditLog(audit, redact=target.token.redact),
            keymap=keymap,
            unread=unread,
        )
        kept = open_journal(journal)
        no_orders = kept.why if isinstance(kept, UnavailableJournal) else ""
        sender = Sender(
            client,
            kept,
            lambda: link.gate.applied or 0,
            dispatcher.on_progress,
            dispatcher.on_late_outcome,
            client_ids=target.linked is False,
            instrument_of=lambda action, about: instrument_of_target(action, about, store),
        )
        link.reconciler = Reconciler(sender, reconciliation)
        link.gate.listen(sender.watch)
        link.gate.listen(Notifier(store).on_transaction)
        yield Connection(
            link, sender, Commands(client, sender, dispatcher, no_orders), revalue, target.linked
        )


class LastResort:
    """A time limit for an orderly end: then restore the terminal, stop the broker and end the process."""

    def __init__(self, clean_up: Callable[[], None], words: Callable[[], str] = str) -> None:
        self._clean_up = clean_up
        self._words = words
        self._reason = ""
        self._terminal: list[Any] | None = None
        self._ending = threading.Lock()
        with suppress(termios.error):
            self._terminal = termios.tcgetattr(TERMINAL)

    @property
    def is_ending(self) -> bool:
        """Whether the process is being ended; the signals that it sends itself then do not ask it to leave."""
        return self._ending.locked()

    def arm(self, code: int, seconds: float = LEAVE_SECONDS, *, reason: str = "") -> None:
        """End the process with `code` after `seconds`; print `reason` if there are no last words."""
        self._reason = self._reason or reason
        timer = threading.Timer(seconds, self._end, (code,))
        timer.daemon = True
        timer.start()

    def _end(self, code: int) -> None:
        if not self._ending.acquire(blocking=False):
            return  # of two alarms the first one ends it
        try:
            self._restore_terminal()  # first: a broker that hangs must not keep it
            self._clean_up()
        finally:
            os._exit(code)

    def _restore_terminal(self) -> None:
        if self._terminal is None:
            return
        words = self._words() or self._reason
        said = f"keydesk: {words}\r\n".encode() if words else b""
        restore = RESTORE + pop_title(os.environ.get("TERM", "")) + said
        _discard_output()
        for _ in range(TRIES):
            _interrupt_writes()
            if write_without_waiting(restore):
                break
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(TERMINAL, termios.TCSANOW, self._terminal)


def _discard_output() -> None:
    """Redirect the writer thread's output to /dev/null: its frames must not follow the restore sequence."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in OUTPUT:
            os.dup2(nowhere, descriptor)


def _interrupt_writes() -> None:
    """Interrupt a thread that is blocked in a write to a full terminal; it holds the terminal's lock.

    Emptying the buffer does not wake it, a signal does: its next write goes to nowhere.
    """
    if signal.getsignal(WAKE) is signal.SIG_DFL:  # no handler yet: the signal would end the process
        return
    for thread in threading.enumerate():
        if thread.ident is not None and thread is not threading.current_thread():
            with suppress(OSError, ValueError):
                signal.pthread_kill(thread.ident, WAKE)


def leave_on_signals(leave: Callable[[int], None], last_resort: LastResort) -> None:
    """Call `leave(exit_code)` on signals that would end the program; end the process if that takes too long.

    The event loop's own handlers would wait for the loop, which may be stuck in a write to a terminal that nobody
    reads; Python's interrupt that wait, so the last resort is armed whatever the loop does.
    """
    loop = asyncio.get_running_loop()

    def handle(number: int, _frame: object) -> None:
        if number == WAKE and last_resort.is_ending:
            return
        _leave(CODES[number], leave, last_resort, loop)

    for number in CODES:
        with suppress(OSError, ValueError):  # two of the C library's own cannot be taken
            signal.signal(number, handle)


def leave_without_terminal(leave: Callable[[int], None], last_resort: LastResort) -> None:
    """Leave with exit code 129 once the terminal is gone; under nohup no signal reports that.

    The watch is a thread, because a loop that writes to a vanished terminal may be stuck in that. It looks ten times
    a second: a hang-up does not wake a poll that waits for no input.
    """
    loop = asyncio.get_running_loop()

    def watch() -> None:
        while not _terminal_is_gone():
            time.sleep(TERMINAL_CHECK_SECONDS)
        _leave(HUNG_UP, leave, last_resort, loop)

    threading.Thread(target=watch, name="terminal", daemon=True).start()


def _terminal_is_gone() -> bool:
    poll = select.poll()
    poll.register(TERMINAL, 0)
    gone = select.POLLHUP | select.POLLERR | select.POLLNVAL
    return any(event & gone for _, event in poll.poll(0))


def end_with_threads(
    end: Callable[[BaseException], None], last_resort: LastResort, reason: str
) -> None:
    """Call `end(error)` when a thread dies of an error: without its writer the desk would only look alive."""
    loop = asyncio.get_running_loop()

    def handle(died: threading.ExceptHookArgs) -> None:
        if died.exc_value is None or isinstance(died.exc_value, SystemExit):
            return
        if isinstance(died.exc_value, OSError) and _terminal_is_gone():
            return  # no fault: `leave_without_terminal` leaves
        last_resort.arm(FAILED, reason=reason)
        with suppress(RuntimeError):  # a closed loop is leaving already
            loop.call_soon_threadsafe(end, died.exc_value)

    threading.excepthook = handle


def _leave(
    code: int,
    leave: Callable[[int], None],
    last_resort: LastResort,
    loop: asyncio.AbstractEventLoop,
) -> None:
    last_resort.arm(code)
    with suppress(RuntimeError):  # a closed loop is leaving already
        loop.call_soon_threadsafe(leave, code)
