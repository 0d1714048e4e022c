"""Poll conversion factors, and have the price stream opened anew when other instruments are watched."""

from collections.abc import Sequence
from functools import partial

from keydesk.feeds.account_feed import AccountFeed
from keydesk.store.prices import apply_conversion_factors, apply_known_price
from keydesk.store.state import Topic
from keydesk_client.account.values import try_to
from keydesk_client.following.feeds import FAILURES

CONVERSIONS_EVERY = 5.0  # seconds


async def watch_names(feed: AccountFeed) -> None:
    """Report each time that the desk watches other instruments."""
    topics = (Topic.INSTRUMENTS, Topic.POSITIONS, Topic.FOCUS)
    await feed.instruments_known.wait()
    while True:
        feed.follower.names_changed.set()
        await feed.store.wait_for(partial(_wants_others, feed, feed.wanted()), *topics)


def _wants_others(feed: AccountFeed, names: tuple[str, ...]) -> bool:
    return feed.wanted() != names


async def update_conversions(feed: AccountFeed) -> None:
    """Poll conversion factors: all currencies first, then those of positions and focus."""
    await feed.instruments_known.wait()
    tries = 0
    asked_all = False
    while True:
        names = _held_or_shown(feed) if asked_all else feed.wanted()
        if names and await conversions_once(feed, names):
            tries, asked_all = 0, True
            await feed.pause(CONVERSIONS_EVERY)
        else:
            await feed.backoff(tries)
            tries += 1


async def conversions_once(feed: AccountFeed, names: Sequence[str]) -> bool:
    """Request conversion factors and prices once; return False if there was no answer."""
    try:
        answer = await feed.request(feed.client.pricing.get(names, include_home_conversions=True))
        apply_conversion_factors(feed.store, answer.home_conversions or ())
        received = feed.now()
        for price in answer.prices:
            try_to(feed.store, partial(apply_known_price, feed.store, price, received))
    except FAILURES as error:
        feed.count_unreadable(error)
        return False
    return True


def _held_or_shown(feed: AccountFeed) -> tuple[str, ...]:
    held = tuple(name for name in feed.store.positions if name in feed.store.instruments)
    return tuple(dict.fromkeys((*held, feed.store.focus))) if feed.store.focus else held
