"""What happens to the account without a key of ours is told as loudly as what a key did: a stop that is hit above all.

The broker acts by itself when a price comes, a time is over or the margin is gone; the row just vanishing would be a
poor way to learn it. Such a message stays until it was seen. What our own commands made is told by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import time_ns
from typing import Literal

from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk.trading.outcome_words import Asked, filled
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
}
ENTRIES = frozenset(("LIMIT_ORDER", "STOP_ORDER", "MARKET_IF_TOUCHED_ORDER"))
# A trader's own doing, or what goes with it.
EXPECTED_ENDS = frozenset(("CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED", "LINKED_TRADE_CLOSED"))


@dataclass(frozen=True, slots=True)
class Announcer:
    """Listens at the one door, where every transaction passes once."""

    store: Store
    wall_ns: Callable[[], int] = time_ns

    def heard(self, transaction: Transaction) -> None:
        """Tell it, if nobody at these keys asked for it just now."""
        match transaction:
            case OrderFillTransaction() if transaction.reason in FILLS:
                if not (transaction.reason in ENTRIES and _at_once(transaction)):
                    level, what = FILLS[transaction.reason]
                    self._tell(level, f"{what}: {filled(transaction, Asked('', ''))}")
            case OrderCancelTransaction() if transaction.reason not in EXPECTED_ENDS:
                if not _at_once(transaction):
                    self._tell("warn", f"ORDER GONE: {self._logged(transaction)}")
            case MarginCallEnterTransaction():
                self._tell("bad", self._logged(transaction))
            case _:
                pass

    def _logged(self, transaction: Transaction) -> str:
        """The words of its line in the log, which is written before anybody hears of it."""
        lines = (line for line in reversed(self.store.log) if line.id == transaction.id)
        line = next(lines, None)
        if line is None:
            return transaction.type
        return f"{pair(line.instrument)} {line.text}" if line.instrument else line.text

    def _tell(self, level: OutcomeLevel, words: str) -> None:
        self.store.notify(Notice(level, safe(words), self.wall_ns(), asks=True))


def _at_once(transaction: OrderFillTransaction | OrderCancelTransaction) -> bool:
    """Whether it came in the batch that placed the order: the answer to the command tells it."""
    return transaction.batch_id == transaction.order_id
