"""Streams that reconnect: of prices, of finished candles, of transactions; their settings, health and markers."""

from typing import TYPE_CHECKING

from keydesk_client._lazy import names_of

if TYPE_CHECKING:
    from keydesk_client.streams.candles import CandleStream
    from keydesk_client.streams.prices import PriceItem, PriceStream
    from keydesk_client.streams.settings import (
        Gap,
        HistoryLost,
        Interruption,
        OverflowPolicy,
        Reconnected,
        StreamHealth,
        StreamSettings,
    )
    from keydesk_client.streams.transactions import TransactionItem, TransactionStream

__all__ = [
    "CandleStream",
    "Gap",
    "HistoryLost",
    "Interruption",
    "OverflowPolicy",
    "PriceItem",
    "PriceStream",
    "Reconnected",
    "StreamHealth",
    "StreamSettings",
    "TransactionItem",
    "TransactionStream",
]

if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt name
    __getattr__ = names_of(__name__, __all__, ("settings", "prices", "transactions", "candles"))


def __dir__() -> list[str]:
    return sorted(__all__)
