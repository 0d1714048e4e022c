"""The records of all accounts of one id, in one file: a replay of the practice market has accounts of the ids that were left.

They are told apart by when they were created; the present one stands at the top, the others beside it.
"""

from collections.abc import Mapping
from typing import Any

CREATED = "account_ns"
OTHERS = "others"
MAX_OTHERS = 8  # the newest ones


def record_of(members: Mapping[str, Any], account_ns: int) -> Mapping[str, Any] | None:
    """Return the record of an account from the content of a file, None if it has none."""
    if members[CREATED] == account_ns:
        return members
    found = _others(members).get(str(account_ns))
    return found if isinstance(found, dict) else None


def with_record(
    members: Mapping[str, Any], account_ns: int, record: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of a file with the record of an account as the present one; the others stay."""
    others = dict(_others(members))
    before = members.get(CREATED)
    if before and before != account_ns:
        others.pop(str(before), None)
        others[str(before)] = {name: members[name] for name in members if name != OTHERS}
    others.pop(str(account_ns), None)
    kept = dict(list(others.items())[-MAX_OTHERS:])
    return {**record, CREATED: account_ns, **({OTHERS: kept} if kept else {})}


def _others(members: Mapping[str, Any]) -> Mapping[str, Any]:
    others = members.get(OTHERS, {})
    return others if isinstance(others, dict) else {}
