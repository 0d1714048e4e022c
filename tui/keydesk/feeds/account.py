"""The account on the desk: read whole at the start and whenever what we believe is in doubt."""

from keydesk.feeds.link import Link, reason
from keydesk.store.snapshot import take_snapshot
from keydesk_client.errors import Forbidden, KeydeskClientError, NotFound, Unauthorized
from keydesk_client.models import Account


async def keep_account(link: Link) -> None:
    """Take a snapshot now, and again each time one is wanted."""
    link.snapshot_wanted.set()
    while True:
        await link.snapshot_wanted.wait()
        link.snapshot_wanted.clear()
        await _snapshot(link)
        link.ready.set()


async def _snapshot(link: Link) -> None:
    tries = 0
    while True:
        try:
            answer = await link.ask(link.client.accounts.get())
            take(link, answer.account)
        except KeydeskClientError as error:
            _say_why(link, error, tries)
            await link.back_off(tries)
            tries += 1
        else:
            return


def take(link: Link, account: Account) -> None:
    """Put a snapshot in the place of all we believed, and let the transactions after it in."""
    before = link.store.account
    last = int(account.last_transaction_id)
    if before is not None and before.created_time_ns != account.created_time.ns:
        link.store.log.clear()
        link.store.today = None
        link.door.forget()
        link.write("The broker has another account under this id: its history begins anew")
    elif link.door.applied is not None and last < link.door.applied:
        link.door.forget()
        link.write(f"The broker went back to transaction {last}; what we knew after it is gone")
    take_snapshot(link.store, account)
    link.door.open_at(last)
    link.checked = last
    link.poll_wanted.set()
    link.history_wanted.set()


def _say_why(link: Link, error: KeydeskClientError, tries: int) -> None:
    if tries == 0:
        link.write(f"The account could not be read: {reason(error)}")
    if isinstance(error, Unauthorized | Forbidden | NotFound):
        link.store.health.warning = f"The broker refuses this account: {reason(error)}"
