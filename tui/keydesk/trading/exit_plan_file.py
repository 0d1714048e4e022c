"""The file of an account's exit plans, in the folder of the order journals; every desk of the account reads and changes it.

Each change is made to the content as it is on the disk, under the file's lock, and replaces the file atomically. The plans
of other accounts of the same name (those left for a replay) stay in it.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.fields import Unit
from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk.store.account_records import record_of, with_record
from keydesk_client.auth.private_files import locked, read_private, replace_file

MAX_BYTES = 500_000  # bytes
LOCK_TIMEOUT = 0.2  # seconds that another desk may hold the file
UNITS: tuple[Unit, ...] = ("R", "pips")


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


class ExitPlanFile:
    """Reads and changes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_as: tuple[int, int] | None = None

    def has_changed(self) -> bool:
        """Return whether the file was replaced or changed since it was last read."""
        return self._state() != self._read_as

    def read(self, account_ns: int) -> ExitPlanSet:
        """Return the content; raise OSError, UnsafeFile or ValueError when it cannot be read."""
        return self._plan_set(self._members(), account_ns)

    def _members(self) -> Mapping[str, Any]:
        self._read_as = self._state()
        try:
            members = json.loads(read_private(self.path, MAX_BYTES))
        except FileNotFoundError:
            return {}
        if not isinstance(members, dict):
            raise ValueError(f"{self.path} is damaged: it holds no object")  # noqa: TRY004 - as other damage
        return members

    def _plan_set(self, members: Mapping[str, Any], account_ns: int) -> ExitPlanSet:
        if not members:
            return ExitPlanSet()
        try:
            record = record_of(members, account_ns)
            return ExitPlanSet() if record is None else _plan_set_of(record)
        except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise ValueError(f"{self.path} is damaged: {error!r}") from error

    def change(self, account_ns: int, change: Callable[[ExitPlanSet], ExitPlanSet]) -> ExitPlanSet:
        """Change the content as it is on the disk; return it as it is now. Raise as `read` does."""
        with locked(self.path, patience_s=LOCK_TIMEOUT):
            members = self._members()
            before = self._plan_set(members, account_ns)
            after = change(before)
            if after != before:
                content = with_record(members, account_ns, _plan_set_members(after))
                replace_file(self.path, json.dumps(content).encode())
                self._read_as = self._state()
        return after

    def _state(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino


def _plan_set_members(plan_set: ExitPlanSet) -> dict[str, Any]:
    return {
        "plans": {id_: _plan_members(plan) for id_, plan in plan_set.plans.items()},
        "expected": {
            id_: {"rules": _rules_members(each.rules), "since": each.since, "trade": each.trade_id}
            for id_, each in plan_set.expected.items()
        },
    }


def _plan_members(plan: ExitPlan) -> dict[str, object]:
    return {
        "break_even_after": _number_text(plan.break_even_after),
        "break_even_offset": str(plan.break_even_offset),
        "trail_after": _number_text(plan.trail_after),
        "trail_distance": str(plan.trail_distance),
        "trail_step": str(plan.trail_step),
        "close_at_ns": plan.close_at_ns,
        "break_even_done": plan.break_even_done,
        "opened_ns": plan.opened_ns,
    }


def _rules_members(rules: ExitRules) -> dict[str, object]:
    members: dict[str, object] = {
        "break_even_offset_pips": str(rules.break_even_offset_pips),
        "close_after_minutes": _number_text(rules.close_after_minutes),
    }
    for name in ENTRIES:
        entry: Entry = getattr(rules, name)
        members[name] = [entry.text, entry.unit]
    return members


ENTRIES = ("break_even_at", "trail_from", "trail_behind", "trail_step")


def _plan_set_of(members: Mapping[str, Any]) -> ExitPlanSet:
    return ExitPlanSet(
        {str(id_): _plan_of(each) for id_, each in members["plans"].items()},
        {
            str(id_): ExpectedPlan(
                _rules_of(each["rules"]), _whole(each["since"]), str(each["trade"])
            )
            for id_, each in members["expected"].items()
        },
    )


def _plan_of(members: Mapping[str, Any]) -> ExitPlan:
    at, opened = members["close_at_ns"], members.get("opened_ns")
    return ExitPlan(
        break_even_after=_number(members["break_even_after"]),
        break_even_offset=_required(members["break_even_offset"]),
        trail_after=_number(members["trail_after"]),
        trail_distance=_required(members["trail_distance"]),
        trail_step=_required(members["trail_step"]),
        close_at_ns=None if at is None else _whole(at),
        break_even_done=members["break_even_done"] is True,
        opened_ns=None if opened is None else _whole(opened),
    )


def _rules_of(members: Mapping[str, Any]) -> ExitRules:
    even, after, behind, step = (_entry(members[name]) for name in ENTRIES)
    return ExitRules(
        break_even_at=even,
        break_even_offset_pips=_required(members["break_even_offset_pips"]),
        trail_from=after,
        trail_behind=behind,
        trail_step=step,
        close_after_minutes=_number(members["close_after_minutes"]),
    )


def _entry(pair: tuple[str, str]) -> Entry:
    text, unit = pair
    if unit not in UNITS or not isinstance(text, str):
        raise ValueError(f"{unit!r} is not a unit of a plan")
    return Entry(text, UNITS[UNITS.index(unit)])


def _number_text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


def _number(value: object) -> Decimal | None:
    return None if value is None else _required(value)


def _required(value: object) -> Decimal:
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a distance")
    return number


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value
