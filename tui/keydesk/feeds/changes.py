"""The poll of the account's changes: it checks everything we folded and brings the broker's own figures.

It asks for what changed since the last comparison, not since the last transaction that we applied: so
what the stream brought in between is compared as well.
"""

import asyncio
import contextlib

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.poll import differences, take_state
from keydesk.store.unreadable import number_of
from keydesk_client.errors import AnswerTooLarge, OutOfRange
from keydesk_client.models.responses_accounts import AccountChangesResponse


async def poll_changes(link: Link) -> None:
    """Ask for changes again and again, sooner when somebody wants to be sure."""
    await link.ready.wait()
    tries = 0
    while True:
        if await poll_once(link):
            tries = 0
            if link.reconciler is not None:
                await link.reconciler.check(link)
            await _until_next(link)
        else:
            await link.back_off(tries)
            tries += 1


async def poll_once(link: Link) -> bool:
    """Ask once; False when there was no answer."""
    since = link.checked
    link.poll_wanted.clear()
    try:
        answer = await link.ask(link.client.accounts.changes(since))
        take_changes(link, answer)
    except OutOfRange:
        link.doubt(f"The broker does not know transaction {since}")
    except AnswerTooLarge as error:
        link.doubt(f"Too much changed since transaction {since}: {reason(error)}")
    except FAILURES as error:
        link.count_unreadable(error)
        if link.store.health.warning == "":
            link.store.health.warning = f"The account can not be checked: {reason(error)}"
        return False
    return True


def take_changes(link: Link, answer: AccountChangesResponse) -> None:
    """Let new transactions in; when we then stand where the broker stands, compare and take its figures."""
    link.door.offer_all(answer.changes.transactions)
    link.door.saw_last(answer.last_transaction_id)
    last = number_of(answer.last_transaction_id)
    if link.door.applied != last or link.snapshot_wanted.is_set():
        return  # more came meanwhile, or is still missing: the next poll compares
    found = differences(link.store, answer.changes, answer.state)
    if found:
        link.doubt(f"Not as at the broker: {'; '.join(found)}")
        return
    take_state(link.store, answer.state)
    link.checked = last
    link.settle_doubt()


async def _until_next(link: Link) -> None:
    """Wait until the next poll is due or wanted."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(link.poll_every):  # wait_for of 3.11 may swallow a cancellation
            await link.poll_wanted.wait()
