"""Margin calls, and closures owed until an instrument trades again."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from keydesk_client.models._core.scalars import TradeID
from keydesk_client.models.reject_reasons import MarketOrderReason
from keydesk_client.models.transactions.base import TransactionIdentity


def as_list(ids: object) -> object:
    """Some services send a single id where the list belongs."""
    return [ids] if isinstance(ids, str) else ids


class MarginCallEnterTransaction(TransactionIdentity):
    """Margin call began."""

    type: Literal["MARGIN_CALL_ENTER"] = "MARGIN_CALL_ENTER"


class MarginCallExtendTransaction(TransactionIdentity):
    """Margin call extended."""

    type: Literal["MARGIN_CALL_EXTEND"] = "MARGIN_CALL_EXTEND"
    extension_number: int
    """1 for the first."""


class MarginCallExitTransaction(TransactionIdentity):
    """Margin call ended."""

    type: Literal["MARGIN_CALL_EXIT"] = "MARGIN_CALL_EXIT"


class DelayedTradeClosureTransaction(TransactionIdentity):
    """Trades to close once tradeable again."""

    type: Literal["DELAYED_TRADE_CLOSURE"] = "DELAYED_TRADE_CLOSURE"
    reason: MarketOrderReason
    """Why it ended."""
    trade_ids: Annotated[tuple[TradeID, ...], BeforeValidator(as_list)]
    """The trades that will be closed."""
