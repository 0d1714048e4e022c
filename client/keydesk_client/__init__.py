"""A typed asynchronous client of the whole v20 brokerage interface.

    async with Client.practice(token, account_id) as client:
        print((await client.accounts.summary()).account.nav)

Client              every call, by resource: accounts, books, candles, orders, positions, pricing, trades, transactions
sync.Client         the same calls without async, for scripts and notebooks
models              the records: MarketOrderRequest, StopLossDetails, Trade, OrderFillTransaction, ...
errors              the exceptions, as one tree: InvalidRequest, Refused, Unreachable, ...
Sender, FileJournal orders without duplicates; an outcome is Done, Rejected, NotSent, Ambiguous or Unconfirmed
AccountState        the account as it is now: `async with client.follow(...) as account`; its events are TransactionApplied, PriceUpdated, ...
StreamSettings      how a stream reconnects and queues; it reports Gap, Reconnected or HistoryLost
open_token_store    tokens, in the desktop's store or in an encrypted file

Public is what `keydesk_client` and its modules `models`, `errors`, `sync`, `orders` and `streams` list in `__all__`; all else is
internal and may change with any version. Names are imported on first use, so that importing this package is fast.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from keydesk_client._version import __version__

if TYPE_CHECKING:
    from keydesk_client import errors, models, orders, streams, sync
    from keydesk_client.account.records import OpenPosition, OpenTrade, PendingOrder
    from keydesk_client.arithmetic.profit import HOME, Factors
    from keydesk_client.auth.secret import Secret
    from keydesk_client.auth.token_store import TokenStore, open_token_store, passphrase_from_file
    from keydesk_client.client import Client
    from keydesk_client.errors import InvalidRequest, KeydeskClientError, Refused, TimedOut
    from keydesk_client.following.events import (
        LateEffect,
        LatestPrice,
        PriceUpdated,
        SnapshotReloaded,
        StreamInterrupted,
        StreamRestored,
        TransactionApplied,
    )
    from keydesk_client.following.reporter import FollowSettings
    from keydesk_client.following.state import AccountState, Margin
    from keydesk_client.http.limits import Limiter
    from keydesk_client.http.retry import Retries
    from keydesk_client.http.timing import Timeouts, Timing
    from keydesk_client.models._core.scalars import DateTime
    from keydesk_client.models._core.tabular import Columns
    from keydesk_client.models.instruments import Instrument
    from keydesk_client.orders.journal import FileJournal, Journal
    from keydesk_client.orders.outcome import (
        Ambiguous,
        Done,
        Intent,
        NotSent,
        OrderResult,
        Outcome,
        Rejected,
        Sending,
        Unconfirmed,
        Unknown,
    )
    from keydesk_client.orders.sender import Sender
    from keydesk_client.resources._paging import Paged
    from keydesk_client.resources.closing import ItemOutcome
    from keydesk_client.sequencer import Sequencer
    from keydesk_client.streams.settings import (
        Gap,
        HistoryLost,
        OverflowPolicy,
        Reconnected,
        StreamSettings,
    )
    from keydesk_client.unset import UNSET

__all__ = [
    "HOME",
    "UNSET",
    "AccountState",
    "Ambiguous",
    "Client",
    "Columns",
    "DateTime",
    "Done",
    "Factors",
    "FileJournal",
    "FollowSettings",
    "Gap",
    "HistoryLost",
    "Instrument",
    "Intent",
    "InvalidRequest",
    "ItemOutcome",
    "Journal",
    "KeydeskClientError",
    "LateEffect",
    "LatestPrice",
    "Limiter",
    "Margin",
    "NotSent",
    "OpenPosition",
    "OpenTrade",
    "OrderResult",
    "Outcome",
    "OverflowPolicy",
    "Paged",
    "PendingOrder",
    "PriceUpdated",
    "Reconnected",
    "Refused",
    "Rejected",
    "Retries",
    "Secret",
    "Sender",
    "Sending",
    "Sequencer",
    "SnapshotReloaded",
    "StreamInterrupted",
    "StreamRestored",
    "StreamSettings",
    "TimedOut",
    "Timeouts",
    "Timing",
    "TokenStore",
    "TransactionApplied",
    "Unconfirmed",
    "Unknown",
    "__version__",
    "errors",
    "models",
    "open_token_store",
    "orders",
    "passphrase_from_file",
    "streams",
    "sync",
]

_MODULES = ("errors", "models", "orders", "streams", "sync")

_MODULE_OF = {
    "AccountState": "following.state",
    "Ambiguous": "orders.outcome",
    "TransactionApplied": "following.events",
    "OrderResult": "orders.outcome",
    "Client": "client",
    "Columns": "models._core.tabular",
    "DateTime": "models._core.scalars",
    "Done": "orders.outcome",
    "Factors": "arithmetic.profit",
    "FileJournal": "orders.journal",
    "FollowSettings": "following.reporter",
    "Gap": "streams.settings",
    "HOME": "arithmetic.profit",
    "HistoryLost": "streams.settings",
    "StreamInterrupted": "following.events",
    "ItemOutcome": "resources.closing",
    "Instrument": "models.instruments",
    "Intent": "orders.outcome",
    "InvalidRequest": "errors",
    "Journal": "orders.journal",
    "KeydeskClientError": "errors",
    "Refused": "errors",
    "Sending": "orders.outcome",
    "TimedOut": "errors",
    "LatestPrice": "following.events",
    "Limiter": "http.limits",
    "Margin": "following.state",
    "NotSent": "orders.outcome",
    "OpenPosition": "account.records",
    "OpenTrade": "account.records",
    "Outcome": "orders.outcome",
    "Paged": "resources._paging",
    "PendingOrder": "account.records",
    "PriceUpdated": "following.events",
    "Reconnected": "streams.settings",
    "Rejected": "orders.outcome",
    "SnapshotReloaded": "following.events",
    "StreamRestored": "following.events",
    "Retries": "http.retry",
    "Secret": "auth.secret",
    "Sender": "orders.sender",
    "Sequencer": "sequencer",
    "StreamSettings": "streams.settings",
    "Timeouts": "http.timing",
    "Timing": "http.timing",
    "TokenStore": "auth.token_store",
    "LateEffect": "following.events",
    "UNSET": "unset",
    "Unconfirmed": "orders.outcome",
    "Unknown": "orders.outcome",
    "OverflowPolicy": "streams.settings",
    "open_token_store": "auth.token_store",
    "passphrase_from_file": "auth.token_store",
}


if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt name

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _MODULE_OF:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}",
                name=name,
                obj=sys.modules[__name__],
            )
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
