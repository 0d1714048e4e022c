"""Who listens to an account: every committed batch goes to all of them, encoded once for each form of time."""

import json
from collections.abc import Sequence

from keydesk_practice.broker.subscriptions import TransactionSubscription
from keydesk_practice.engine.datetimes import in_unix_form


class Listeners:
    """The open transaction streams of one account."""

    def __init__(self) -> None:
        self._members: dict[TransactionSubscription, bool] = {}

    def join(self, unix_times: bool) -> TransactionSubscription:
        """Return a mailbox that gets every batch from now on."""
        mailbox = TransactionSubscription()
        self._members[mailbox] = unix_times
        return mailbox

    def leave(self, mailbox: TransactionSubscription) -> None:
        """Forget a mailbox."""
        self._members.pop(mailbox, None)

    def publish(self, texts: Sequence[str]) -> None:
        """Give a committed batch, in id order, to everybody."""
        if not self._members:
            return
        plain = _lines(texts)
        unix = _lines([_in_unix_form(text) for text in texts]) if self._any_unix() else b""
        for mailbox, unix_times in list(self._members.items()):
            mailbox.offer(unix if unix_times else plain)

    def close(self) -> None:
        """End every stream."""
        for mailbox in list(self._members):
            mailbox.close()

    def _any_unix(self) -> bool:
        return True in self._members.values()


def _lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("ascii")


def _in_unix_form(text: str) -> str:
    return json.dumps(in_unix_form(json.loads(text)), separators=(",", ":"))
