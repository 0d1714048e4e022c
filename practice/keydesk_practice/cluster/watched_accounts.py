"""Accounts with streams on this node, whichever node owns them: transactions that others commit are read and streamed."""

from collections.abc import Mapping

from keydesk_practice.broker.account_session import AccountSession, History, LedgerArchive
from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.snapshots import new_account
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.records import LedgerAccount


class WatchedAccounts:
    """A session for the streams of each watched account; it outlives each change of the owner."""

    def __init__(self, broker: Broker, ledger: PostgresLedger) -> None:
        self._broker = broker
        self._ledger = ledger
        self._sessions: dict[str, AccountSession] = {}
        self.loading: dict[str, AccountSession] = {}  # taken over, and not served yet

    def open(self, account: LedgerAccount) -> AccountSession:
        """Return the session that streams of an account use here; raise `LedgerUnreachable`."""
        found = self._sessions.get(account.id)
        if found is None:
            owned = self._broker.sessions.get(account.id)
            newest = self._ledger.last_id(account.id) if owned is None else owned.committed_id
            found = self._sessions[account.id] = AccountSession(
                account,
                new_account(account),
                self._broker.board,
                LedgerArchive(self._ledger, account.id),
                History(self._ledger, account.id),
                newest,
            )
            if owned is not None:
                found.transactions = owned.transactions
        return found

    def join(self, session: AccountSession) -> None:
        """Continue the streams of an account that was taken over; raise `LedgerUnreachable`."""
        watched = self._sessions.get(session.account.id)
        if watched is not None and session.committed_id < watched.committed_id:
            self.end(session.account.id)  # it was reset by its former owner
        elif watched is not None:
            self._send_until(watched, session.committed_id)
            session.transactions = watched.transactions

    def committed_here(self, session: AccountSession) -> None:
        """Note that the owner, which is this node, has sent its transactions."""
        watched = self._sessions.get(session.account.id)
        if watched is not None:
            watched.committed_id = session.committed_id

    def committed_elsewhere(self, account: str, newest: int) -> None:
        """Send the transactions of another node up to an id; raise `LedgerUnreachable`."""
        watched = self._sessions.get(account)
        is_here = account in self._broker.sessions or account in self.loading
        if watched is None or is_here:
            return
        if newest < watched.committed_id and self._has_begun_anew(watched):
            self.end(account)  # clients read it anew; the next stream begins with the new account
        else:
            self._send_until(watched, newest)

    def catch_up(self, newest: Mapping[str, int]) -> None:
        """Send the transactions that no notification announced; raise `LedgerUnreachable`."""
        for account in list(self._sessions):
            self.committed_elsewhere(account, newest.get(account, 0))

    def end(self, account: str) -> None:
        """End the streams of an account."""
        watched = self._sessions.pop(account, None)
        if watched is not None:
            watched.transactions.close()

    def end_all(self) -> None:
        """End every stream."""
        for account in list(self._sessions):
            self.end(account)

    def _has_begun_anew(self, watched: AccountSession) -> bool:
        """Return whether an account was reset: the id that is older than the newest one known may also just be late."""
        return self._ledger.last_id(watched.account.id) < watched.committed_id

    def _send_until(self, watched: AccountSession, newest: int) -> None:
        first = watched.committed_id + 1
        if newest < first:
            return
        texts = self._ledger.bodies(watched.account.id, first, newest)
        watched.committed_id = newest
        watched.transactions.publish(texts)
