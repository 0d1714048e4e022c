"""The record of an account's exit plans, one for each of its ledgers; every desk of the account reads and changes it."""

from collections.abc import Mapping

from msgspec import Struct, field

from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk.records.json_text import Kind


class ExpectedPlan(Struct, frozen=True):
    """The rules of an order that was sent: the trade that it opens gets them as its plan."""

    rules: ExitRules
    since: int  # the newest transaction that was known before it was sent
    trade_id: str = ""  # that it opened, once that is known


class ExitPlanSet(Struct, frozen=True):
    """The exit plans by trade, and those of orders by the client id that the order was sent with."""

    plans: Mapping[str, ExitPlan] = field(default_factory=dict)
    expected: Mapping[str, ExpectedPlan] = field(default_factory=dict)

    def with_plan(self, trade_id: str, plan: ExitPlan | None) -> "ExitPlanSet":
        """Return the set with the plan of a trade set, or (None) removed."""
        others = {id_: each for id_, each in self.plans.items() if id_ != trade_id}
        return ExitPlanSet(others if plan is None else others | {trade_id: plan}, self.expected)

    def with_expected(self, client_id: str, expected: ExpectedPlan | None) -> "ExitPlanSet":
        """Return the set with the rules of an order set, or (None) removed."""
        others = {id_: each for id_, each in self.expected.items() if id_ != client_id}
        return ExitPlanSet(
            self.plans, others if expected is None else others | {client_id: expected}
        )


EXIT_PLANS = Kind("exit plans", ExitPlanSet)
NO_PLANS = ExitPlanSet()
