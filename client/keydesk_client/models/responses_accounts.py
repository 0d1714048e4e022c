"""Answers about the account."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models.accounts import Account, AccountProperties, AccountSummary
from keydesk_client.models.changes import AccountChanges, AccountChangesState
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.transactions.account import ClientConfigureTransaction


class AccountsResponse(Response):
    """The accounts that the token may use."""

    accounts: tuple[AccountProperties, ...]


class AccountResponse(Response):
    """An account in full."""

    account: Account
    last_transaction_id: TransactionID


class AccountSummaryResponse(Response):
    """An account without its orders, trades and positions."""

    account: AccountSummary
    last_transaction_id: TransactionID


class InstrumentsResponse(Response):
    """What an account may trade."""

    instruments: tuple[Instrument, ...]
    last_transaction_id: TransactionID


class ConfigureAccountResponse(Response):
    """Settings were changed."""

    client_configure_transaction: ClientConfigureTransaction
    last_transaction_id: TransactionID


class AccountChangesResponse(Response):
    """What changed since a transaction."""

    changes: AccountChanges
    state: AccountChangesState
    last_transaction_id: TransactionID
