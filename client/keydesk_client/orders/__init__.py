"""Orders without duplicates: the sender, its journal and its outcomes.

What `Sender` returns is one of five: Done, Rejected, NotSent, Ambiguous, Unconfirmed. Three of them are easily confused:

Unknown       a step on the way, to `on_progress` only: the answer was lost, and the transactions are being looked up
Unconfirmed   an outcome: nothing shows the request, but it may still take effect; look before you send it again
Ambiguous     an outcome: several identical requests lost their answers; what they did is known, not which did what
"""

from typing import TYPE_CHECKING

from keydesk_client._lazy import names_of

if TYPE_CHECKING:
    from keydesk_client.orders.journal import FileJournal, Journal
    from keydesk_client.orders.outcome import (
        Action,
        Ambiguous,
        Done,
        Intent,
        MonotonicTime,
        NotSent,
        OrderResult,
        Outcome,
        Progress,
        Rejected,
        Sending,
        Unconfirmed,
        Unknown,
    )
    from keydesk_client.orders.sender import Sender

__all__ = [
    "Action",
    "Ambiguous",
    "Done",
    "FileJournal",
    "Intent",
    "Journal",
    "MonotonicTime",
    "NotSent",
    "OrderResult",
    "Outcome",
    "Progress",
    "Rejected",
    "Sender",
    "Sending",
    "Unconfirmed",
    "Unknown",
]

if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt name
    __getattr__ = names_of(__name__, __all__, ("outcome", "journal", "sender"))


def __dir__() -> list[str]:
    return sorted(__all__)
