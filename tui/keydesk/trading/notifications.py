"""Notices of events that the broker caused.

A fill of a stop, an expired order or a margin call has no key press to answer, so its notice stays until it is seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import time_ns
from typing import Literal

from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk.trading.executions import TRIGGERED, Execution, ExecutionLog
from keydesk.words.outcomes import Command, fill_text, slippage_pips
from keydesk_client.arithmetic.profit import pip
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
SLIPS = frozenset(("STOP_LOSS_ORDER", "TRAILING_STOP_LOSS_ORDER", "STOP_ORDER"))
ENTRIES = frozenset(("LIMIT_ORDER", "STOP_ORDER", "MARKET_IF_TOUCHED_ORDER"))
# A trader's own doing, or what goes with it.
EXPECTED_ENDS = frozenset(("CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED", "LINKED_TRADE_CLOSED"))


@dataclass(frozen=True, slots=True)
class Notifier:
    """Adds notices for transactions that no command of this desk caused."""

    store: Store
    wall_ns: Callable[[], int] = time_ns
    executions: ExecutionLog | None = None  # keeps the slippage of orders that rested

    def on_transaction(self, transaction: Transaction) -> None:
        """Add a notice if the transaction has no command of this desk."""
        self.store.see_protected()
        if isinstance(transaction, OrderFillTransaction) and not _at_once(transaction):
            self._log_slippage(transaction)
        match transaction:
            case OrderFillTransaction() if transaction.reason in FILLS:
                if not (transaction.reason in ENTRIES and _at_once(transaction)):
                    level, what = FILLS[transaction.reason]
                    self._tell(
                        level,
                        f"{what}: {fill_text(transaction, self._requested_price(transaction))}",
                    )
            case OrderCancelTransaction() if transaction.reason not in EXPECTED_ENDS:
                if not _at_once(transaction):
                    self._tell("warn", f"ORDER ENDED: {self._log_text(transaction)}")
            case MarginCallEnterTransaction():
                self._tell("bad", self._log_text(transaction))
            case _:
                pass

    def _log_slippage(self, fill: OrderFillTransaction) -> None:
        """Keep how far from its own price an order that rested was filled."""
        level = self.store.filled_levels.get(fill.order_id or "")
        known = self.store.instruments.get(fill.instrument)
        if self.executions is None or level is None or known is None:
            return
        command = Command("", "", order_price=level, pip=pip(known.pip_location))
        self.executions.add(
            Execution(
                self.wall_ns(),
                fill.instrument,
                TRIGGERED,
                "filled",
                slippage=slippage_pips(fill, command),
                fill_id=fill.id,
            )
        )

    def _requested_price(self, fill: OrderFillTransaction) -> Command:
        """Return the price that a stop or an entry order requested, from which its slippage is measured."""
        known = self.store.instruments.get(fill.instrument)
        level = self.store.filled_levels.get(fill.order_id or "") if fill.reason in SLIPS else None
        if level is None or known is None:
            return Command("", "")
        return Command("", "", order_price=level, pip=pip(known.pip_location))

    def _log_text(self, transaction: Transaction) -> str:
        """Return the words of the transaction's log line, which is written first."""
        lines = (line for line in reversed(self.store.log) if line.id == transaction.id)
        line = next(lines, None)
        if line is None:
            return transaction.type
        return f"{pair(line.instrument)} {line.text}" if line.instrument else line.text

    def _tell(self, level: OutcomeLevel, text: str) -> None:
        self.store.notify(Notice(level, safe(text), self.wall_ns(), asks=True))


def _at_once(transaction: OrderFillTransaction | OrderCancelTransaction) -> bool:
    """Return whether it is of the batch that placed the order; the command's report covers it."""
    return transaction.batch_id == transaction.order_id
