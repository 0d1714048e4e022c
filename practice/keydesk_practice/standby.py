"""A broker whose ledger is on PostgreSQL: it serves while it holds the ledger's lock, else it is a hot standby.

A standby answers 503 with `Retry-After`, and `/health` says so; it tries to get the lock until PostgreSQL frees it. The broker
that has it reports to the database twice a second. When that fails it may have lost the lock, so it answers nothing any more
from what it knows, becomes a standby itself, and reads the accounts again when it gets the lock back. Before each request, before
the answer to each read and before each line of a stream it looks at a clock that counts while a process or its machine is stopped:
a broker that wakes ends its streams before it writes to them, however late it notices the lost lock.
"""

import asyncio
import logging
from contextlib import suppress

from msgspec import Struct, field
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.market_clock import boot_time_ns
from keydesk_practice.broker.market_time import LAST_SEEN
from keydesk_practice.broker.startup import open_on
from keydesk_practice.control.client import forget_address, write_address
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.errors import (
    LedgerFull,
    LedgerUnavailable,
    LedgerUnreachable,
)
from keydesk_practice.garbage_collection import collect_everything, exclude_long_lived
from keydesk_practice.http.error_responses import unavailable
from keydesk_practice.http.middleware import HEALTH, Application
from keydesk_practice.http.responses import json_bytes
from keydesk_practice.ledger.postgres_connection import IDLE_SECONDS, connection_text
from keydesk_practice.ledger.postgres_ledger import PostgresLedger
from keydesk_practice.ledger.postgres_store import PostgresLedgerStore
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.options import Options
from keydesk_practice.server import (
    Listener,
    address_line,
    listen,
    public_application,
    server_of,
    stop_when_asked,
)

POLL_SECONDS = 0.2  # between two tries to get the lock
REPORT_SECONDS = 0.5
AWAY = "the database does not answer"
WAITING = "another broker serves this ledger"
log = logging.getLogger("keydesk.practice")


async def run_with_standby(options: Options) -> int:
    """Serve, or wait, until a signal, the end of the parent process, or a fault; return the exit code.

    Raises:
        LedgerUnavailable: the ledger cannot be opened.
    """
    assert options.ledger is not None  # noqa: S101 - else the ledger is a file
    try:
        ledger = PostgresLedger(connection_text(options.ledger))
        serves = ledger.try_lock()
    except LedgerUnreachable as error:
        raise LedgerUnavailable(f"the ledger cannot be opened: {error}") from None
    listener = listen(options)
    write_address(options.data, listener.url)
    try:
        return await StandbyServer(options, ledger, listener, serves=serves).run()
    finally:
        forget_address(options.data)
        listener.remove()


class Tenure(Struct):
    """The time for which this process holds the lock: the broker of that time, and when the database last answered it."""

    broker: Broker
    application: Application
    ticking: asyncio.Task[None]
    confirmed: int  # when the database last answered, by `boot_time_ns`
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_certain(self) -> bool:
        """Whether PostgreSQL cannot have given the lock to another broker yet."""
        return not self.over.is_set() and boot_time_ns() < self.confirmed + IDLE_SECONDS * SECOND

    def reading_sender(self, path: str, send: Send) -> Send:
        """Return a `send` for the answer to a read, which is begun or gone on with only while the lock is certain.

        Else it is refused, and a stream ends, with all others. Answers to writes are sent: they have what is committed.
        """
        is_stream, refused = path.endswith("/stream"), False

        async def send_while_certain(message: Message) -> None:
            nonlocal refused
            if refused:
                return
            begins = message["type"] == "http.response.start"
            has_more = is_stream and message.get("more_body")
            if self.is_certain or not (begins or has_more):
                await send(message)
            elif begins:
                refused = True
                await _refuse(path, AWAY, send)
            else:
                self.broker.end_streams()

        return send_while_certain

    def report(self) -> None:
        """Store the market's time, where a standby goes on; raise `LedgerUnreachable` when the lock may be lost."""
        asked = boot_time_ns()
        self.broker.commits.flush()  # what happened until then
        with suppress(LedgerFull):  # it answers, and has the lock
            self.broker.ledger.set_fact(LAST_SEEN, str(self.broker.board.now))
        self.confirmed = asked


class StandbyServer:
    """One of the processes that share a ledger on PostgreSQL; as an ASGI application, it passes requests on while it serves."""

    def __init__(
        self, options: Options, ledger: PostgresLedger, listener: Listener, *, serves: bool
    ) -> None:
        self._options = options
        self._ledger = ledger
        self._reason = WAITING
        self._tenure = self._take_over() if serves else None
        accounts = self._accounts()
        line = address_line(
            listener.url,
            options.tokens,
            lambda owner: [one for one in accounts if one.owner == owner],
            None if self._tenure is None else self._tenure.broker.earlier_model,
            is_standby=self._tenure is None,
        )
        self._server = server_of(self, listener, line)

    def _accounts(self) -> list[LedgerAccount]:
        """Return the accounts of the ledger, none when it is not created yet or the database has just gone away."""
        with suppress(LedgerUnreachable):
            return self._ledger.accounts() if self._ledger.exists() else []
        return []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        tenure = self._tenure
        if tenure is not None and tenure.is_certain:
            if scope["method"] == "GET":
                send = tenure.reading_sender(scope["path"], send)
            await tenure.application(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(scope["path"], self._reason, send)

    async def run(self) -> int:
        """Serve or wait until `stop`; return the exit code."""
        stop_when_asked(self.stop, self._options)
        keeping = asyncio.create_task(self._keep_lock(), name="lock")
        keeping.add_done_callback(lambda _: self.stop())
        try:
            await self._server.serve_listener()
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            if self._tenure is not None:
                self._tenure.ticking.cancel()
                self._tenure.broker.close()
        if not keeping.cancelled() and (fault := keeping.exception()) is not None:
            raise fault
        return 0

    def stop(self) -> None:
        """Finish the requests in progress and stop."""
        if self._tenure is not None:
            self._tenure.broker.end_streams()
        self._server.stop()

    # --- the lock ---

    async def _keep_lock(self) -> None:
        """Wait for the lock, serve until it is lost, and so on; raise what another start would meet again."""
        while True:
            if self._tenure is None and await self._try_lock():
                self._tenure = self._take_over()
                if self._tenure is not None:
                    log.warning("this broker serves the ledger now")
            if self._tenure is None:
                await asyncio.sleep(POLL_SECONDS)
            else:
                await self._serve_until_lost(self._tenure)

    async def _try_lock(self) -> bool:
        try:
            has_lock = await asyncio.to_thread(self._ledger.try_lock)
        except LedgerUnreachable as error:
            self._reason = str(error)
            self._ledger.close()
            with suppress(LedgerUnreachable):
                self._ledger = await asyncio.to_thread(PostgresLedger, self._ledger.text)
            return False
        self._reason = WAITING
        return has_lock

    def _take_over(self) -> Tenure | None:
        """Open the broker, unless the database goes away meanwhile, or has no space."""
        try:
            self._ledger.verify()
            broker = open_on(self._ledger, self._options, owners=len(self._options.tokens))
            tenure = self._begin(broker)
        except (LedgerUnreachable, LedgerFull) as error:
            self._reason = str(error)
            self._ledger.close()
            return None
        exclude_long_lived()
        return tenure

    def _begin(self, broker: Broker) -> Tenure:
        store = PostgresLedgerStore(self._ledger)
        application = public_application(
            broker, store, self._options.tokens, self._options, self.stop
        )
        confirmed = boot_time_ns()
        self._ledger.end_when_idle(IDLE_SECONDS)
        ticking = asyncio.create_task(broker.run(), name="market")
        tenure = Tenure(broker, application, ticking, confirmed)
        ticking.add_done_callback(lambda _: tenure.over.set())
        broker.commits.on_failure = tenure.over.set
        return tenure

    async def _serve_until_lost(self, tenure: Tenure) -> None:
        try:
            while not tenure.over.is_set():
                tenure.report()
                with suppress(TimeoutError):
                    await asyncio.wait_for(tenure.over.wait(), REPORT_SECONDS)
        except LedgerUnreachable as error:
            self._reason = str(error)
        else:
            self._reason = str(tenure.broker.commits.failure or AWAY)
        self._tenure = None
        await self._end(tenure)
        collect_everything()

    async def _end(self, tenure: Tenure) -> None:
        """Answer nothing any more from what this process knows: another broker may have the lock."""
        broker = tenure.broker
        broker.end_streams()
        broker.ledger.close()
        broker.commits.flush()  # which wakes the requests that wait
        tenure.ticking.cancel()
        (ended,) = await asyncio.gather(tenure.ticking, return_exceptions=True)
        if isinstance(ended, Exception):  # a market that stands still is a fault
            raise ended
        failure = broker.commits.failure
        if failure is not None and not isinstance(failure, LedgerUnreachable):
            raise failure
        log.warning("this broker is a standby now: %s", self._reason)


async def _refuse(path: str, reason: str, send: Send) -> None:
    """Respond as a standby."""
    refusal = unavailable(reason)
    body = {"status": "standby", "reason": reason} if path == HEALTH else refusal.body()
    text = json_bytes(body)
    fields = {"content-type": "application/json", "content-length": str(len(text))}
    headers = [
        (name.lower().encode(), value.encode())
        for name, value in (fields | refusal.headers).items()
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
