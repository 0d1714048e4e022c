"""The limits of a client: requests a second and at once, connections a second and at once.

Admission queue: each request waits once, until the rate, a place and a connection allow it.

- Rate: the window is exact where the service counts. A request starts a window after the one `rate` places before it
  was answered. Counted from start to start, requests that bunch up on their way (behind a new connection, say) would
  exceed the limit; a token bucket that fills while idle would let twice the rate through.
- Places: reads may use only some, so that slow candle requests do not delay an order; a few are for exits alone,
  because orders can hang as well; look-ups of lost responses have places and connections of their own, because exits
  can hang, too.
- Connections: a request takes an idle one, or opens a new one at the pace that the service allows. The HTTP library
  ties a request to the new connection that it waits for, even when another becomes idle; so none is admitted before its
  connection may be opened, and an exit takes the first that is idle or may be opened.

Order: exits (cancels and closes), then look-ups, then by arrival. While both look-ups and other requests need a new
connection, they get them in turn.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Final, Protocol, TypeAlias

from keydesk_client.errors import TimedOut
from keydesk_client.http.messages import RequestKind
from keydesk_client.http.timing import REAL_TIMING, Timing

RATE: Final = 120
RATE_WINDOW_S: Final = 1.005
READS_AT_ONCE: Final = 4
CALLS_AT_ONCE: Final = 6
MORE_FOR_EXITS: Final = 2
LOOK_UPS_AT_ONCE: Final = 4
"""Measured with a tenth of the responses lost: two look-ups sometimes hung for ten seconds each while a third one waited."""

CONNECTS: Final = 2
CONNECT_WINDOW_S: Final = 1.02
"""A little over a second: connections can reach the service closer together than they were opened."""
CONNECTING: Final = "connection.connect_tcp."
LEAST_WAIT_S: Final = 0.001
"""Shortest timer: a clock that rounds must not wake the queue again and again."""

Trace: TypeAlias = Callable[[str, object], Awaitable[None]]
"""httpcore's trace extension: called, and awaited, at each step of a request."""


class Permit:
    """Permission to open one connection; call `over` once it is open, or has failed."""

    __slots__ = ("_clock", "_is_over", "at")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.at: float = clock()
        """When the connection was opened; until it is over, when opening began."""
        self._clock = clock
        self._is_over = False

    def over(self) -> None:
        """Count the connection from now: the service has seen it by now, however slow this machine was."""
        if not self._is_over:
            self._is_over, self.at = True, self._clock()


class ConnectRateLimiter:
    """The pace of new connections, shared by all requests and streams of a client."""

    def __init__(self, timing: Timing = REAL_TIMING) -> None:
        self._timing = timing
        self._latest: list[Permit] = []
        self.awaiting_answer: set[asyncio.Future[None]] = set()
        """The futures of `next_answer` that wait; while there is none, an answer need not be noted."""
        self._queue = asyncio.Lock()

    async def turn(self) -> Permit:
        """Wait until another connection may be opened."""
        async with self._queue:
            while (turn := self.turn_nowait()) is None:
                await self._timing.sleep(self.delay())
            return turn

    def next_answer(self) -> asyncio.Future[None]:
        """Return a future that ends with the next answer of the service to a request: it can be reached again."""
        answer = asyncio.get_running_loop().create_future()
        self.awaiting_answer.add(answer)
        answer.add_done_callback(self.awaiting_answer.discard)
        return answer

    def note_answer(self) -> None:
        """End the waiting for an answer."""
        for answer in tuple(self.awaiting_answer):
            if not answer.done():
                answer.set_result(None)

    def turn_nowait(self) -> Permit | None:
        """Return a turn, or None when no connection may be opened yet."""
        if self.delay() > 0:
            return None
        if len(self._latest) == CONNECTS:
            self._latest.remove(min(self._latest, key=_opened_at))
        turn = Permit(self._timing.clock)
        self._latest.append(turn)
        return turn

    def renew(self, turn: Permit) -> bool:
        """Move an unused turn to now; return False when it has expired."""
        if turn not in self._latest:
            return False
        turn.at = self._timing.clock()
        return True

    def delay(self) -> float:
        """Return the seconds until another connection may be opened; 0 or less for at once."""
        if len(self._latest) < CONNECTS:
            return 0.0
        return min(map(_opened_at, self._latest)) + CONNECT_WINDOW_S - self._timing.clock()

    def now(self) -> float:
        """Return the time on the clock of this pace."""
        return self._timing.clock()


def _opened_at(turn: Permit) -> float:
    return turn.at


class ConnectionSlots:
    """Connections of one connection pool: idle, in use, or still to be opened.

    They are counted, not observed: the connection of a request that fails counts as closed, as does one that was idle for
    `idle_s`. Where the count is wrong, `trace` still delays each new connection to the pace.
    """

    def __init__(self, rate_limiter: ConnectRateLimiter, size: int, idle_s: float) -> None:
        self.rate_limiter: ConnectRateLimiter = rate_limiter
        self._size, self._idle_s = size, idle_s
        self._in_use = 0
        self._last_used: list[float] = []
        """When each connection was last in use; the pool takes the first idle one, so the last has been idle longest."""
        self._turns: deque[Permit] = deque(maxlen=CONNECTS)
        """Turns taken for connections that are not open yet."""

    @property
    def is_full(self) -> bool:
        """Whether no further connection may be opened until one closes."""
        return len(self._last_used) >= self._size

    def take_idle(self) -> bool:
        """Take an idle connection; return False when there is none."""
        expired = self.rate_limiter.now() - self._idle_s
        while len(self._last_used) > self._in_use and self._last_used[-1] < expired:
            self._last_used.pop()
        if self._in_use >= len(self._last_used):
            return False
        self._in_use += 1
        return True

    def open(self) -> bool:
        """Take a connection that is still to be opened; return False when the pace or the size forbids it."""
        turn = None if self.is_full else self.rate_limiter.turn_nowait()
        if turn is None:
            return False
        self._turns.append(turn)
        self._last_used.append(self.rate_limiter.now())
        self._in_use += 1
        return True

    def release(self, *, is_lost: bool) -> None:
        """Give a connection back, or count it as closed when its request failed."""
        if is_lost:
            self._last_used.pop()
        self._in_use -= 1
        if self._in_use < len(self._last_used):
            self._last_used[self._in_use] = self.rate_limiter.now()

    def trace(self) -> Trace:
        """Return a trace extension, for one request, that delays a new connection until the pace allows it."""
        turns: list[Permit] = []

        async def delay(step: str, _: object) -> None:
            if step == f"{CONNECTING}started":
                turns.append(await self._turn())
            elif step.startswith(CONNECTING):
                turns.pop().over()

        return delay

    async def _turn(self) -> Permit:
        while self._turns:
            turn = self._turns.popleft()
            if self.rate_limiter.renew(turn):
                return turn
        return await self.rate_limiter.turn()


class Timer(Protocol):
    """What `Timers.call_at` returns."""

    def cancel(self) -> object:
        """Cancel the timer: its callback is not called."""
        ...


class Timers(Protocol):
    """The part of an event loop that has a clock and runs timers."""

    def time(self) -> float:
        """Return seconds on a monotonic clock."""
        ...

    def call_at(self, when: float, callback: Callable[[], object], /) -> Timer:
        """Call `callback` once, when the clock reads `when`."""
        ...


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request in the queue."""

    arrival: int
    kind: RequestKind
    slots: ConnectionSlots | None
    timeout_s: float
    admitted: asyncio.Future[None]
    timeout: Timer | None = None

    def take_idle(self) -> bool:
        return self.slots is None or self.slots.take_idle()

    def open(self) -> bool:
        return self.slots is None or self.slots.open()

    def expire(self) -> None:
        if not self.admitted.done():
            message = f"no connection became free within {self.timeout_s:g} s; nothing was sent"
            self.admitted.set_exception(TimedOut(message, phase="pool", sent=False))


class Limiter:
    """The queue that admits requests: `async with limiter.turn(kind)` around each.

    The service allows 120 requests a second to one address, and advises at most 100 a second on one connection; `rate` is
    what all connections may send together. Several clients of one address share a limiter:

        limiter = Limiter(rate=100)
        first, second = (Client.practice(token, account, limiter=limiter) for account in accounts)

    They have to run on the same event loop; each `sync.Client` has a loop of its own and needs a limiter of its own.
    """

    def __init__(
        self,
        rate: int = RATE,
        window_s: float = RATE_WINDOW_S,
        *,
        reads_at_once: int = READS_AT_ONCE,
        calls_at_once: int = CALLS_AT_ONCE,
        more_for_exits: int = MORE_FOR_EXITS,
        look_ups_at_once: int = LOOK_UPS_AT_ONCE,
        timers: Timers | None = None,
    ) -> None:
        self._rate, self._window_s = rate, window_s
        self._in_flight = 0
        self._ends: deque[float] = deque()
        self._queues: dict[RequestKind, deque[_Waiter]] = {kind: deque() for kind in RequestKind}
        self._arrivals = count()
        self._reads_free, self._calls_free = reads_at_once, calls_at_once
        self._least_free = -more_for_exits
        self._look_ups_free = look_ups_at_once
        self._look_up_opened_last = False
        self._timers = timers
        self._wake_up: Timer | None = None
        self._wake_up_at = inf

    @asynccontextmanager
    async def turn(
        self, kind: RequestKind, slots: ConnectionSlots | None = None, timeout_s: float = inf
    ) -> AsyncGenerator[None]:
        """Wait for a turn, and end it on leaving; an exception on leaving counts the connection as lost.

        Args:
            kind: decides on the order and the place.
            slots: the connections that the request may use; None when they are neither counted nor paced.
            timeout_s: how long the request may wait for a connection once the rate and a place allow it.

        Raises:
            TimedOut: `timeout_s` passed; nothing was sent.
        """
        await self._admission(kind, slots, timeout_s)
        is_lost = True
        try:
            yield
            is_lost = False
        finally:
            self._release(kind, slots, is_lost=is_lost)

    @property
    def waiting(self) -> int:
        """How many requests wait for their turn."""
        return sum(not each.admitted.done() for queue in self._queues.values() for each in queue)

    async def _admission(
        self, kind: RequestKind, slots: ConnectionSlots | None, timeout_s: float
    ) -> None:
        admitted = asyncio.get_running_loop().create_future()
        waiter = _Waiter(next(self._arrivals), kind, slots, timeout_s, admitted)
        self._queues[kind].append(waiter)
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled():  # admitted, but it will not be sent
                self._release(kind, slots, is_lost=False)
            raise
        except TimedOut:
            self._admit()  # the request behind it is now the first that waits for a connection
            raise
        finally:
            if waiter.timeout is not None:
                waiter.timeout.cancel()

    def _release(self, kind: RequestKind, slots: ConnectionSlots | None, *, is_lost: bool) -> None:
        self._in_flight -= 1
        self._ends.append(self._clock().time())
        self._add_places(kind, 1)
        if slots is not None:
            slots.release(is_lost=is_lost)
        self._admit()

    def _add_places(self, kind: RequestKind, places: int) -> None:
        if kind is RequestKind.LOOK_UP:
            self._look_ups_free += places
            return
        self._calls_free += places
        if kind is RequestKind.READ:
            self._reads_free += places

    def _admit(self) -> None:
        """Admit requests until the queue is empty, or the rate, the places or the connections are used up."""
        while any(self._queues.values()) and (candidates := self._candidates()):
            room = self._rate_room()
            if room == 0:
                self._wake_at(self._ends[0] + self._window_s if self._ends else inf)
                return
            if room == 1 and candidates[0].kind is RequestKind.URGENT:
                candidates = candidates[
                    :1
                ]  # the last request of the window is reserved for an exit that waits for a connection
            waiter = self._first_connected(candidates)
            if waiter is None:
                return
            self._queues[waiter.kind].popleft()
            self._in_flight += 1
            self._add_places(waiter.kind, -1)
            waiter.admitted.set_result(None)

    def _candidates(self) -> list[_Waiter]:
        """Return the requests that have a place, in order: an exit, a look-up, or else the first to arrive."""
        exit_ = self._first(RequestKind.URGENT) if self._calls_free > self._least_free else None
        look_up = self._first(RequestKind.LOOK_UP) if self._look_ups_free > 0 else None
        other = self._first_other() if exit_ is None and self._calls_free > 0 else None
        return [each for each in (exit_, look_up, other) if each is not None]

    def _first_other(self) -> _Waiter | None:
        write = self._first(RequestKind.WRITE)
        read = self._first(RequestKind.READ) if self._reads_free > 0 else None
        if write is None or read is None:
            return write or read
        return min(write, read, key=lambda waiter: waiter.arrival)

    def _first(self, kind: RequestKind) -> _Waiter | None:
        queue = self._queues[kind]
        while queue and queue[0].admitted.done():  # cancelled or timed out while it waited
            queue.popleft()
        return queue[0] if queue else None

    def _first_connected(self, candidates: list[_Waiter]) -> _Waiter | None:
        """Return the first candidate that gets a connection; None when they have to wait for one."""
        for waiter in candidates:
            if waiter.take_idle():
                return waiter
        candidates.sort(key=self._had_last_opening)
        for waiter in candidates:
            if waiter.open():
                self._look_up_opened_last = waiter.kind is RequestKind.LOOK_UP
                return waiter
        for waiter in candidates:
            self._await_connection(waiter)
        return None

    def _had_last_opening(self, waiter: _Waiter) -> bool:
        return (waiter.kind is RequestKind.LOOK_UP) is self._look_up_opened_last

    def _await_connection(self, waiter: _Waiter) -> None:
        now = self._clock().time()
        if waiter.timeout is None and waiter.timeout_s != inf:
            waiter.timeout = self._clock().call_at(now + waiter.timeout_s, waiter.expire)
        if waiter.slots is not None and not waiter.slots.is_full:
            self._wake_at(now + waiter.slots.rate_limiter.delay())

    def _rate_room(self) -> int:
        """Return how many requests the rate still allows in this window."""
        past = self._clock().time() - self._window_s
        while self._ends and self._ends[0] <= past:
            self._ends.popleft()
        return max(0, self._rate - self._in_flight - len(self._ends))

    def _wake_at(self, when: float) -> None:
        when = max(when, self._clock().time() + LEAST_WAIT_S)
        if when >= self._wake_up_at:
            return
        if self._wake_up is not None:
            self._wake_up.cancel()
        self._wake_up_at = when
        self._wake_up = self._clock().call_at(when, self._on_wake_up)

    def _on_wake_up(self) -> None:
        self._wake_up, self._wake_up_at = None, inf
        self._admit()

    def _clock(self) -> Timers:
        return self._timers or asyncio.get_running_loop()
