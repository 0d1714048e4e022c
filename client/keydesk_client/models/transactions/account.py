"""The account itself: opened, configured, funded, closed."""

from typing import Literal

from keydesk_client.models.reasons import FundingReason, TransactionRejectReason
from keydesk_client.models.scalars import AccountUnits, Currency, DecimalNumber
from keydesk_client.models.transactions.base import TransactionIdentity


class CreateTransaction(TransactionIdentity):
    """Account opened."""

    type: Literal["CREATE"] = "CREATE"
    division_id: int
    """Division."""
    site_id: int
    """Site."""
    account_user_id: int
    """Owner."""
    account_number: int
    """Serial of the account."""
    home_currency: Currency
    """Home currency."""


class CloseTransaction(TransactionIdentity):
    """Account closed."""

    type: Literal["CLOSE"] = "CLOSE"


class ReopenTransaction(TransactionIdentity):
    """Account reopened."""

    type: Literal["REOPEN"] = "REOPEN"


class ClientConfigureTransaction(TransactionIdentity):
    """Client settings changed."""

    type: Literal["CLIENT_CONFIGURE"] = "CLIENT_CONFIGURE"
    alias: str | None = None
    """New alias, when changed."""
    margin_rate: DecimalNumber | None = None
    """New rate, when changed."""


class ClientConfigureRejectTransaction(TransactionIdentity):
    """Client settings refused."""

    type: Literal["CLIENT_CONFIGURE_REJECT"] = "CLIENT_CONFIGURE_REJECT"
    alias: str | None = None
    """Asked."""
    margin_rate: DecimalNumber | None = None
    """Asked."""
    reject_reason: TransactionRejectReason
    """Why."""


class TransferFundsTransaction(TransactionIdentity):
    """Money in or out."""

    type: Literal["TRANSFER_FUNDS"] = "TRANSFER_FUNDS"
    amount: AccountUnits
    """Plus in, minus out."""
    funding_reason: FundingReason
    """Why."""
    comment: str | None = None
    """Text."""
    account_balance: AccountUnits
    """Balance after."""


class TransferFundsRejectTransaction(TransactionIdentity):
    """Money movement refused."""

    type: Literal["TRANSFER_FUNDS_REJECT"] = "TRANSFER_FUNDS_REJECT"
    amount: AccountUnits
    """Asked."""
    funding_reason: FundingReason
    """Asked."""
    comment: str | None = None
    """Text."""
    reject_reason: TransactionRejectReason
    """Why."""


class ResetResettablePLTransaction(TransactionIdentity):
    """Resettable P/L zeroed."""

    type: Literal["RESET_RESETTABLE_PL"] = "RESET_RESETTABLE_PL"
