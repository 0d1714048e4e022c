"""Keep the exit plans of an account: what the trader sets, and what orders bring along whose template has a plan.

The rules of an order are kept before it is sent, under the client id that its fill repeats, so that its trade gets them
although the desk ends in between.
"""

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.calc.orders.instructions import SetExitPlan
from keydesk.calc.orders.plans.exit_plans import (
    ExitPlan,
    ExitRules,
    Units,
    initial_risk_of,
    plan_text,
    problem_of,
    resolved,
)
from keydesk.records.desk_records import DeskRecords
from keydesk.records.errors import FAILURES
from keydesk.records.exit_plans import EXIT_PLANS, NO_PLANS, ExitPlanSet, ExpectedPlan
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import clean
from keydesk.trading.dispatcher import Dispatcher
from keydesk_client.arithmetic.profit import pip
from keydesk_client.client import Client
from keydesk_client.models import OrderCancelTransaction, OrderFillTransaction, Transaction
from keydesk_client.orders.outcome import Done, NotSent, OrderResult, Outcome, Rejected

STOP_WITHIN = 5.0  # seconds that the stop on fill of a new trade may take to come
MAX_WAIT = 1000  # transactions after which an order that was never seen is not expected any more
READ_EVERY = 1.0  # seconds between looks whether another desk changed the plans


class ExitPlanKeeper(Struct):
    """The exit plans of one account, and their record."""

    dispatcher: Dispatcher
    plan_set: ExitPlanSet = field(default_factory=ExitPlanSet)
    _records: DeskRecords | None = None
    _read_at: float = float("-inf")
    _read_for: int = 0  # the account, by when it was created
    _kept: ExitPlanSet | None = None  # what its record has; None: not read yet
    _trouble: str = ""  # why the record cannot be used, as last reported
    _opened_at: dict[str, float] = field(default_factory=dict)  # by trade, when it was first seen

    @property
    def store(self) -> Store:
        """The state of account and market."""
        return self.dispatcher.store

    @property
    def plans(self) -> Mapping[str, ExitPlan]:
        """The plans by trade."""
        return self.plan_set.plans

    def open(self, records: DeskRecords) -> None:
        """Use these records."""
        self._records = records

    # What the trader sets.

    def update_plan(self, change: SetExitPlan) -> None:
        """Set, change or take away the plan of a trade."""
        trade = self.store.trades.get(change.trade_id)
        name = f"#{change.trade_id} {pair(change.instrument)}"
        if trade is None and change.plan is not None:
            self.dispatcher.notify("warn", f"NO EXIT PLAN for {name}: the trade is closed")
            return
        opened_ns = None if trade is None else trade.open_time_ns
        plan = None if change.plan is None else replace(change.plan, opened_ns=opened_ns)
        self.change(lambda plan_set: plan_set.with_plan(change.trade_id, plan))
        if change.plan is None:
            self.record(f"{name}: removed")
            self.dispatcher.notify("good", f"EXIT PLAN of {name} removed; stop and target stay")
            return
        text = plan_text(change.plan, self._pip_of(change.instrument), self.store.zone)
        self.record(f"{name}: {text}")
        self.dispatcher.notify(
            "good", f"EXIT PLAN of {name} set: {text}. It runs while Keydesk runs"
        )

    def end(self, trade_id: str, why: str = "the trade is closed") -> None:
        """End the plan of a trade that is closed."""
        self.change(lambda plan_set: plan_set.with_plan(trade_id, None))
        self.record(f"#{trade_id}: ended, {why}")

    def expect(self, client_id: str, rules: ExitRules) -> None:
        """Keep the rules of an order before it is sent, so that its trade gets them whatever happens to this desk."""
        if not rules.is_empty:
            since = self.store.account.last_transaction_id if self.store.account else 0
            expected = ExpectedPlan(rules, since)
            self.change(lambda plan_set: plan_set.with_expected(client_id, expected))

    def settled(self, client_id: str, outcome: Outcome) -> None:
        """Take the outcome of an order whose rules are kept."""
        if client_id not in self.plan_set.expected:
            return
        match outcome:
            case Done(result=OrderResult.FILLED):
                opened = [each.trade_opened for each in outcome.fills if each.trade_opened]
                if opened:
                    self._opened(client_id, opened[0].trade_id)
                else:
                    self._forget(client_id)
            case Done(result=OrderResult.RESTING):
                pass
            case Done() | Rejected() | NotSent():
                self._forget(client_id)
            case _:
                pass  # it may show up

    def on_transaction(self, transaction: Transaction) -> None:
        """Note which trade an order with rules opened, or that it is gone; a listener of the transaction gate."""
        match transaction:
            case OrderFillTransaction(client_order_id=str() as client_id):
                if client_id in self.plan_set.expected and transaction.trade_opened is not None:
                    self._opened(client_id, transaction.trade_opened.trade_id)
            case OrderCancelTransaction(client_order_id=str() as client_id):
                if client_id in self.plan_set.expected and not transaction.replaced_by_order_id:
                    self._forget(client_id)
            case _:
                pass

    def _opened(self, client_id: str, trade_id: str) -> None:
        def note(plan_set: ExitPlanSet) -> ExitPlanSet:
            expected = plan_set.expected.get(client_id)
            if expected is None:
                return plan_set
            opened = ExpectedPlan(expected.rules, expected.since, trade_id)
            return plan_set.with_expected(client_id, opened)

        self.change(note)

    def _forget(self, client_id: str) -> None:
        self.change(lambda plan_set: plan_set.with_expected(client_id, None))

    def set_up_opened(self, now: float) -> None:
        """Turn the rules of orders that have opened a trade into its plan, once its stop is known."""
        for client_id, expected in list(self.plan_set.expected.items()):
            trade = self.store.trades.get(expected.trade_id)
            known = None if trade is None else self.store.instruments.get(trade.instrument)
            if trade is None or known is None:
                continue
            since = self._opened_at.setdefault(trade.id, now)
            risk = initial_risk_of(trade)
            if risk is None and now - since < STOP_WITHIN:
                continue
            del self._opened_at[trade.id]
            units = Units(pip(known.pip_location), risk, None)
            plan = resolved(expected.rules, units, trade.open_time_ns)
            self._forget(client_id)
            if isinstance(plan, UnreadableText):
                self.dispatcher.notify(
                    "bad", f"NO EXIT PLAN for #{trade.id}: {plan.text} {plan.reason}. Set it by key"
                )
            elif problem := problem_of(plan):
                self.dispatcher.notify("bad", f"NO EXIT PLAN for #{trade.id}: {problem}")
            else:
                self.update_plan(SetExitPlan(trade.id, trade.instrument, plan))

    async def look_up(self, client: Client, unconfirmed: Collection[str]) -> None:
        """Find what became of orders that an earlier desk sent and whose fill this desk has not seen.

        An order without any trace is kept as expected: another desk may be sending it, or it may show up late.

        Raises:
            KeydeskClientError: the transactions could not be read.
        """
        resting = {each.client_id for each in self.store.orders.values()}
        open_ones = {
            id_: each
            for id_, each in self.plan_set.expected.items()
            if not each.trade_id and id_ not in resting and id_ not in unconfirmed
        }
        if open_ones:
            first = min(each.since for each in open_ones.values())
            async for each in client.transactions.iterate_since(first):
                self.on_transaction(each)
            newest = self.store.account.last_transaction_id if self.store.account else 0
            for client_id, sent in open_ones.items():
                expected = self.plan_set.expected.get(client_id)
                lost = expected is not None and not expected.trade_id
                if lost and newest - sent.since > MAX_WAIT:
                    self._forget(client_id)

    # The plans and their record.

    def read_again(self, now: float) -> None:
        """Take what another desk has written; what could not be written here stays in force until then."""
        if self._records is None or now - self._read_at < READ_EVERY:
            return
        self._read_at = now
        try:
            found = self._records.read(EXIT_PLANS, self._begin_ledger()) or NO_PLANS
        except BlockingIOError:
            pass  # another desk writes: the next look reads it
        except FAILURES as error:
            self._say_trouble(f"cannot be read, none of its plans runs: {clean(str(error))}")
        else:
            if found != self._kept:
                self._kept = self.plan_set = found
        self._show()

    def _begin_ledger(self) -> int:
        """Return the ledger of the account as it is now; one that was left leaves its plans in its record."""
        if self._read_for != self._account_ns:
            self._read_for, self._kept, self.plan_set = self._account_ns, None, NO_PLANS
        return self._read_for

    def restart_market(self) -> None:
        """Take the plans of the account of another market at once."""
        self._read_at = float("-inf")
        self.read_again(0.0)

    def change(self, change: Callable[[ExitPlanSet], ExitPlanSet]) -> bool:
        """Change the plans and their record; return False if that was not written: the change then holds in this desk only."""
        kept, ledger = True, self._begin_ledger()
        try:
            if self._records is None:
                raise OSError("no folder for it")
            self._kept = self.plan_set = self._records.change(
                EXIT_PLANS, ledger, lambda found: change(found or NO_PLANS)
            )
        except FAILURES as error:
            self.plan_set, kept = change(self.plan_set), False
            reason = getattr(error, "strerror", "") or str(error)
            self._say_trouble(f"cannot be written, what you set holds in this desk only: {reason}")
        else:
            self._trouble = ""
        self._show()
        return kept

    def record(self, text: str) -> None:
        """Write to the audit log."""
        self.dispatcher.record("plan", text)

    def _say_trouble(self, text: str) -> None:
        if text != self._trouble:
            self._trouble = text
            self.dispatcher.notify("bad", f"The file of exit plans {clean(text)}")

    def _show(self) -> None:
        if self.store.exit_plans != self.plan_set.plans:
            self.store.exit_plans = dict(self.plan_set.plans)
            self.store.mark(Topic.TRADES)

    def _pip_of(self, instrument: str) -> Decimal | None:
        known = self.store.instruments.get(instrument)
        return None if known is None else pip(known.pip_location)

    @property
    def _account_ns(self) -> int:
        """When the account was created: a practice market that began anew has the same account ids."""
        account = self.store.account
        return 0 if account is None else account.created_time_ns
