"""Whether the broker answers, how fast, and whether its clock and ours agree."""

from argparse import Namespace
from collections.abc import AsyncIterator
from statistics import median
from time import monotonic, time_ns

from keydesk.app.embedded import PracticeFailed
from keydesk.cli.check import Check
from keydesk.cli.reaching import Reached, reached
from keydesk.cli.refusal import Refusal
from keydesk.config.config import BadSettings
from keydesk.config.paths import UnsafeFolder
from keydesk_client.errors import KeydeskClientError

ASKED = 5  # times
SLOW_MS = 400.0
OFF_SECONDS = 2.0
SECOND = 1_000_000_000


async def broker(options: Namespace) -> list[Check]:
    """Judge the account that the options name."""
    checks: list[Check] = []
    try:
        async with reached(options) as reach:
            checks += [check async for check in _asked(reach)]
    except (Refusal, BadSettings, UnsafeFolder, PracticeFailed, KeydeskClientError, OSError) as why:
        checks.append(Check("broker", "bad", str(why)))
    return checks


async def _asked(reach: Reached) -> AsyncIterator[Check]:
    account = (await reach.client.accounts.summary()).account
    yield Check("broker", "ok", f"{reach.name}, {account.currency}, answers")
    yield round_trip([await _milliseconds(reach) for _ in range(ASKED)])
    began = time_ns()
    there = (await reach.client.pricing.get(["EUR_USD"])).time.ns
    yield clock(there, (began + time_ns()) // 2, own_broker=reach.target.own_broker)


async def _milliseconds(reach: Reached) -> float:
    began = monotonic()
    await reach.client.accounts.summary()
    return (monotonic() - began) * 1000


def round_trip(milliseconds: list[float]) -> Check:
    """Judge how long answers take."""
    middle, longest = median(milliseconds), max(milliseconds)
    words = f"{middle:.0f} ms, at most {longest:.0f} ms of {len(milliseconds)}"
    if middle > SLOW_MS:
        return Check("round trip", "warn", f"{words}: slow; orders will take that long")
    return Check("round trip", "ok", words)


def clock(there_ns: int, here_ns: int, *, own_broker: bool) -> Check:
    """Judge the broker's time against ours; a practice market may live in another year."""
    ahead = round((here_ns - there_ns) / SECOND, 1) + 0.0  # no minus before nothing
    if abs(ahead) <= OFF_SECONDS:
        return Check("clock", "ok", f"{ahead:+.1f} s against the broker's")
    if own_broker:
        return Check("clock", "ok", "the practice market keeps a time of its own")
    words = f"{ahead:+.1f} s against the broker's: set this machine's clock (NTP)"
    return Check("clock", "bad", words)
