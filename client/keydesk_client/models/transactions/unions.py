"""Unions of transactions, each with a record for types that this version of the library does not know."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import DateTime, TransactionID
from keydesk_client.models._core.wire_names import unknown_type
from keydesk_client.models.transactions.account import (
    ClientConfigureRejectTransaction,
    ClientConfigureTransaction,
    CloseTransaction,
    CreateTransaction,
    DailyFinancingTransaction,
    DelayedTradeClosureTransaction,
    DividendAdjustmentTransaction,
    MarginCallEnterTransaction,
    MarginCallExitTransaction,
    MarginCallExtendTransaction,
    ReopenTransaction,
    ResetResettablePLTransaction,
    TransferFundsRejectTransaction,
    TransferFundsTransaction,
)
from keydesk_client.models.transactions.base import (
    OrderClientExtensionsModifyRejectTransaction,
    OrderClientExtensionsModifyTransaction,
    TradeClientExtensionsModifyRejectTransaction,
    TradeClientExtensionsModifyTransaction,
    TransactionIdentity,
)
from keydesk_client.models.transactions.fills import (
    OrderCancelRejectTransaction,
    OrderCancelTransaction,
    OrderFillTransaction,
)
from keydesk_client.models.transactions.orders import (
    FixedPriceOrderTransaction,
    GuaranteedStopLossOrderRejectTransaction,
    GuaranteedStopLossOrderTransaction,
    LimitOrderRejectTransaction,
    LimitOrderTransaction,
    MarketIfTouchedOrderRejectTransaction,
    MarketIfTouchedOrderTransaction,
    MarketOrderRejectTransaction,
    MarketOrderTransaction,
    StopLossOrderRejectTransaction,
    StopLossOrderTransaction,
    StopOrderRejectTransaction,
    StopOrderTransaction,
    TakeProfitOrderRejectTransaction,
    TakeProfitOrderTransaction,
    TrailingStopLossOrderRejectTransaction,
    TrailingStopLossOrderTransaction,
)

KnownTransaction: TypeAlias = (
    CreateTransaction
    | CloseTransaction
    | ReopenTransaction
    | ClientConfigureTransaction
    | ClientConfigureRejectTransaction
    | TransferFundsTransaction
    | TransferFundsRejectTransaction
    | MarketOrderTransaction
    | MarketOrderRejectTransaction
    | FixedPriceOrderTransaction
    | LimitOrderTransaction
    | LimitOrderRejectTransaction
    | StopOrderTransaction
    | StopOrderRejectTransaction
    | MarketIfTouchedOrderTransaction
    | MarketIfTouchedOrderRejectTransaction
    | TakeProfitOrderTransaction
    | TakeProfitOrderRejectTransaction
    | StopLossOrderTransaction
    | StopLossOrderRejectTransaction
    | GuaranteedStopLossOrderTransaction
    | GuaranteedStopLossOrderRejectTransaction
    | TrailingStopLossOrderTransaction
    | TrailingStopLossOrderRejectTransaction
    | OrderFillTransaction
    | OrderCancelTransaction
    | OrderCancelRejectTransaction
    | OrderClientExtensionsModifyTransaction
    | OrderClientExtensionsModifyRejectTransaction
    | TradeClientExtensionsModifyTransaction
    | TradeClientExtensionsModifyRejectTransaction
    | MarginCallEnterTransaction
    | MarginCallExtendTransaction
    | MarginCallExitTransaction
    | DelayedTradeClosureTransaction
    | DailyFinancingTransaction
    | DividendAdjustmentTransaction
    | ResetResettablePLTransaction
)


class UnknownTransaction(TransactionIdentity):
    """A transaction of a type that this version of the library does not know; its other members are in `unknown`."""

    type: Annotated[str, unknown_type(KnownTransaction)]
    """The type as sent by the service."""


Transaction: TypeAlias = Annotated[
    Annotated[KnownTransaction, Field(discriminator="type")] | UnknownTransaction,
    Field(union_mode="left_to_right"),
]
"""Any transaction; match on the class."""

KnownOrderCreateTransaction: TypeAlias = (
    MarketOrderTransaction
    | LimitOrderTransaction
    | StopOrderTransaction
    | MarketIfTouchedOrderTransaction
    | TakeProfitOrderTransaction
    | StopLossOrderTransaction
    | GuaranteedStopLossOrderTransaction
    | TrailingStopLossOrderTransaction
)
OrderCreateTransaction: TypeAlias = Annotated[
    Annotated[KnownOrderCreateTransaction, Field(discriminator="type")] | UnknownTransaction,
    Field(union_mode="left_to_right"),
]
"""Any transaction that creates an order."""

KnownOrderRejectTransaction: TypeAlias = (
    MarketOrderRejectTransaction
    | LimitOrderRejectTransaction
    | StopOrderRejectTransaction
    | MarketIfTouchedOrderRejectTransaction
    | TakeProfitOrderRejectTransaction
    | StopLossOrderRejectTransaction
    | GuaranteedStopLossOrderRejectTransaction
    | TrailingStopLossOrderRejectTransaction
)
OrderRejectTransaction: TypeAlias = Annotated[
    Annotated[KnownOrderRejectTransaction, Field(discriminator="type")] | UnknownTransaction,
    Field(union_mode="left_to_right"),
]
"""Any transaction that rejects an order."""


class TransactionHeartbeat(Record):
    """Keep-alive on the transaction stream."""

    type: Literal["HEARTBEAT"] = "HEARTBEAT"
    last_transaction_id: TransactionID
    """Newest transaction."""
    time: DateTime
    """Server time."""


TransactionStreamItem: TypeAlias = Annotated[
    Annotated[KnownTransaction | TransactionHeartbeat, Field(discriminator="type")]
    | UnknownTransaction,
    Field(union_mode="left_to_right"),
]
"""A line of the transaction stream."""
