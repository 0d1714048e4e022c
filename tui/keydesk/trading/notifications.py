"""Notices of events that the broker caused.

A fill of a stop, an expired order or a margin call has no key press to answer, so its notice stays until it is seen.
"""

from collections.abc import Callable
from time import time_ns

from msgspec import Struct, field

from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk.trading.executions import TRIGGERED, Execution, ExecutionLog
from keydesk.values import Command
from keydesk.words.log_line import LogLine
from keydesk.words.notifications import at_once, is_of_a_command, notification_of
from keydesk.words.outcomes import fill_text, slippage_pips
from keydesk_client.arithmetic.profit import pip
from keydesk_client.models import OrderFillTransaction, Transaction


class Notifier(Struct):
    """Adds notices for transactions that no command of this desk caused.

    A fill of another program's request looks like one of this desk's, whose answer may come later: it is told once no
    command that it may belong to is under way, unless an answer named it.
    """

    store: Store
    wall_ns: Callable[[], int] = time_ns
    executions: ExecutionLog | None = None  # keeps the slippage of orders that rested
    _unexplained: list[OrderFillTransaction] = field(default_factory=list)

    def on_transaction(self, transaction: Transaction) -> None:
        """Add a notice if the transaction has no command of this desk."""
        self.store.see_protected()
        requested = Command("", "")
        if isinstance(transaction, OrderFillTransaction):
            requested = self._requested_price(transaction)
            if not at_once(transaction):
                self._log_slippage(transaction, requested)
            if is_of_a_command(transaction):
                self._unexplained.append(transaction)
        notification = notification_of(transaction, requested, self._line_of(transaction))
        if notification is not None:
            level, text = notification
            self.store.add_notice(Notice(level, safe(text), self.wall_ns(), asks=True))

    def check(self) -> None:
        """Report the fills that other programs caused; called once a frame."""
        if not self._unexplained:
            return
        sent, waiting = self.store.sent, list[OrderFillTransaction]()
        for fill in self._unexplained:
            if fill.id in sent.own:
                continue
            if self.store.in_flight_of(fill.instrument):
                waiting.append(fill)
                continue
            text = f"BY ANOTHER PROGRAM: {fill_text(fill, Command('', ''))}"
            self.store.add_notice(Notice("warn", safe(text), self.wall_ns()))
        self._unexplained = waiting

    def _log_slippage(self, fill: OrderFillTransaction, requested: Command) -> None:
        """Keep how far from its own price an order that rested was filled."""
        if self.executions is None or requested.order_price is None:
            return
        self.executions.add(
            Execution(
                self.wall_ns(),
                fill.instrument,
                TRIGGERED,
                "filled",
                slippage=slippage_pips(fill, requested),
                fill_id=fill.id,
            )
        )

    def _requested_price(self, fill: OrderFillTransaction) -> Command:
        """Return the price that an order named, from which its slippage is measured."""
        known = self.store.instruments.get(fill.instrument)
        level = self.store.filled_levels.get(fill.order_id or "")
        if level is None or known is None:
            return Command("", "")
        return Command("", "", order_price=level, pip=pip(known.pip_location))

    def _line_of(self, transaction: Transaction) -> LogLine | None:
        """Return the transaction's line of the log, which is written first."""
        return next((each for each in reversed(self.store.log) if each.id == transaction.id), None)
