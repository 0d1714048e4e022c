"""Send commands to the broker, follow their progress and report their outcomes to the trader.

Transactions of an answer go through the transaction gate, so the copy on the stream has no further effect.
"""

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic, time_ns

from msgspec import Struct
from msgspec.structs import replace

from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.store.state import Notice, Topic
from keydesk.store.store import Store
from keydesk.text.sanitize import clean, safe
from keydesk.trading.audit import AuditLog
from keydesk.trading.desk_session import DeskSession
from keydesk.trading.executions import Execution, ExecutionLog
from keydesk.values import Command, CommandKind, TradeRow, is_unprotected
from keydesk.words.order_text import intent_text
from keydesk.words.outcomes import (
    Level,
    Report,
    fill_of,
    late_rejection_text,
    one_of_text,
    protection_text,
    report_of,
    slippage_pips,
)
from keydesk_client.account.synchronizer import TransactionGate
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    Intent,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)

KINDS: Mapping[Action, CommandKind] = {
    Action.CREATE: "open",
    Action.REPLACE: "replace",
    Action.CANCEL: "cancel",
    Action.CLOSE_TRADE: "close trade",
    Action.CLOSE_POSITION: "close position",
    Action.SET_DEPENDENT_ORDERS: "protection",
}
ON_ORDERS = frozenset({Action.CANCEL, Action.REPLACE})
ON_TRADES = frozenset({Action.CLOSE_TRADE, Action.SET_DEPENDENT_ORDERS})


PROTECTION_TIMEOUT = 1.0  # seconds to wait for the orders on fill of a new trade
CHECK_FIRST = "look first"  # shown in place of a key to press again


class Dispatcher(Struct):
    """Sends commands and reports their outcomes; one per account."""

    store: Store
    gate: TransactionGate  # takes the transactions of answers
    audit: AuditLog | None = None
    keymap: KeyMap = KEYMAP
    session: DeskSession | None = None  # keeps outcomes until they are read
    executions: ExecutionLog | None = None
    now: Callable[[], float] = monotonic
    wall_ns: Callable[[], int] = time_ns
    protection_timeout: float = PROTECTION_TIMEOUT

    async def send(self, command: Command, sending: Awaitable[Outcome]) -> Outcome:
        """Await the outcome of a command, pass its transactions on and report it.

        Args:
            command: What the trader asked for.
            sending: The request; its intent must have the id of the command.
        """
        self.store.set_in_flight(command)
        began = self.now()
        try:
            outcome = await sending
        finally:
            self._settle_unless_unconfirmed(command.id)
        took = (self.now() - began) * 1000
        command = replace(command, milliseconds=took, again=self.keymap.name(command.again))
        report = report_of(outcome, command)
        self._log_execution(outcome, command)
        if isinstance(outcome, Done):
            self._pass_on(outcome)
            report = await self._with_protection(report, outcome)
        elif isinstance(outcome, Ambiguous):
            self._pass_on(outcome)
        self.record("outcome", f"{outcome.intent.id} {report.text}")
        self.report(outcome, report)
        return outcome

    def report(self, outcome: Outcome, report: Report) -> None:
        """Show the outcome of an order to the trader; one that had to be looked up stays until it is seen."""
        found = isinstance(outcome, Done | Rejected) and outcome.looked_up
        self.notify(
            *(report.level, report.text, outcome.intent.id),
            unprotected=report.unprotected,
            asks=found,
        )

    def on_progress(self, progress: Progress) -> None:
        """Update a command under way; the `on_progress` callback of `Sender`."""
        intent = progress.intent
        record = self._record_of(intent)
        match progress:
            case Sending(not_journalled=trouble):
                if intent.id in self.store.in_flight:
                    self.store.set_in_flight(record)
                text = record_of(intent, self.store).text
                self.record("sending", f"{intent.id} {text} {json.dumps(dict(intent.body))}")
                if trouble:
                    self.notify("warn", f"{text}: sent, but NOT JOURNALLED ({clean(trouble)})")
            case Unknown(look_ups=count):
                why = clean(progress.message)
                self.store.set_in_flight(replace(record, state="unknown", look_ups=count, why=why))
                self.record("unknown", f"{intent.id} {progress.message}")
            case Unconfirmed():
                self.store.set_in_flight(replace(record, state="unconfirmed"))
            case Done() | Rejected() | NotSent() | Ambiguous():
                if isinstance(progress, Done | Ambiguous):  # before it is settled
                    self._note_own(progress)
                self.store.settle(intent.id)
                if self.session is not None:  # first: the desk may be closed at any await
                    report = report_of(progress, Command(record.text, CHECK_FIRST))
                    self.session.keep_outcome(intent.id, report.level, report.text)

    def on_late_outcome(self, outcome: Done | Rejected | Ambiguous) -> None:
        """Warn of a request that took effect after it was unconfirmed; the `alarm` callback of `Sender`."""
        text = record_of(outcome.intent, self.store).text
        self.record("showed up", f"{outcome.intent.id} {text}")
        intent_id = outcome.intent.id
        if isinstance(outcome, Rejected):
            self.notify("info", f"{text}: {late_rejection_text(outcome)}", intent_id)
            return
        self._pass_on(outcome)
        if isinstance(outcome, Ambiguous):
            found = one_of_text(outcome, Command(text, ""))
            self.notify("bad", f"TOOK EFFECT LATE: {found}", intent_id)
            return
        self.notify(
            "bad",
            f"TOOK EFFECT LATE: {text} was {outcome.result.value} after all. "
            f"{self.keymap.name('close')} closes, {self.keymap.name('cancel')} cancels",
            intent_id,
        )

    def notify(
        self,
        level: Level,
        text: str,
        outcome: str = "",
        *,
        sums_up: str = "",
        unprotected: str = "",
        asks: bool = False,
    ) -> None:
        """Show one line to the trader.

        Args:
            level: How it is drawn, and whether it stays until it is seen.
            text: Its words.
            outcome: The intent id of the command whose outcome it reports.
            sums_up: The commands whose end it reports, by a name of them all: an earlier notice of that name is replaced.
            unprotected: The trade that it says has no stop: it is seen once that has one.
            asks: It stays until it is seen, as a warning does.
        """
        asks = asks or level in {"warn", "bad"}  # both ask for an action when they concern an order
        self.store.add_notice(
            Notice(
                *(level, safe(text), self.wall_ns()),
                asks=asks,
                outcome=outcome,
                sums_up=sums_up,
                unprotected=unprotected,
            )
        )

    def record(self, what: str, text: str) -> None:
        """Write an entry to the audit log, if there is one; warn once when writing begins to fail."""
        if self.audit is None:
            return
        failed_before = self.audit.failed
        self.audit.write(what, text)
        if self.audit.failed and not failed_before:
            self.notify(
                "warn",
                f"The audit log cannot be written: {clean(self.audit.failed)}. Orders are sent without it.",
            )

    def _log_execution(self, outcome: Outcome, command: Command) -> None:
        if self.executions is None or isinstance(outcome, NotSent):
            return
        answered = isinstance(outcome, Done | Rejected) and not outcome.looked_up
        fill = fill_of(outcome.transactions) if isinstance(outcome, Done) else None
        execution = Execution(
            self.wall_ns(),
            command.instrument or instrument_of(outcome.intent, self.store) or "",
            command.kind,
            outcome.result.value if isinstance(outcome, Done) else _result_of(outcome),
            command.milliseconds if answered else None,
            None if fill is None else slippage_pips(fill, command),
        )
        self.executions.add(execution)

    def _record_of(self, intent: Intent) -> Command:
        """Return the command of an intent, completed from the journal and the account."""
        record = record_of(intent, self.store)
        sent = self.store.in_flight.get(intent.id)
        if sent is None:
            return record
        return replace(sent, instrument=sent.instrument or record.instrument, kind=record.kind)

    def _settle_unless_unconfirmed(self, intent_id: str) -> None:
        record = self.store.in_flight.get(intent_id)
        if record is not None and record.state != "unconfirmed":
            self.store.settle(intent_id)

    def _note_own(self, outcome: Done | Ambiguous) -> None:
        self.store.sent.own.update(each.id for each in outcome.transactions)

    def _pass_on(self, outcome: Done | Ambiguous) -> None:
        self._note_own(outcome)
        self.gate.offer_all(outcome.transactions)
        self.gate.saw_last(int(outcome.last_transaction_id))

    async def _with_protection(self, report: Report, done: Done) -> Report:
        """Add stop and target of a new trade to the report; make it a warning if there is no stop."""
        fill = fill_of(done.transactions)
        if fill is None or fill.trade_opened is None:
            return report
        trade = await self._trade_with_orders(fill.trade_opened.trade_id, done)
        if trade is None:
            return report
        text = " ".join(filter(None, (report.text, protection_text(trade))))
        if not is_unprotected(trade):
            return Report(report.level, text)
        text += f" NO STOP: {self.keymap.name('protect')} protects"
        return Report("warn", text, fill.trade_opened.trade_id)

    async def _trade_with_orders(self, trade_id: str, done: Done) -> TradeRow | None:
        """Return a new trade once its orders on fill are applied; after a timeout, as it is."""
        last = max((int(id_) for id_ in done.related_transaction_ids), default=0)

        def is_applied() -> bool:
            account = self.store.account
            return account is not None and account.last_transaction_id >= last

        await self.store.wait_for(is_applied, Topic.ACCOUNT, timeout_s=self.protection_timeout)
        return self.store.trades.get(trade_id)


def _result_of(outcome: Rejected | Ambiguous | Unconfirmed) -> str:
    match outcome:
        case Rejected():
            return "rejected"
        case Ambiguous():
            return "one of several"
        case Unconfirmed():
            return "unconfirmed"


def record_of(intent: Intent, store: Store) -> Command:
    """Return the command of an intent that is being sent or looked up."""
    instrument = instrument_of(intent, store)
    return Command(
        intent_text(dataclasses.replace(intent, instrument=instrument or "")),
        CHECK_FIRST,
        intent.id,
        instrument=instrument,
        kind=KINDS[intent.action],
    )


def instrument_of(intent: Intent, store: Store) -> str | None:
    """Return the instrument of an intent, None if neither the journal nor the account has it.

    A cancel, a trade close and an edit of dependent orders name an order or a trade, not its instrument. The desk adds
    the instrument to the intent before it sends; for an intent without it, the account is searched.
    """
    named = intent.instrument or intent.body.get("instrument")
    if isinstance(named, str) and named:
        return named
    if intent.action is Action.CLOSE_POSITION:
        return intent.target
    return instrument_of_target(intent.action, intent.target, store) or None


def instrument_of_target(action: Action, target: str, store: Store) -> str:
    """Return the instrument of the order or trade `target`, "" if the account no longer has it."""
    if action in ON_TRADES:
        trade = store.trades.get(target)
        return trade.instrument if trade is not None else ""
    if action not in ON_ORDERS:
        return ""
    order = store.orders.get(target)
    if order is None and target.startswith("@"):
        own = (each for each in store.orders.values() if each.client_id == target[1:])
        order = next(own, None)
    return order.instrument if order is not None else ""
