"""Handle keys and pastes one at a time: the next one waits until the one before has had its effect.

Textual passes a key to the focused pane, from there up to the screen and the app, which looks up its binding: several
message queues, one behind the other. On a busy machine the next key is read before the form of the first one is open, and
would go to the pane beneath, or be lost. It therefore waits until every queue on the way of the first key was
worked through, with the messages that its action posted, and until the form that it opened has its children and its focus.

This does not depend on timing: a marker message follows the key through the same queues. The marker is queued when the
next key comes, or a moment later, so that the picture of the first key is drawn before.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, TypeAlias

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen

Typed: TypeAlias = events.Key | events.Paste

ROUNDS = 2  # the way of the key, and the way of the messages that its action posted
DRAWN_FIRST = 0.05  # seconds for the picture of a key; a marker in the queues would delay it by 1 ms, a form by 6 ms
PANE_TIMEOUT = 10.0  # seconds after which a pane that does not answer no longer holds the keyboard


class KeyOrder:
    """Passes keys and pastes on in the order of arrival, each after the effect of the one before.

    Args:
        app: The app whose keys they are.
        deliver: Handles a key; it calls `follow` before it passes the key on to Textual.
        settled: Called after the effect of a key, with the screen that the key was for, before the next one is delivered.
        gave_up: Called with what waited longer than `PANE_TIMEOUT` and is dropped.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        app: App[Any],
        deliver: Callable[[Typed], Awaitable[None]],
        *,
        settled: Callable[[Screen[Any]], None],
        gave_up: Callable[[Sequence[Typed]], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._app = app
        self._deliver = deliver
        self._settled = settled
        self._gave_up = gave_up
        self._clock = clock
        self._waiting: deque[Typed] = deque()
        self._followed = 0  # the number of the last key that was followed
        self._under_way: int | None = None  # the number of the key whose effect is not complete
        self._since = 0.0
        self._marker: _Marker | None = None  # of that key; not queued yet
        self._sets_out: asyncio.TimerHandle | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a key is under way, so that the next one waits."""
        return self._under_way is not None

    async def deliver(self, event: Typed) -> None:
        """Deliver the event now, or after those before it."""
        if self.is_busy and self._clock() - self._since > PANE_TIMEOUT:
            self._under_way = None
            self._gave_up(self.drop())
        self._waiting.append(event)
        self._set_out()
        await self._deliver_waiting()

    def drop(self, until: Callable[[Typed], bool] = lambda _event: False) -> Sequence[Typed]:
        """Drop what waits, up to the first event for which `until` holds; return what was dropped."""
        dropped: list[Typed] = []
        while self._waiting and not until(self._waiting[0]):
            dropped.append(self._waiting.popleft())
        return dropped

    def follow(self) -> Callable[[], None]:
        """Begin a key: the next one waits from now on; call the result when Textual has the key."""
        self._followed += 1
        self._under_way, self._since = self._followed, self._clock()
        marker = _Marker(self._app, self._followed, self._arrived)

        def passed_on() -> None:
            self._marker = marker
            if self._waiting:
                self._set_out()
            else:
                loop = asyncio.get_running_loop()
                self._sets_out = loop.call_later(DRAWN_FIRST, self._set_out)

        return passed_on

    def _set_out(self) -> None:
        marker, self._marker = self._marker, None
        if self._sets_out is not None:
            self._sets_out.cancel()
            self._sets_out = None
        if marker is not None:
            marker.start()

    def _arrived(self, number: int, screen: Screen[Any]) -> Awaitable[None] | None:
        if number != self._under_way:  # it was given up
            return None
        self._under_way = None
        self._settled(screen)
        return self._deliver_waiting()

    async def _deliver_waiting(self) -> None:
        while self._waiting and not self.is_busy:
            await self._deliver(self._waiting.popleft())


class _Marker:
    """Follows one key through the queues that it passes, then waits for the screen that it opened."""

    def __init__(
        self,
        app: App[Any],
        number: int,
        arrived: Callable[[int, Screen[Any]], Awaitable[None] | None],
    ) -> None:
        self._app = app
        self._number = number
        self._arrived = arrived
        self._screen = self._front = app.screen
        self._way: Sequence[MessagePump] = (app.focused or app.screen).ancestors_with_self
        self._rounds = ROUNDS

    def start(self) -> None:
        """Queue the marker behind the key."""
        self._rounds -= 1
        self._pass(deque(self._way))

    def _pass(self, way: deque[MessagePump]) -> None:
        """Queue the marker in the next message pump of `way`; pumps that were closed meanwhile are skipped."""
        while way:
            if way.popleft().call_later(self._pass, way):
                return
        self._app.call_next(self._end_round)  # behind the results of forms that closed

    def _end_round(self) -> Awaitable[None] | None:
        stack = self._app.screen_stack
        if not stack:  # the app is leaving
            return None
        if self._rounds:
            self.start()
        elif stack[-1] is not self._front:
            # Its queue begins once it is mounted and has its focus. Textual 8.2 makes the app wait for that, too.
            self._front = stack[-1]
            self._pass(deque((self._front, self._app)))
        else:
            return self._arrived(self._number, self._screen)
        return None
