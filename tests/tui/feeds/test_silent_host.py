"""A host that takes requests and answers none: its age is told from 2 s on, SLOW at 5 s, DOWN at 10 s, on virtual time."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
import pytest

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.round_trips import RoundTrips
from keydesk.feeds.session import assess_requests, watch_health
from keydesk.store.state import Health
from keydesk.store.store import Store
from keydesk_client.client import Client
from keydesk_client.errors import ConnectionLost, NotFound, TimedOut
from keydesk_client.following.feeds import check_changes, update_snapshot
from keydesk_client.http.timing import Timing
from support.fakes.scripted_broker import ScriptedBroker, running, scripted
from support.fakes.virtual_time import run

Ending = Callable[[], Awaitable[None]]


async def no_answer() -> None:
    await asyncio.Event().wait()


async def refused_connection() -> None:
    raise httpx.ConnectError("refused")


class MutedBroker(ScriptedBroker):
    """Answers until `ending` says how a request ends instead."""

    ending: Ending | None = None

    async def reply(self, request: httpx.Request) -> httpx.Response:
        if self.ending is not None:
            await self.ending()
        return self.answer(request)


def link_on_virtual_time(broker: MutedBroker) -> AccountFeed:
    client = Client(
        token="t",
        rest_url="https://r.test",
        stream_url="https://s.test",
        account_id="101-001-1-001",
        transport=httpx.MockTransport(broker.reply),
    )
    loop = asyncio.get_running_loop()
    return AccountFeed(
        client=scripted(client, broker),
        store=Store(),
        timing=Timing(clock=loop.time),
        check_every_s=1.0,
    )


@pytest.mark.parametrize("ending", [no_answer, refused_connection])
def test_silence_is_told_with_its_age_until_an_answer_comes(ending: Ending) -> None:
    async def body() -> None:
        broker = MutedBroker()
        async with running(
            link_on_virtual_time(broker), update_snapshot, check_changes, watch_health
        ) as feed:
            await feed.follower.ready.wait()
            await asyncio.sleep(10)
            health = feed.store.health
            assert (health.requests, health.unanswered_since) == ("OK", None)
            assert health.rtt_ms is not None
            broker.ending, began = ending, feed.now()
            told = []
            for _ in range(160):
                await asyncio.sleep(0.25)
                told.append((feed.now() - began, health.requests, health.unanswered_since))
            for after, state, since in told:
                if after < 2:
                    assert (state, since) == ("OK", None)
                if 4 < after < 5:
                    assert since is not None
                    assert began <= since < began + 1.5
                if 7 < after < 10:
                    assert state == "SLOW"
                if after > 12:
                    assert (state, since) == ("DOWN", told[20][2])
            assert health.rtt_ms > 30_000
            broker.ending = None
            await asyncio.sleep(60)
            assert (health.requests, health.unanswered_since) == ("OK", None)
            assert health.rtt_ms < 1000
            said = [line.text for line in feed.store.log]
            assert said.count("The broker has not answered any request for 10 s") == 1
            assert said.count("The broker answers requests again") == 1

    run(body())


def test_one_slow_request_among_answered_ones_is_slow_and_not_down() -> None:
    trips, health = RoundTrips(), Health()
    trips.ask(0.0)
    for second in range(30):
        other = trips.ask(float(second))
        trips.answer(other, second + 0.1)
        assess_requests(health, trips, second + 0.2)
        assert health.requests == ("SLOW" if second >= 5 else "OK")
    assert health.unanswered_since == 0.0


async def test_a_refusal_is_an_answer_and_a_lost_connection_is_none() -> None:
    client = Client(token="t", rest_url="https://r.test", stream_url="https://s.test")
    async with client:
        feed = AccountFeed(client=client, store=Store(), timing=Timing(clock=lambda: 5.0))
        for error, since in (
            (ConnectionLost("cut"), 5.0),
            (TimedOut("late"), 5.0),
            (NotFound("no", status=404), None),
        ):
            failing = asyncio.get_running_loop().create_future()
            failing.set_exception(error)
            with pytest.raises(type(error)):
                await feed.request(failing)
            assert feed.round_trips.unanswered_since == since
        waiting = asyncio.ensure_future(feed.request(asyncio.Event().wait()))
        await asyncio.sleep(0)
        assert feed.round_trips.unanswered_since == 5.0
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert feed.round_trips.unanswered_since is None
