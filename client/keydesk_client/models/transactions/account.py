"""The account itself: opened, configured, funded, closed."""

from typing import Literal

from keydesk_client.models._core.scalars import AccountUnits, Currency, DecimalNumber
from keydesk_client.models.reject_reasons import FundingReason, TransactionRejectReason
from keydesk_client.models.transactions.base import TransactionIdentity


class CreateTransaction(TransactionIdentity):
    """Account opened."""

    type: Literal["CREATE"] = "CREATE"
    division_id: int
    """Number of the division."""
    site_id: int
    """Number of the site."""
    account_user_id: int
    """The user who owns the account."""
    account_number: int
    """Serial of the account."""
    home_currency: Currency
    """In home currency."""


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
    """As it was asked for."""
    margin_rate: DecimalNumber | None = None
    """As it was asked for."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""


class TransferFundsTransaction(TransactionIdentity):
    """Money in or out."""

    type: Literal["TRANSFER_FUNDS"] = "TRANSFER_FUNDS"
    amount: AccountUnits
    """Plus in, minus out."""
    funding_reason: FundingReason
    """Why money was moved."""
    comment: str | None = None
    """Free text."""
    account_balance: AccountUnits
    """The account's balance afterwards."""


class TransferFundsRejectTransaction(TransactionIdentity):
    """Money movement refused."""

    type: Literal["TRANSFER_FUNDS_REJECT"] = "TRANSFER_FUNDS_REJECT"
    amount: AccountUnits
    """As it was asked for."""
    funding_reason: FundingReason
    """As it was asked for."""
    comment: str | None = None
    """Free text."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""


class ResetResettablePLTransaction(TransactionIdentity):
    """Resettable P/L zeroed."""

    type: Literal["RESET_RESETTABLE_PL"] = "RESET_RESETTABLE_PL"
