"""One call from request to record: at the service's pace, reads asked again, errors raised."""

import asyncio
import json
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from keydesk_client.errors import KeydeskClientError, RateLimited, UnreadableAnswer
from keydesk_client.http.answers import error_of
from keydesk_client.http.exchange import Answer, Request
from keydesk_client.http.limiter import Claim, Limiter
from keydesk_client.http.pace import ConnectPace
from keydesk_client.http.retries import Retries
from keydesk_client.http.transport import Transport
from keydesk_client.models._core.base import Response
from keydesk_client.models._core.reading import Reader
from keydesk_client.models._core.record import Wire

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
    record = reader.read_quickly(body)
    if record is not None:
        return record
    if len(body) <= SALVAGED_AT_ONCE:
        return reader.salvage(body)
    return await asyncio.to_thread(reader.salvage, body)


def json_body(members: Wire) -> bytes:
    """A body to send."""
    return json.dumps(members, separators=(",", ":")).encode()


def _claim(request: Request) -> Claim:
    if request.urgent:
        return Claim.URGENT
    if request.look_up:
        return Claim.LOOK_UP
    return Claim.READ if request.is_read else Claim.WRITE
