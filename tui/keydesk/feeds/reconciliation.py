"""Look for the effects of UNCONFIRMED commands in the account's changes.

They are looked for there as well as on the stream: a snapshot may hold their effect, and then the stream begins after it.
"""

from msgspec import Struct, field

from keydesk.feeds.account_feed import AccountFeed
from keydesk.settings.values import Reconciliation
from keydesk_client.account.values import number_of
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import KeydeskClientError, OutOfRange
from keydesk_client.orders.outcome import Intent
from keydesk_client.orders.sender import Sender


class Reconciler(Struct):
    """Requests the account's changes while a command is UNCONFIRMED, and lets the sender compare them.

    Changes that were compared and do not concern a command are not requested again for it: those of an hour would be
    more than a bad link takes every ten seconds.
    """

    sender: Sender
    thresholds: Reconciliation
    _checked_at: float = float("-inf")
    _sent_at: dict[str, float] = field(default_factory=dict[str, float])
    """Send times by intent id on the monotonic clock, converted from the wall clock at the first check."""
    _compared: dict[str, int] = field(default_factory=dict[str, int])
    """Transaction ids by intent id: what happened up to there does not concern the intent."""

    async def check(self, feed: AccountFeed) -> None:
        """Compare what is due; without an answer the next check polls again."""
        due = self._due(feed)
        if not due or feed.now() - self._checked_at < self.thresholds.check_every:
            return
        self._checked_at = feed.now()
        compared = {each.id: self._compared.get(each.id, each.since) for each in due}
        since = min(compared.values())
        try:
            answer = await feed.request(feed.client.for_look_ups().accounts.changes(since))
        except OutOfRange:  # a history that began anew lacks that id
            self._compared = {}
            return
        except KeydeskClientError:
            return
        feed.follower.gate.offer_all(answer.changes.transactions)
        feed.follower.gate.saw_last(answer.last_transaction_id)
        not_concerned = await self.sender.reconcile(answer.changes, since)
        last = number_of(answer.last_transaction_id)
        compared |= {each.id: last for each in not_concerned if each.id in compared}
        self._compared = compared

    def _due(self, feed: AccountFeed) -> list[Intent]:
        """Return the intents older than `check_after` and younger than `look_back`."""
        now, limits = feed.now(), self.thresholds
        intents = self.sender.unconfirmed()
        self._sent_at = {
            each.id: self._sent_at.get(each.id, now - max(0, feed.wall_ns() - each.at_ns) / SECOND)
            for each in intents
        }
        return [
            each
            for each in intents
            if limits.check_after <= now - self._sent_at[each.id] <= limits.look_back * 60
        ]
