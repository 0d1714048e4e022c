"""Notifications of what the broker caused: fills of resting orders, orders that ended, margin calls."""

from collections.abc import Mapping
from typing import Literal

from keydesk.text.format import pair
from keydesk.values import Command
from keydesk.words.log_line import LogLine
from keydesk.words.outcomes import fill_text
from keydesk_client.models import (
    MarginCallEnterTransaction,
    OrderCancelTransaction,
    OrderFillTransaction,
    Transaction,
)

OutcomeLevel = Literal["good", "warn", "bad"]
FILLS: Mapping[str, tuple[OutcomeLevel, str]] = {
    "STOP_LOSS_ORDER": ("warn", "STOP HIT"),
    "TRAILING_STOP_LOSS_ORDER": ("warn", "TRAILING STOP HIT"),
    "GUARANTEED_STOP_LOSS_ORDER": ("warn", "GUARANTEED STOP HIT"),
    "TAKE_PROFIT_ORDER": ("good", "TARGET"),
    "LIMIT_ORDER": ("good", "LIMIT ORDER"),
    "STOP_ORDER": ("good", "STOP ORDER"),
    "MARKET_IF_TOUCHED_ORDER": ("good", "ORDER TOUCHED"),
    "MARKET_ORDER_MARGIN_CLOSEOUT": ("bad", "MARGIN CLOSEOUT"),
    "MARKET_ORDER_DELAYED_TRADE_CLOSE": ("warn", "CLOSED AFTER THE HALT"),
    "FIXED_PRICE_ORDER": ("warn", "FIXED PRICE, BY THE BROKER"),
    "FIXED_PRICE_ORDER_PLATFORM_ACCOUNT_MIGRATION": ("warn", "MOVED TO ANOTHER PLATFORM"),
    "FIXED_PRICE_ORDER_DIVISION_ACCOUNT_MIGRATION": ("warn", "MOVED TO ANOTHER DIVISION"),
    "FIXED_PRICE_ORDER_ADMINISTRATIVE_ACTION": ("warn", "BY THE BROKER'S STAFF"),
}
ENTRIES = frozenset(("LIMIT_ORDER", "STOP_ORDER", "MARKET_IF_TOUCHED_ORDER"))
# A trader's own doing, or what goes with it.
EXPECTED_ENDS = frozenset(("CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED", "LINKED_TRADE_CLOSED"))


def notification_of(
    transaction: Transaction, requested: Command, line: LogLine | None
) -> tuple[OutcomeLevel, str] | None:
    """Return level and words of a transaction that is told; None for one that is not.

    Args:
        transaction: One that no command of this desk caused.
        requested: The price that its order asked for, from which the slippage is measured.
        line: Its line of the log, None where there is none.
    """
    match transaction:
        case OrderFillTransaction() if transaction.reason in FILLS:
            if transaction.reason in ENTRIES and at_once(transaction):
                return None
            level, what = FILLS[transaction.reason]
            return level, f"{what}: {fill_text(transaction, requested)}"
        case OrderCancelTransaction() if transaction.reason not in EXPECTED_ENDS:
            if at_once(transaction):
                return None
            return "warn", f"ORDER ENDED: {_log_text(transaction, line)}"
        case MarginCallEnterTransaction():
            return "bad", _log_text(transaction, line)
        case _:
            return None


def is_of_a_command(transaction: Transaction) -> bool:
    """Return whether it is a fill that a request caused just now: of this desk, or of another program."""
    return isinstance(transaction, OrderFillTransaction) and (
        transaction.reason not in FILLS or (transaction.reason in ENTRIES and at_once(transaction))
    )


def at_once(transaction: OrderFillTransaction | OrderCancelTransaction) -> bool:
    """Return whether it is of the batch that placed the order; the command's report covers it."""
    return transaction.batch_id == transaction.order_id


def _log_text(transaction: Transaction, line: LogLine | None) -> str:
    if line is None:
        return transaction.type
    return f"{pair(line.instrument)} {line.text}" if line.instrument else line.text
