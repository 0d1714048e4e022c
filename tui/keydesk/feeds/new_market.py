"""Go on after the market began anew: a replay or a checkpoint has other instruments, another time and another account."""

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.feeds.market_data import take
from keydesk.store.new_market import forget_market

MOST_TRIES = 6


async def begin_anew(link: Link) -> None:
    """Forget the market before, and read instruments, account and history again."""
    forget_market(link.store)
    link.snapshot_wanted.set()
    for tries in range(MOST_TRIES):
        try:
            answer = await link.ask(link.client.accounts.instruments())
        except FAILURES as error:
            link.count_unreadable(error)
            if tries == 0:
                link.write(f"The instruments could not be read: {reason(error)}")
            await link.back_off(tries)
        else:
            take(link, answer.instruments)
            return
