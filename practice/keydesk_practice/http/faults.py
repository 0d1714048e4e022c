"""Faults on demand: latency, errors, lost responses and cut streams, set through the control interface.

All are off by default, and then no request is affected. Shares are probabilities for one request, drawn from a generator
with a seed of its own, so the same requests in the same order have the same faults.
"""

import asyncio
import random
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import asdict
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.http.error_responses import HttpError, too_many_requests

ABORT = "keydesk.abort"  # the extension of a request's scope that closes its connection
_RETRY_SECONDS = "5"
_SHARES = ("refused", "lost", "error_429", "error_502", "error_503", "duplicates", "requotes")
_MAX_MS = 60_000.0
_MAX_SECONDS = 86_400.0


class FaultProfile(Struct, frozen=True, kw_only=True):
    """What goes wrong, and how often; shares are from 0 to 1, everything is off at 0."""

    latency_ms: float = 0.0  # before each request is handled
    jitter_ms: float = 0.0  # up to so much more
    refused: float = 0.0  # share of requests whose connection is closed before they are handled
    lost: float = 0.0  # share of requests that are handled and whose answer never arrives
    error_429: float = 0.0
    error_502: float = 0.0
    error_503: float = 0.0
    maintenance: bool = False  # every request is answered with 503
    cut_streams_s: float = 0.0  # mean time after which a stream's connection is closed
    mute_streams_s: float = 0.0  # mean time after which a stream stays open and sends nothing more
    read_lag_ms: float = 0.0  # reads show an account as it was so long ago
    duplicates: float = 0.0  # share of streamed transactions that are sent twice
    late_ms: float = 0.0  # delay of streamed transactions
    requotes: float = 0.0  # share of market orders that find no liquidity
    seed: int = 1

    def problem(self) -> str | None:
        """Return the name of the first member that is out of range, and its range."""
        for name, value in asdict(self).items():
            highest = 1.0 if name in _SHARES else _MAX_SECONDS
            highest = _MAX_MS if name.endswith("_ms") else highest
            if name not in {"seed", "maintenance"} and not 0 <= value <= highest:
                return f"'{name}': use 0 to {highest:g}"
        return None

    def texts(self) -> tuple[str, ...]:
        """Return a line for each fault that is on."""
        on = [(name, value) for name, value in asdict(self).items() if name != "seed" and value]
        return tuple(_text(name, value) for name, value in on)


NO_FAULTS = FaultProfile()
PROFILES = {
    "bad-line": FaultProfile(latency_ms=200, jitter_ms=400, lost=0.01, cut_streams_s=60),
    "bad-day": FaultProfile(
        latency_ms=100, jitter_ms=300, refused=0.02, lost=0.02, error_429=0.01, error_502=0.02,
        error_503=0.02, cut_streams_s=90, mute_streams_s=180, read_lag_ms=400, duplicates=0.05,
        late_ms=300, requotes=0.05,
    ),
    "maintenance": FaultProfile(maintenance=True),
    "requotes": FaultProfile(requotes=1.0),  # no market order finds liquidity
}  # fmt: skip


class _StreamEnds(Struct, frozen=True):
    """When an open stream falls silent and when it is cut, in the seconds of the event loop."""

    profile: FaultProfile
    mutes_at: float
    cuts_at: float


class ConnectionDropped(Exception):
    """The connection was closed on purpose; nothing is sent."""


class Faults:
    """Applies a profile to requests and streams."""

    def __init__(self, profile: FaultProfile = NO_FAULTS) -> None:
        self.use(profile)

    def use(self, profile: FaultProfile) -> None:
        """Change the profile and begin its draws anew."""
        self.profile = profile
        self.active = profile is not NO_FAULTS  # whether anything is on
        self._draws = random.Random(profile.seed)  # noqa: S311 - no secret

    def requotes(self) -> bool:
        """Return whether this market order finds no liquidity."""
        return self._hits(self.profile.requotes)

    async def before(self, scope: Scope, receive: Receive) -> None:
        """Delay a request; raise an `HttpError` or `ConnectionDropped` if it is to fail before it is handled."""
        profile = self.profile
        delay = profile.latency_ms + self._draws.uniform(0.0, profile.jitter_ms)
        if delay:
            await asyncio.sleep(delay / 1000)
        if profile.maintenance:
            raise HttpError(503, "Down for maintenance", headers={"Retry-After": _RETRY_SECONDS})
        if self._hits(profile.refused):
            await drop(scope, receive)
        if self._hits(profile.error_429):
            raise too_many_requests(seconds=1)
        for share, status, text in (
            (profile.error_502, 502, "Bad gateway"),
            (profile.error_503, 503, "Service unavailable"),
        ):
            if self._hits(share):
                raise HttpError(status, text)

    def sender(self, scope: Scope, receive: Receive, send: Send) -> Send:
        """Return a `send` that applies the faults to the answer of a request.

        A profile that is set while a stream is open applies from the stream's next message on.
        """
        if scope["path"].endswith("/stream"):
            return self._stream_sender(scope, receive, send)
        if not self._hits(self.profile.lost):
            return send

        async def lose(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                await drop(scope, receive)

        return lose

    def _stream_sender(self, scope: Scope, receive: Receive, send: Send) -> Send:
        ends = self._stream_ends(self._draws)
        carries_transactions = scope["path"].endswith("/transactions/stream")

        async def disturb(message: Message) -> None:
            nonlocal ends
            if ends.profile is not self.profile:  # of its own draws: requests keep theirs
                draws = random.Random(f"{self.profile.seed} {scope['path']}")  # noqa: S311 - no secret
                ends = self._stream_ends(draws)
            if not self.active:
                await send(message)
                return
            now = asyncio.get_running_loop().time()
            if now >= ends.cuts_at:
                await drop(scope, receive)
            if now >= ends.mutes_at and message["type"] == "http.response.body":
                return
            body = message.get("body", b"")
            if carries_transactions and body and b'"HEARTBEAT"' not in body:
                await asyncio.sleep(ends.profile.late_ms / 1000)
                message = {**message, "body": self._repeated(body)}
            await send(message)

        return disturb

    def _stream_ends(self, draws: random.Random) -> "_StreamEnds":
        now = asyncio.get_running_loop().time()
        means = (self.profile.mute_streams_s, self.profile.cut_streams_s)
        after = [draws.expovariate(1 / mean) if mean else float("inf") for mean in means]
        return _StreamEnds(self.profile, *(now + seconds for seconds in after))

    def _repeated(self, lines: bytes) -> bytes:
        repeated = [
            line * (1 + self._hits(self.profile.duplicates)) for line in lines.splitlines(True)
        ]
        return b"".join(repeated)

    def _hits(self, share: float) -> bool:
        return share > 0 and self._draws.random() < share


async def drop(scope: Scope, receive: Receive) -> None:
    """Close the connection of a request and raise `ConnectionDropped` when it is closed."""
    abort: Callable[[], None] | None = scope.get("extensions", {}).get(ABORT)
    if abort is not None:
        abort()
        while (await receive())["type"] != "http.disconnect":
            pass
    raise ConnectionDropped


def _text(name: str, value: float) -> str:
    text = name.removesuffix("_ms").removesuffix("_s").replace("_", " ")
    if name == "maintenance":
        return text
    if name.endswith("_ms"):
        return f"{text} {value:g} ms"
    return f"{text} {value:g} s" if name.endswith("_s") else f"{text} {value:.0%}"
