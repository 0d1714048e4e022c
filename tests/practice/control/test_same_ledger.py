"""The same seed, script and orders give the same ledger, and nothing comes from after the market's now."""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from keydesk_practice.engine.wire_form import parse_time
from support.controlled_broker import ACCOUNT, ControlledBroker, controlled_broker

ACCOUNTS = ("101-001-1000001-001", "101-001-1000001-002")


async def play_script(folder: Path, *, reads: bool) -> list[list[str]]:
    """Trade a script and return the ledgers; `reads` asks much in between, which must not matter."""
    async with controlled_broker(folder, "2015-01-15T09:20Z") as market:

        async def look() -> None:
            for path in (
                ("{a}", "{a}/changes?sinceTransactionID=1", "/v3/accounts") if reads else ()
            ):
                await market.v20("GET", path)

        await market.buy("EUR_CHF", "10000", stopLossOnFill={"price": "1.1900"})
        await look()
        await market.control("POST", "/clock/step", candles=5)
        await market.control("POST", "/shocks", kind="spike", instrument="USD_JPY", size="0.01")
        trail = {"distance": "0.200"}
        await market.buy("USD_JPY", "-5000", trailingStopLossOnFill=trail)
        await look()
        await market.control("POST", "/clock/step", granularity="M15")
        other = {"type": "LIMIT", "instrument": "EUR_USD", "units": "1", "price": "5"}
        await market.v20("POST", f"/v3/accounts/{ACCOUNTS[1]}/orders", {"order": other})
        await market.v20("PUT", "{a}/positions/USD_JPY/close", {"shortUnits": "ALL"})
        await market.control("POST", f"/accounts/{ACCOUNTS[0]}/transfer", amount="250")
        await market.control("POST", "/clock/jump", time="2015-01-15T22:30Z")
        for account in ACCOUNTS:  # an account is brought up to the market's time when it is asked
            await market.v20("GET", f"/v3/accounts/{account}/summary")
        return [market.ledger_lines(account) for account in ACCOUNTS]


@pytest.mark.e2e
async def test_a_script_leaves_the_same_ledger_byte_for_byte(tmp_path: Path) -> None:
    first = await play_script(tmp_path / "one", reads=False)
    second = await play_script(tmp_path / "two", reads=True)
    assert first == second
    assert '"STOP_LOSS_ORDER"' in "".join(first[0])
    assert '"requestID"' in first[0][-2] + first[0][3]


INSTRUMENTS = ("EUR_USD", "USD_JPY", "EUR_CHF")
FAR = "2030-01-01T00:00:00Z"
STREAMS = (
    f"{ACCOUNT}/pricing/stream?instruments=EUR_USD,EUR_CHF&snapshot=true",
    f"{ACCOUNT}/transactions/stream",
)
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


async def answers(market: ControlledBroker) -> list[Any]:
    """Ask for all that has prices in it, as far ahead as a client can ask."""
    hour = str(market.broker.now() // 1_000_000_000 - 3600)
    found = []
    for name in INSTRUMENTS:
        for granularity in ("S5", "M15", "D"):
            for query in ({"count": "5"}, {"from": hour, "to": FAR}):
                spec: dict[str, Any] = {"granularity": granularity, "price": "MBA", **query}
                found.append(await market.v20("GET", f"/v3/instruments/{name}/candles", **spec))
    smooth: dict[str, Any] = {"granularity": "M1", "smooth": "true", "to": FAR, "count": "9"}
    found.append(await market.v20("GET", "/v3/instruments/EUR_CHF/candles", **smooth))
    found.append(await market.v20("GET", "/v3/instruments/EUR_USD/orderBook", time=FAR))
    found.append(await market.v20("GET", "/v3/instruments/EUR_USD/positionBook"))
    latest: dict[str, Any] = {"candleSpecifications": "EUR_USD:S5:BM,EUR_CHF:D:A"}
    found.append(await market.v20("GET", "{a}/candles/latest", **latest))
    everything: dict[str, Any] = {
        "instruments": ",".join(INSTRUMENTS),
        "includeHomeConversions": "true",
    }
    found.append(await market.v20("GET", "{a}/pricing", **everything))
    found.extend(
        [await market.v20("GET", path) for path in ("{a}", "{a}/changes?sinceTransactionID=1")]
    )
    found.append(await market.v20("GET", "{a}/transactions", to=FAR))
    found += [await stream(market, path) for path in STREAMS]
    return found


async def stream(market: ControlledBroker, path: str) -> bytes:
    """Return what a stream sends at its beginning."""
    async with market.client() as http:
        reading = asyncio.create_task(http.get(path))
        while not reading.done():
            market.broker.end_streams()
            await asyncio.sleep(0)
        answer = await reading
    assert answer.status_code == 200, answer.text
    return b"\n".join(line for line in answer.content.splitlines() if b"HEARTBEAT" not in line)


def times_in(answer: object) -> list[int]:
    """Return every time in an answer, in nanoseconds since 1970."""
    text = answer.decode() if isinstance(answer, bytes) else json.dumps(answer)
    found = [parse_time(each) for each in TIMES.findall(text)]
    return [time for time in found if time != parse_time(FAR)]  # links repeat what was asked for


async def look_ahead(steps: list[int]) -> None:
    """Jump, and change the future: no answer may differ."""
    with tempfile.TemporaryDirectory() as folder:
        async with controlled_broker(Path(folder), "2015-01-15T08:59:58Z") as market:
            await market.buy("EUR_CHF", "1000", stopLossOnFill={"price": "1.1900"})
            for seconds in steps:
                to = str(market.broker.now() // 1_000_000_000 + seconds)
                await market.control("POST", "/clock/jump", time=to)
                before = await answers(market)
                now = market.broker.now()
                assert [time for one in before for time in times_in(one) if time > now] == []
                for name in INSTRUMENTS:
                    shock: dict[str, Any] = {"kind": "gap", "instrument": name, "size": "0.2"}
                    await market.control("POST", "/shocks", **shock)
                for kind in ("spread", "depth", "halt"):
                    await market.control("POST", "/shocks", kind=kind, seconds=3600)
                after = await answers(market)
                different = [one for one, other in zip(after, before, strict=True) if one != other]
                assert [
                    str(one)[:300] for one in different
                ] == []  # pytest compares long texts slowly
                await market.control("DELETE", "/shocks")


STEPS = st.lists(st.sampled_from([1, 5, 7, 60, 1799, 3600, 86_400]), min_size=1, max_size=2)


@pytest.mark.e2e
@settings(max_examples=1, deadline=None, database=None, phases=[Phase.generate])
@given(STEPS)
def test_no_answer_comes_from_after_the_clock(steps: list[int]) -> None:
    asyncio.run(look_ahead(steps))


@pytest.mark.soak
@settings(max_examples=200, deadline=None, database=None, phases=[Phase.generate])
@given(STEPS)
def test_no_answer_of_two_hundred_walks_comes_from_after_the_clock(steps: list[int]) -> None:
    asyncio.run(look_ahead(steps))
