"""The account on the desk: read whole at the start and whenever what we believe is in doubt."""

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.snapshot import take_snapshot
from keydesk.store.state import Topic
from keydesk.store.unreadable import number_of
from keydesk_client.errors import Forbidden, NotFound, Unauthorized
from keydesk_client.models import Account

REPEATS_AT_ONCE = 2
SETTLED_AFTER = 10.0  # seconds without a doubt after which the next snapshot is taken at once


async def keep_account(link: Link) -> None:
    """Take a snapshot now, and again each time one is wanted; ever later when snapshots do not end the doubt."""
    link.snapshot_wanted.set()
    repeats, taken = 0, float("-inf")
    while True:
        await link.snapshot_wanted.wait()
        repeats = repeats + 1 if link.now() - taken < SETTLED_AFTER else 0
        if repeats > REPEATS_AT_ONCE:
            await link.back_off(repeats - REPEATS_AT_ONCE)
        link.snapshot_wanted.clear()
        await _snapshot(link)
        taken = link.now()
        link.ready.set()


async def _snapshot(link: Link) -> None:
    tries = 0
    while True:
        try:
            answer = await link.ask(link.client.accounts.get())
            take(link, answer.account)
        except FAILURES as error:
            _say_why(link, error, tries)
            await link.back_off(tries)
            tries += 1
        else:
            return


def take(link: Link, account: Account) -> None:
    """Put a snapshot in the place of all we believed, and let the transactions after it in."""
    before = link.store.account
    last = number_of(account.last_transaction_id)
    take_snapshot(link.store, account)
    if before is not None and before.created_time_ns != account.created_time.ns:
        link.store.log.clear()
        link.store.today = None
        link.door.forget()
        link.write("The broker has another account under this id: its history begins anew")
    elif link.door.applied is not None and last < link.door.applied:
        link.door.forget()
        link.write(f"The broker went back to transaction {last}; what we knew after it is gone")
    link.door.open_at(last)
    link.checked = last
    link.poll_wanted.set()
    link.history_wanted.set()


def _say_why(link: Link, error: Exception, tries: int) -> None:
    link.count_unreadable(error)
    if tries == 0:
        link.write(f"The account could not be read: {reason(error)}")
    if isinstance(error, Unauthorized | Forbidden | NotFound):
        link.store.health.warning = f"The broker refuses this account: {reason(error)}"
    elif link.store.account is None:  # nothing but this line says why the desk stays empty
        link.store.health.warning = f"The account could not be read: {reason(error)}"
    else:
        return
    link.store.mark(Topic.HEALTH)
