"""The present reason of a lost connection: in words that fit a line, whole with its remedy, taken back when it is over."""

import pytest

from keydesk.feeds.account_feed import AccountFeed
from keydesk.words.outages import UNREACHABLE, Broker, outage_of
from keydesk_client.errors import (
    ConnectFailure,
    ConnectionLost,
    Forbidden,
    HttpStatusError,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unauthorized,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.following.feeds import check_once, update_snapshot
from support.fakes.scripted_broker import ScriptedBroker, link_to, running

LINE = 26  # columns that 80 leave beside two streams that are down and the time
BROKER = Broker("https://a.test", "keydesk login two")
REFUSAL = Unreachable("cannot connect: Connection refused", cause="refused")


@pytest.mark.parametrize(
    ("error", "short"),
    [
        (REFUSAL, "connection refused"),
        (Unreachable("cannot connect: x", cause="name"), "host not found (DNS)"),
        (Unreachable("cannot connect: x", cause="certificate"), "certificate not trusted"),
        (Unreachable("cannot connect: x", cause="tls"), "TLS handshake failed"),
        (TimedOut("the read timeout has passed"), "no answer"),
        (ConnectionLost("the connection broke"), "connection broken"),
        (UnreadableAnswer("not JSON"), "answer unreadable"),
        (Unauthorized("x", status=401), "token refused (401)"),
        (Forbidden("x", status=403), "account refused (403)"),
        (HttpStatusError("x", status=407), "proxy sign-in needed (407)"),
        (RateLimited("x", status=429), "too many requests (429)"),
        (ServerFailed("x", status=503), "broker unavailable (503)"),
    ],
)
def test_each_reason_fits_a_line_and_is_whole_in_the_message(error: Exception, short: str) -> None:
    outage = outage_of(error, BROKER)
    assert outage.short == short
    assert len(short) <= LINE
    assert str(error) in outage.text
    assert "https://a.test" in outage.text


@pytest.mark.parametrize("cause", UNREACHABLE)
def test_each_cause_of_a_failed_connection_has_words_and_a_remedy(cause: ConnectFailure) -> None:
    assert outage_of(Unreachable("x", cause=cause), BROKER).text.endswith("The desk keeps trying")


def test_a_refused_token_is_answered_with_the_command_that_signs_in() -> None:
    assert "keydesk login two," in outage_of(Unauthorized("x", status=401), BROKER).text


def shown(feed: AccountFeed) -> str:
    outage = feed.store.health.outage
    return "" if outage is None else outage.short


async def test_the_present_reason_replaces_the_first_one_and_goes_when_it_is_over() -> None:
    broker = ScriptedBroker()
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        seen = []
        for status in (503, 503, 401, 429):
            broker.statuses = {"/changes": status}
            await check_once(feed.follower)
            seen.append(shown(feed))
        assert seen == [
            "",  # one failure in a row of a known account
            "broker unavailable (503)",
            "token refused (401)",
            "too many requests (429)",
        ]
        assert len([each for each in feed.store.notices if each.level == "warn"]) == 3
        broker.statuses = {}
        await check_once(feed.follower)
        assert shown(feed) == ""
        *outages, over = feed.store.notices
        assert over.text == "Connected: the broker answers again"
        assert all(each.seen for each in outages)
