"""One call from request to record: at the service's pace, reads asked again, errors raised.

How often a read is asked again, and how long to wait in between. Writes are never repeated here.

Full jitter: each pause is drawn between nothing and a ceiling that doubles, so that a thousand clients which lost the
service at once do not come back at once.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from keydesk_client.errors import (
    Answered,
    AnswerTooLarge,
    ConnectionLost,
    KeydeskClientError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.error_mapping import error_of
from keydesk_client.http.messages import Answer, Request
from keydesk_client.http.pacing import BackOff, Claim, ConnectPace, Limiter
from keydesk_client.http.transport import Transport
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.record import Response, Wire

PASSING = (Unreachable, ConnectionLost, TimedOut, UnreadableAnswer, RateLimited)
PASSING_STATUSES = frozenset({500, 502, 503, 504})
"""Not 501: what a service does not offer it will not offer in a second either."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The patience of a client with a read."""

    most: int = 3
    """Times that a read is asked again; 0 for never."""
    first_s: float = 0.25
    longest_s: float = 5.0
    """Ceiling of a drawn pause."""
    patience_s: float = 20.0
    """No further try starts later than this after the first; a longer Retry-After is raised, not slept out."""

    def pause(
        self, error: KeydeskClientError, *, tries: int, spent_s: float, chance: Callable[[], float]
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up; `chance` draws from 0 to 1."""
        if tries > self.most or not _passes(error):
            return None
        asked = error.retry_after if isinstance(error, Answered) else None
        back_off = BackOff(self.first_s, self.longest_s)
        pause = back_off.pause(tries - 1, chance, at_least_s=asked or 0.0)
        return pause if spent_s + pause <= self.patience_s else None


def _passes(error: KeydeskClientError) -> bool:
    if isinstance(error, ServerFailed):
        return error.status in PASSING_STATUSES
    return isinstance(error, PASSING) and not isinstance(error, AnswerTooLarge)


R = TypeVar("R", bound=Response)

LINK = re.compile(r'<([^<>]*)>\s*;[^,<>]*?\brel="?([a-z]+)"?', re.IGNORECASE)
SALVAGED_AT_ONCE = 64_000
"""Bytes of a broken body that are read without leaving the event loop: 50 ms at worst."""
LONGEST_LINKS = 8000
"""Characters of links that are looked at: a page has one or two."""


class Caller:
    """Sends requests through the limiter and turns answers into records."""

    def __init__(
        self,
        transport: Transport,
        limiter: Limiter,
        retries: Retries,
        *,
        is_for_look_ups: bool = False,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.transport = transport
        self.stream_pace: ConnectPace = transport.pace
        self.throttled: int = 0
        self._is_for_look_ups = is_for_look_ups
        self._limiter, self._retries = limiter, retries
        self._clock, self._chance, self._sleep = clock, chance, sleep

    def for_look_ups(self) -> "Caller":
        """Return one whose reads are look-ups; the transport, the limiter and the pace are the same."""
        return type(self)(
            self.transport,
            self._limiter,
            self._retries,
            is_for_look_ups=True,
            clock=self._clock,
            chance=self._chance,
            sleep=self._sleep,
        )

    async def ask(self, request: Request, reader: Reader[R]) -> R:
        """The answer as a record; every failure is one of `errors`."""
        if self._is_for_look_ups:
            request = replace(request, look_up=True)
        began, tries = self._clock(), 0
        while True:
            outcome = await self._tried(request, reader)
            if not isinstance(outcome, KeydeskClientError):
                return outcome
            self.throttled += isinstance(outcome, RateLimited)
            tries += 1
            pause = self._pause(request, outcome, tries, self._clock() - began)
            if pause is None:
                raise outcome
            await self._sleep(pause)

    async def _tried(self, request: Request, reader: Reader[R]) -> R | KeydeskClientError:
        try:
            async with self._limiter.turn(_claim(request)):
                answer = await self.transport.request(request, reader.limits.size)
            if not answer.succeeded:
                return error_of(answer, request.query)
            return await read_answer(answer, reader)
        except KeydeskClientError as error:
            return error

    def _pause(
        self, request: Request, error: KeydeskClientError, tries: int, spent_s: float
    ) -> float | None:
        if not request.is_read:
            return None
        return self._retries.pause(error, tries=tries, spent_s=spent_s, chance=self._chance)


async def read_answer(answer: Answer, reader: Reader[R]) -> R:
    """The record in a good answer, with what its headers say."""
    try:
        record = await _record_of(answer.body, reader)
    except UnreadableAnswer as error:
        error.status, error.request_id = answer.status, answer.request_id
        raise
    headers = answer.headers
    links = LINK.findall(headers.get("link", "")[:LONGEST_LINKS])
    said = {
        "request_id": answer.request_id,
        "location": headers.get("location"),
        "links": {relation.lower(): url for url, relation in links},
    }
    return record.model_copy(update=said)


async def _record_of(body: bytes, reader: Reader[R]) -> R:
    """Large bodies with broken records are read in a thread: that takes seconds of pure Python."""
    record = reader.read_strict(body)
    if record is not None:
        return record
    if len(body) <= SALVAGED_AT_ONCE:
        return reader.read_lenient(body)
    return await asyncio.to_thread(reader.read_lenient, body)


def json_body(members: Wire) -> bytes:
    """A body to send."""
    return json.dumps(members, separators=(",", ":")).encode()


def _claim(request: Request) -> Claim:
    if request.urgent:
        return Claim.URGENT
    if request.look_up:
        return Claim.LOOK_UP
    return Claim.READ if request.is_read else Claim.WRITE
