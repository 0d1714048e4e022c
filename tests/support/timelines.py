"""When each order was sent, when its answer was lost, when it was asked about in vain, and when it was settled."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import httpx

from keydesk_client.http.endpoint import address_of
from keydesk_client.http.transport import DefaultTransport
from keydesk_client.orders.outcome import Done, Outcome, Progress, Sending, Unknown
from keydesk_client.orders.reconciler import TASK_NAME


class Seen(NamedTuple):
    """One request, as the client met it."""

    began: float
    ended: float
    method: str
    said: str
    """Status and length of the answer, or the error."""
    failed: bool


@dataclass
class Timeline:
    """The moments of one order, by the loop's clock."""

    sent_at: float
    lost_at: float | None = None
    """When its answer was known to be lost; None for an order whose answer came."""
    requests: list[Seen] = field(default_factory=list)
    """Its own, and those that asked about it."""
    look_ups: int = 0
    """Look-ups that were answered and settled nothing."""
    look_ups_failed: int = 0
    waited_at: float = 0.0
    """When it last began to wait for a look-up."""
    settled_at: float = 0.0
    outcome: Outcome | None = None

    @property
    def settled_after(self) -> float:
        """Seconds from the last moment at which the broker could not be asked."""
        failed = [each.ended for each in self.requests if each.failed]
        return self.settled_at - max(self.lost_at or self.sent_at, *failed, self.sent_at)

    @property
    def _answered_at(self) -> float:
        """When the last look-up that was answered ended; of one that was none, when it was sent."""
        answered = (
            each.ended for each in self.requests if not each.failed and each.method == "GET"
        )
        return max(answered, default=self.sent_at)

    @property
    def settled_after_answer(self) -> float:
        """Seconds from the end of the last look-up that was answered."""
        return self.settled_at - self._answered_at

    @property
    def waited_after_answer(self) -> bool:
        """Whether it waited once more after the last look-up that was answered."""
        return self.waited_at > self._answered_at

    @property
    def took(self) -> float:
        """Seconds from sending to settling."""
        return self.settled_at - self.sent_at

    def __str__(self) -> str:
        """Request by request, in seconds since it was sent."""
        lines = [
            f"  {each.began - self.sent_at:7.2f} to {each.ended - self.sent_at:7.2f}  {each.method} {each.said}"
            for each in self.requests
        ]
        return "\n".join((*lines, f"  settled at {self.settled_at - self.sent_at:.2f}"))


class Timelines:
    """Hears of a Sender's progress, and of the requests that fail; each order belongs to the task that sends it."""

    def __init__(self) -> None:
        self.settled: list[Timeline] = []
        self._under_way: dict[asyncio.Task[object] | None, Timeline] = {}
        self._by_intent: dict[str, Timeline] = {}

    def hear(self, progress: Progress) -> None:
        """A step of an order: hand this to the Sender as `on_progress`."""
        now, task = asyncio.get_running_loop().time(), asyncio.current_task()
        match progress:
            case Sending():
                self._under_way[task] = self._by_intent[progress.intent.id] = Timeline(now)
            case Unknown():
                _asked(self._under_way[task], progress, now)
            case _ if task in self._under_way:
                timeline = self._under_way.pop(task)
                self._by_intent.pop(progress.intent.id, None)
                timeline.settled_at, timeline.outcome = now, progress
                self.settled.append(timeline)

    def saw(self, request: Seen) -> None:
        """A request of this task's order is over, or a look-up that several orders share."""
        task = asyncio.current_task()
        if task in self._under_way:
            self._under_way[task].requests.append(request)
        elif task is not None and task.get_name().startswith(TASK_NAME):
            for intent_id in task.get_name().removeprefix(TASK_NAME).split():
                if intent_id in self._by_intent:
                    self._by_intent[intent_id].requests.append(request)

    def looked_up(self) -> list[Timeline]:
        """Orders whose answer was lost."""
        return [each for each in self.settled if each.lost_at is not None]

    def server_failures(self) -> list[Seen]:
        """Requests that the broker itself failed on: no fault of the network's."""
        every = (request for each in self.settled for request in each.requests)
        return [each for each in every if each.said.startswith("5")]

    @property
    def longest(self) -> Timeline:
        """The order that took the longest once the broker could be asked again."""
        return max(self.looked_up(), key=lambda each: each.settled_after)


def _asked(timeline: Timeline, unknown: Unknown, now: float) -> None:
    """The answer was lost just now, or a look-up ended without settling it: the next one is waited for."""
    timeline.waited_at = now
    if timeline.lost_at is None:
        timeline.lost_at = now
        return
    timeline.look_ups_failed += unknown.look_ups == timeline.look_ups
    timeline.look_ups = unknown.look_ups


CONNECTIONS = 10
"""As many as a client has for its requests and its look-ups."""


class NotedRequests(httpx.AsyncBaseTransport):
    """Carries requests as ever, and tells of each: it failed unless the last byte of a good answer came."""

    def __init__(self, url: str, saw: Callable[[Seen], None]) -> None:
        self._transport = DefaultTransport(address_of(url), CONNECTIONS)
        self._saw = saw

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            response = await self._transport.handle_async_request(request)
            try:
                body = b"".join([piece async for piece in response.aiter_raw()])
            finally:
                await response.aclose()
        except BaseException as error:
            self._saw(Seen(began, clock(), request.method, repr(error), failed=True))
            raise
        status = response.status_code
        said = f"{status}, {len(body)} bytes"
        self._saw(Seen(began, clock(), request.method, said, failed=status >= 400))
        return httpx.Response(status, headers=response.headers.raw, stream=httpx.ByteStream(body))

    async def aclose(self) -> None:
        await self._transport.aclose()


def summary(timelines: Timelines) -> str:
    """What happened, in words."""
    lost = timelines.looked_up()
    after = sorted(each.settled_after for each in lost)
    found = [each for each in lost if isinstance(each.outcome, Done)]
    answered = max(each.settled_after_answer for each in lost)
    total = max(each.took for each in lost)
    return (
        f"{len(timelines.settled)} sent, {len(lost)} answers lost, {len(found)} of them found done, "
        f"{sum(each.look_ups_failed for each in lost)} look-ups failed;\n"
        f"settled after the broker could be asked: median {after[len(after) // 2]:.1f} s, "
        f"longest {after[-1]:.2f} s; after the last look-up that was answered: longest {answered:.3f} s; "
        f"after sending: longest {total:.1f} s; the longest:\n{timelines.longest}"
    )
