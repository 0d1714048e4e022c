"""Read older transactions for the log, a page of ids at a time, as far back as it is scrolled or searched."""

from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.store.past_log import PastLog
from keydesk.store.state import Topic
from keydesk.store.transactions.past_pages import take_page
from keydesk_client.errors import Forbidden, Unauthorized
from keydesk_client.following.feeds import FAILURES

FOUND_AT_ONCE = 50  # lines that a search looks for before it waits for the reader
MAX_PAGES = 20  # of a search, before it waits for the reader
AGAIN = "scroll on to try again"
REMEDIES = (
    (Unauthorized, "renew the token: keydesk login"),
    (Forbidden, "check the token's rights"),
)


async def update_past_log(feed: AccountFeed) -> None:
    """Read the pages that are wanted, one request at a time."""
    await feed.follower.ready.wait()
    while True:
        await feed.store.wait_for(lambda: _is_wanted(feed), Topic.PAST_LOG)
        await load_past(feed)


def _is_wanted(feed: AccountFeed) -> bool:
    past = feed.store.past_log
    return past is not None and past.wants != ""


async def load_past(feed: AccountFeed, most_pages: int = MAX_PAGES) -> None:
    """Read what the window of the log wants: a page, or with a filter as many as it takes to find some lines."""
    past = feed.store.past_log
    if past is None:
        return
    held = len(past.lines)
    for _ in range(most_pages):
        page = _page(feed, past)
        if page is None or not await _read(feed, past, page):
            break
        added = len(past.lines) - held
        if added >= (FOUND_AT_ONCE if past.filter_text else 1):
            break
    past.wants = ""
    feed.store.mark(Topic.PAST_LOG)


def _page(feed: AccountFeed, past: PastLog) -> tuple[int, int] | None:
    """Return the next page; None when the reader has left for another window."""
    start = feed.store.log_start
    return past.page(start) if past is feed.store.past_log and start is not None else None


async def _read(feed: AccountFeed, past: PastLog, page: tuple[int, int]) -> bool:
    past.loading = True
    feed.store.mark(Topic.PAST_LOG)
    try:
        answer = await feed.request(feed.client.transactions.range(*page))
        take_page(feed.store, past, page, answer.transactions)
    except FAILURES as error:
        feed.count_unreadable(error)
        remedy = next((text for kind, text in REMEDIES if isinstance(error, kind)), AGAIN)
        past.trouble = f"{reason(error)}; {remedy}"
        return False
    finally:
        past.loading = False
    return True
