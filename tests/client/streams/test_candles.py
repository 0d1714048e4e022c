"""Finished candles as they close: each once, in order, none missing after an interruption; the gap of prices has times."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from keydesk_client.errors import ConnectionLost, Refused
from keydesk_client.http.limits import ConnectRateLimiter
from keydesk_client.models import Candlestick, DateTime, Reader
from keydesk_client.streams.candles import CandleStream, period_of
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import Gap, StreamSettings
from support.fakes.scripted_stream import ScriptedStream, Step
from support.fakes.virtual_time import run, virtual_timing

FOREVER = 1e6
MINUTE = 60_000_000_000
START = DateTime("2026-11-20T10:00:00Z").ns
CANDLE = Reader(Candlestick)


def beat(seconds: float) -> bytes:
    """A heartbeat of the service, so many seconds after the start."""
    time = DateTime.from_ns(START + int(seconds * 1e9)).text
    return b'{"type":"HEARTBEAT","time":"%s"}\n' % time.encode()


@dataclass
class Service:
    """Candles of every minute but those left out; `now` is moved by the script, `lag` holds one back."""

    now: float = 0.0
    missing: frozenset[int] = frozenset()
    lags: int = 0
    failures: list[Exception] = field(default_factory=list[Exception])
    asked: int = 0

    def at(self, seconds: float) -> list[Step]:
        """A heartbeat at a time, by which the service has candles until then."""

        def moved() -> None:
            self.now = seconds

        return [moved, beat(seconds), 1.0]

    async def read(self, start: DateTime | None) -> Sequence[Candlestick]:
        self.asked += 1
        if self.failures:
            raise self.failures.pop()
        newest = int(self.now // 60)
        is_late, self.lags = self.lags > 0, max(0, self.lags - 1)
        minutes = [each for each in range(newest + 1) if each not in self.missing]
        if is_late:
            minutes.remove(newest)
        candles = [self.candle(each, complete=each != minutes[-1]) for each in minutes]
        return candles[-2:] if start is None else [c for c in candles if c.time.ns >= start.ns]

    @staticmethod
    def candle(minute: int, *, complete: bool) -> Candlestick:
        time = DateTime.from_ns(START + minute * MINUTE).text
        end = "true" if complete else "false"
        return CANDLE.read(
            b'{"time":"%s","volume":1,"complete":%s}' % (time.encode(), end.encode())
        )


def minutes_of(
    service: Service, count: int, *scripts: Sequence[Step], after: int | None = None
) -> list[int]:
    """The minutes of the candles that a stream yields."""

    async def body() -> list[int]:
        timing = virtual_timing()
        opening = ScriptedStream(*scripts)
        prices = PriceStream(opening, ConnectRateLimiter(timing), StreamSettings(), timing)
        after_ns = None if after is None else START + after * MINUTE
        stream = CandleStream(prices, service.read, period_of("M1"), after_ns, timing)
        found: list[int] = []
        async with stream as candles:
            while len(found) < count:
                candle = await anext(candles)
                assert candle.complete
                found.append((candle.time.ns - START) // MINUTE)
        return found

    return run(body())


def test_a_candle_comes_when_its_minute_is_over_and_each_is_asked_for_once() -> None:
    service = Service()
    times = [30, 45, 61, 70, 125, 130, 181]
    script = [step for each in times for step in service.at(each)]
    assert minutes_of(service, 3, [*script, FOREVER]) == [0, 1, 2]
    assert service.asked == 4  # the first to know where it begins


def test_what_closed_while_the_link_was_down_is_read() -> None:
    service = Service(missing=frozenset({3}))
    before, after = service.at(30), service.at(400)
    assert minutes_of(service, 5, [*before, ConnectionLost("x")], [*after, FOREVER]) == [
        *(0, 1, 2),
        *(4, 5),
    ]


def test_history_from_a_time_comes_first() -> None:
    service = Service()
    script = [*service.at(200), *service.at(241), FOREVER]
    assert minutes_of(service, 3, script, after=0) == [1, 2, 3]


def test_a_service_that_lags_or_fails_is_asked_again_until_the_candle_is_there() -> None:
    service = Service()
    script = [*service.at(30), *service.at(61), FOREVER]
    service.lags = 0

    def lag() -> None:
        service.lags, service.failures = 2, [ConnectionLost("x")]

    assert minutes_of(service, 1, [*service.at(30), lag, *script, FOREVER]) == [0]
    assert service.asked == 5


def test_what_the_service_refuses_ends_the_stream() -> None:
    service = Service(failures=[Refused("no", status=400)])
    with pytest.raises(Refused):
        minutes_of(service, 1, [*service.at(30), FOREVER])


@pytest.mark.parametrize(
    ("granularity", "now_s", "forming_s", "due_s"),
    [
        ("S5", 12, 10, 15),
        ("H1", 5000, 3600, 7200),
        ("H4", 100, 0, 400),  # aligned to days: looked for every five minutes, and at its end
        ("D", 86_300, 0, 86_400),
    ],
)
def test_the_end_of_a_period_is_known_by_its_granularity(
    granularity: str, now_s: int, forming_s: int, due_s: int
) -> None:
    second = 10**9
    due = period_of(granularity).end_after(now_s * second, DateTime.from_ns(forming_s * second))
    assert due == due_s * second


def gap_of(last_line: bytes) -> Gap:
    async def body() -> Gap:
        timing = virtual_timing()
        opening = ScriptedStream([last_line, 3.0, ConnectionLost("x")], [beat(30), FOREVER])
        async with PriceStream(opening, ConnectRateLimiter(timing), StreamSettings(), timing) as s:
            async for item in s:
                if isinstance(item, Gap):
                    return item
        raise AssertionError

    return run(body())


def test_a_gap_says_when_it_began_and_ended_by_the_time_of_the_service() -> None:
    gap = gap_of(beat(10))
    assert gap.began is not None
    assert gap.ended is not None
    assert gap.began.ns == START + 10 * 10**9
    assert gap.seconds >= 3.0
    assert gap.ended.ns - gap.began.ns == round(gap.seconds * 1e9)


@pytest.mark.parametrize("line", [b'{"type":"HEARTBEAT"}\n', b'{"time":"soon"}\n'])
def test_a_gap_behind_a_line_without_a_time_has_none(line: bytes) -> None:
    gap = gap_of(line)
    assert gap.began is gap.ended is None


def test_candles_that_an_interruption_left_out_say_how_many_newer_ones_there_are() -> None:
    async def body() -> list[int]:
        timing, service = virtual_timing(), Service()
        script = [*service.at(30), *service.at(61), *service.at(300), FOREVER]
        opening = ScriptedStream(script)
        prices = PriceStream(opening, ConnectRateLimiter(timing), StreamSettings(), timing)
        stream = CandleStream(prices, service.read, period_of("M1"), None, timing)
        found: list[int] = []
        async with stream as candles:
            while len(found) < 5:
                await anext(candles)
                found.append(candles.pending)
        return found

    assert run(body()) == [0, 3, 2, 1, 0]
