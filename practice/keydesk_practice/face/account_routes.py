"""Accounts: list, details, summary, instruments, configuration, changes."""

from keydesk_practice.face.answers import Answer
from keydesk_practice.face.endpoints import Call


def list_accounts(call: Call) -> Answer:
    """Answer with the accounts that the token opens."""
    accounts = call.broker.accounts_of(call.owner)
    return Answer({"accounts": [{"id": account.id, "tags": []} for account in accounts]})
