"""One call from request to record: reads are retried, writes are sent once."""

import asyncio
import copy
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from hashlib import sha256
from logging import DEBUG
from typing import TYPE_CHECKING, Final, Self, TypeVar

from keydesk_client.errors import (
    HttpStatusError,
    KeydeskClientError,
    RateLimited,
    UnreadableAnswer,
)
from keydesk_client.http.errors import error_of
from keydesk_client.http.log import LOG, log_failure, log_response
from keydesk_client.http.messages import HttpResponse, Request
from keydesk_client.http.retry import Retries
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.record import Response

if TYPE_CHECKING:
    from keydesk_client.http.session import Session  # imports httpx: not for who reads records only

R = TypeVar("R", bound=Response)

LINK: Final = re.compile(r'<([^<>]*)>\s*;[^,<>]*?\brel="?([a-z]+)"?', re.IGNORECASE)
MAX_LINKS_LENGTH: Final = 8000
"""Characters of the Link header that are searched: a page has one or two links."""
MAX_ANSWERED: Final = 50
"""The responses whose ids (without one, the digest of a body) are kept, to notice one that comes again."""
MAX_INLINE_BYTES: Final = 64_000
"""Bytes of a malformed body that are read without leaving the event loop: at most 50 ms."""


class Caller:
    """Sends requests and returns records."""

    def __init__(
        self,
        session: "Session",
        retries: Retries,
        *,
        clock: Callable[[], float] = time.monotonic,
        rng: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.session: Session = session
        self._throttled = [0]  # one count for this caller and its copies
        self.retries: Retries = retries
        self._clock, self._chance, self._sleep = clock, rng, sleep
        self._answered: deque[str] = deque(maxlen=MAX_ANSWERED)
        self.is_for_look_ups: bool = False

    def for_look_ups(self) -> Self:
        """Return a caller on the same session whose reads are look-ups."""
        caller = copy.copy(self)
        caller.is_for_look_ups = True
        return caller

    def with_retries(self, retries: Retries) -> Self:
        """Return a caller on the same session whose reads are retried by another policy."""
        caller = copy.copy(self)
        caller.retries = retries
        return caller

    @property
    def throttled(self) -> int:
        """How many responses had the status 429, to this caller and to those made from it."""
        return self._throttled[0]

    async def call(
        self,
        request: Request,
        reader: Reader[R],
        is_answer: Callable[[R | HttpStatusError], bool] = lambda _: True,
    ) -> R:
        """Send a request and return the response as a record; raise a KeydeskClientError when there is none.

        `is_answer` tells whether a response to a write is that to this request; for another UnreadableAnswer is raised.
        """
        if self.is_for_look_ups:
            request = replace(request, look_up=True)
        began, attempts = self._clock(), 0
        while True:
            failure: KeydeskClientError
            try:
                response = await self._send(request, reader.limits.size)
                answer = await self._answer(request, response, reader, is_answer)
                if not isinstance(answer, HttpStatusError):
                    return answer
                failure = answer
            except KeydeskClientError as error:
                failure = error
            self._throttled[0] += isinstance(failure, RateLimited)
            attempts += 1
            pause = self._pause(request, failure, attempts, self._clock() - began)
            if pause is None:
                raise failure
            await self._sleep(pause)

    async def _answer(
        self,
        request: Request,
        response: HttpResponse,
        reader: Reader[R],
        is_answer: Callable[[R | HttpStatusError], bool],
    ) -> R | HttpStatusError:
        """Return the record or the refusal in a response; raise UnreadableAnswer for a response to another request."""
        is_repeated = self._is_repeated(request, response)
        if is_repeated and not request.is_read:
            raise await self._foreign(response, "that to an earlier request")
        answer: R | HttpStatusError
        if response.is_success:
            answer = await read_record(response, reader)
        else:
            answer = error_of(response, request.query)
            if request.is_read and answer.reject_transactions:
                raise await self._foreign(response, "that to an earlier request")
        if not is_answer(answer):
            raise await self._foreign(response, "not to this request, or does not name it")
        return answer

    async def _foreign(self, response: HttpResponse, what: str) -> UnreadableAnswer:
        """Close the connection, on which the right response may still come; return the error."""
        await self.session.discard(response)
        return UnreadableAnswer(f"the response is {what}", status=response.status)

    async def _send(self, request: Request, max_bytes: int) -> HttpResponse:
        """Send a request once, and log it."""
        began = self._clock()
        try:
            response = await self.session.request(request, max_bytes)
        except KeydeskClientError as error:
            log_failure(request, error, self._clock() - began)
            raise
        if LOG.isEnabledFor(DEBUG):
            log_response(request, response.status, response.request_id, self._clock() - began)
        return response

    def _is_repeated(self, request: Request, response: HttpResponse) -> bool:
        """Note a response; return whether it came before: a broken proxy may bring one again as that to the next request.

        A refusal without transactions names its request by its id alone, and what a success names may be the same in
        both: without client ids, two orders of one size. Ids alone do not tell successes apart: those of a replay come again.
        """
        key = response.request_id
        if response.is_success and not request.is_read:
            key = sha256(key.encode() + response.body).hexdigest()
        if not key:
            return False
        is_repeated = key in self._answered
        self._answered.append(key)
        return is_repeated

    def _pause(
        self, request: Request, failure: KeydeskClientError, attempts: int, spent_s: float
    ) -> float | None:
        if not request.is_read:
            return None
        return self.retries.pause(failure, attempts=attempts, spent_s=spent_s, rng=self._chance)


async def read_record(response: HttpResponse, reader: Reader[R]) -> R:
    """Return the record in a successful response, with its request id, location and links.

    Raises:
        UnreadableAnswer: the body is not the JSON of such a record.
    """
    try:
        record = reader.read_strict(response.body)
        if record is None:
            record = await _read_malformed(response.body, reader)
    except UnreadableAnswer as error:
        error.status, error.request_id = response.status, response.request_id
        raise
    links = LINK.findall(response.headers.get("link", "")[:MAX_LINKS_LENGTH])
    return record.model_copy(
        update={
            "request_id": response.request_id,
            "location": response.headers.get("location"),
            "links": {relation.lower(): url for url, relation in links},
        }
    )


async def _read_malformed(body: bytes, reader: Reader[R]) -> R:
    """Read member by member; large bodies in a thread, since that takes seconds of pure Python."""
    if len(body) <= MAX_INLINE_BYTES:
        return reader.read_lenient(body)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_reading_thread(), reader.read_lenient, body)


@cache
def _reading_thread() -> ThreadPoolExecutor:
    """Return the one thread that reads large malformed bodies.

    Each thread keeps the memory that its largest body needed, some megabytes; the threads of asyncio would be six.
    """
    return ThreadPoolExecutor(1, "keydesk-client-reading")
