"""The pauses of what keeps a followed account current."""

import pytest

from keydesk_client import Client, FollowSettings, StreamSettings, Timing
from keydesk_client.errors import RateLimited
from keydesk_client.following.feeds import backoff
from keydesk_client.following.follower import Follower
from keydesk_client.following.reporter import EventReporter


class Pauses(list[float]):
    """The pauses that were made; none takes time."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


def follower(pauses: Pauses, settings: FollowSettings) -> Follower:
    """Return a follower whose pauses are as long as they may be."""
    timing = Timing(sleep=pauses.sleep, rng=lambda: 1.0)
    return EventReporter(Client.practice("token"), (), settings, timing, lambda _: None).follower


def test_a_followed_account_is_as_quick_to_reconnect_as_a_stream() -> None:
    assert FollowSettings().max_backoff_s == StreamSettings().max_backoff_s < 5


@pytest.mark.parametrize("longest_s", [4.0, 1.5])
async def test_pauses_double_up_to_the_longest(longest_s: float) -> None:
    pauses = Pauses()
    following = follower(pauses, FollowSettings(max_backoff_s=longest_s))
    for failures in range(8):
        await backoff(following, failures)
    assert pauses[:2] == [0.5, 1.0]
    assert max(pauses) == pauses[-1] == longest_s


async def test_the_service_may_ask_for_a_longer_pause_and_not_for_an_endless_one() -> None:
    pauses = Pauses()
    following = follower(pauses, FollowSettings())
    for seconds in (7.0, 9999.0):
        await backoff(following, 0, RateLimited("slow down", retry_after=seconds))
    assert pauses == [7.0, 30.0]
