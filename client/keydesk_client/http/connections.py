"""Which call may have a connection: one that is there, or a new one, of which the service takes two a second.

A call that the HTTP library has given a new connection waits for that one, even when another becomes free. So it is not
given one before it may be made, and an exit takes the next that is free or may be made. Streams share the pace, and so
do the look-ups of lost answers, which have connections of their own: while both they and the other calls lack a
connection, new ones go to the two in turn, to the look-ups first.

How many connections there are is reckoned, not known: a call that fails takes its connection with it, and one that
nobody used for a while is closed. Where the reckoning is wrong, the pace itself still holds each new connection up.

Socket options that notice a dead peer within about ten seconds, on Linux and macOS.
"""

import asyncio
import socket
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from keydesk_client.http.pacing import CONNECTS, ConnectPace, Turn

IDLE_S, INTERVAL_S, PROBES = 5, 2, 3
UNACKNOWLEDGED_MS = 8000

SocketOption = tuple[int, int, int]


def tcp_keepalive() -> list[SocketOption]:
    """Ask after 5 s of silence, every 2 s, 3 times; sent data is given up after 8 s without a receipt."""
    named = {
        "TCP_KEEPIDLE": IDLE_S,
        "TCP_KEEPALIVE": IDLE_S,  # the name of the same thing on macOS
        "TCP_KEEPINTVL": INTERVAL_S,
        "TCP_KEEPCNT": PROBES,
        "TCP_USER_TIMEOUT": UNACKNOWLEDGED_MS,
        "TCP_NODELAY": 1,
    }
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in named.items():
        option = getattr(socket, name, None)
        if isinstance(option, int):
            options.append((socket.IPPROTO_TCP, option, value))
    return options


Trace = Callable[[str, object], Awaitable[None]]
"""What the HTTP library tells of each step of a request, and waits for."""

GIVING_WAY_S: Final = 0.01
"""How long a connection that may be made is left to the others; they wake at the same time."""
CONNECTING: Final = "connection.connect_tcp."


class Lines:
    """Lets as many calls through as there are connections: `async with lines.line(is_urgent)` around each."""

    def __init__(self, pace: ConnectPace, most: int, unused_s: float) -> None:
        self.beside: Lines | None = None
        """Other lines of the same pace, with which new connections are shared."""
        self.had_the_last: bool = False
        """Whether the last new connection that both lacked was ours."""
        self._pace, self._most, self._unused_s = pace, most, unused_s
        self._under_way = 0
        self._used: list[float] = []
        """For each connection, when it was last in use; the library takes the first that is free, so the last idle longest."""
        self._turns: deque[Turn] = deque(maxlen=CONNECTS)
        """For connections that may be made, and are not yet."""
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def line(self, is_urgent: bool) -> AsyncGenerator[None]:
        """Wait for a connection, urgent calls first; a call that fails is taken to have lost it."""
        await self._given(self._urgent if is_urgent else self._others)
        try:
            yield
        except BaseException:
            self._used.pop()
            raise
        finally:
            self._leave()

    def trace(self) -> Trace:
        """What holds a new connection up until it may be made; one for each request."""
        turns: list[Turn] = []

        async def follow(step: str, _: object) -> None:
            if step == f"{CONNECTING}started":
                turns.append(await self._turn())
            elif step.startswith(CONNECTING):
                turns.pop().over()

        return follow

    async def _turn(self) -> Turn:
        while self._turns:
            turn = self._turns.popleft()
            if self._pace.renew(turn):
                return turn
        return await self._pace.turn()

    async def _given(self, queue: deque[asyncio.Future[None]]) -> None:
        told = asyncio.get_running_loop().create_future()
        queue.append(told)
        self._let_in()
        try:
            await told
        except asyncio.CancelledError:
            if told.done() and not told.cancelled():  # it was let in, but will not use it
                self._leave()
            raise

    def _leave(self) -> None:
        self._under_way -= 1
        if self._under_way < len(self._used):
            self._used[self._under_way] = self._pace.now()
        self._let_in()

    def _let_in(self) -> None:
        while (queue := self._next()) is not None:
            if not self._has_one():
                self._wake_later()
                return
            self._under_way += 1
            queue.popleft().set_result(None)

    def _next(self) -> deque[asyncio.Future[None]] | None:
        for queue in (self._urgent, self._others):
            while queue and queue[0].done():  # gave up while it waited
                queue.popleft()
            if queue:
                return queue
        return None

    def _has_one(self) -> bool:
        now = self._pace.now()
        while len(self._used) > self._under_way and self._used[-1] < now - self._unused_s:
            self._used.pop()
        if self._under_way < len(self._used):
            return True
        if len(self._used) >= self._most or self._gives_way():
            return False
        turn = self._pace.turn_now()
        if turn is not None:
            self.had_the_last = True
            self._turns.append(turn)
            self._used.append(now)
        return turn is not None

    @property
    def lacks_one(self) -> bool:
        """Whether a call waits for a connection that is still to be made."""
        is_wanted = self._next() is not None and self._under_way >= len(self._used)
        return is_wanted and len(self._used) < self._most

    def _gives_way(self) -> bool:
        """Leave a connection that may be made now to the others, once, when the last one was ours."""
        if self.beside is None or not self.had_the_last or self._pace.wait() > 0:
            return False
        self.had_the_last = not self.beside.lacks_one
        return not self.had_the_last

    def _wake_later(self) -> None:
        if self._alarm is None and len(self._used) < self._most:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(max(self._pace.wait(), GIVING_WAY_S), self._woken)

    def _woken(self) -> None:
        self._alarm = None
        self._let_in()


def share_pace(*, first: Lines, second: Lines) -> None:
    """Give new connections in turn to two that lack one, to `first` to begin with."""
    first.beside, second.beside = second, first
    second.had_the_last = True
