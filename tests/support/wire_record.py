"""What of the wire reference a run of the tests has checked, operation by operation."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from support.wire import wire

UNSENT_MEMBERS = {
    "orderReissueTransaction": "an order at rest is never filled in part",
    "orderReissueRejectTransaction": "an order at rest is never filled in part",
    "takeProfitOrderCreatedCancelTransaction": "what fills at once finds the depth its trade was filled from",
    "stopLossOrderCreatedCancelTransaction": "what fills at once finds the depth its trade was filled from",
    "takeProfitOrderCancelRejectTransaction": "a null for an order that is not there leaves things as they are",
    "stopLossOrderCancelRejectTransaction": "a null for an order that is not there leaves things as they are",
    "trailingStopLossOrderCancelRejectTransaction": "a null for an order that is not there leaves things as they are",
}
"""Members that this broker never sends, and why."""

UNSENT_STATUSES = {
    ("list_transactions", 416): "a span of time without transactions is an empty list",
    ("transactions_since", 416): "an id above the last one is 404",
    ("transactions_range", 416): "an id above the last one is 404",
    ("get_order_book", 403): "every token may read books",
    ("get_position_book", 403): "every token may read books",
}
"""Statuses that this broker never answers, and why."""

UNSENT_BODIES = {("configure_account", 403): "a 403 is sent before any transaction is made"}
"""Reject bodies that this broker never sends, and why."""


@dataclass(slots=True)
class Seen:
    """The statuses, members, headers and parameters of one operation that were checked."""

    statuses: set[int] = field(default_factory=set)
    members: dict[int, set[str]] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    headers: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)


class WireRecord:
    """The record of one process; the records of all processes of a run are merged."""

    def __init__(self) -> None:
        self._seen: defaultdict[str, Seen] = defaultdict(Seen)

    def of(self, operation: str) -> Seen:
        """Return what was seen of an operation."""
        return self._seen[operation]

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON, to be sent from a worker to the controller."""
        return {
            name: {
                "statuses": sorted(seen.statuses),
                "members": [[status, sorted(names)] for status, names in seen.members.items()],
                "paths": sorted(seen.paths),
                "headers": sorted(seen.headers),
                "parameters": sorted(seen.parameters),
            }
            for name, seen in self._seen.items()
        }

    def merge(self, other: Mapping[str, Any]) -> None:
        """Add the record of another process, as `to_json` returns it."""
        for name, found in other.items():
            seen = self._seen[name]
            seen.statuses.update(found["statuses"])
            for status, names in found["members"]:
                seen.members.setdefault(status, set()).update(names)
            seen.paths.update(found["paths"])
            seen.headers.update(found["headers"])
            seen.parameters.update(found["parameters"])

    def note(
        self,
        operation: str,
        status: int,
        body: object,
        headers: Iterable[str] = (),
        parameters: Iterable[str] = (),
    ) -> None:
        """Note a response that was compared with the reference and is correct."""
        seen = self._seen[operation]
        seen.statuses.add(status)
        if isinstance(body, Mapping):
            seen.members.setdefault(status, set()).update(body)
        good = status == wire().endpoints[operation]["response"]["status"]
        if good:
            seen.paths.update(_paths(body))
            seen.headers.update(name.lower() for name in headers)
            seen.parameters.update(name.lower() for name in parameters)

    def unchecked(self) -> list[str]:
        """Return everything in the reference that was neither seen nor is listed as never sent."""
        return [
            f"{operation}: {what}"
            for operation, described in wire().endpoints.items()
            for what in _unchecked(operation, described, self._seen[operation])
        ]

    def contradictions(self) -> list[str]:
        """Return what is listed as never sent but was seen."""
        paths = {path for operation in wire().endpoints for path in self.of(operation).paths}
        members = [name for name in UNSENT_MEMBERS if f".{name}" in paths]
        statuses = [key for key in UNSENT_STATUSES if key[1] in self.of(key[0]).statuses]
        return [f"{one} is listed as never sent, but was seen" for one in (*members, *statuses)]


def _unchecked(operation: str, described: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    response = described["response"]
    for status in statuses_of(described):
        if status not in seen.statuses and (operation, status) not in UNSENT_STATUSES:
            yield f"status {status}"
    for status, members in bodies_of(described).items():
        if (operation, status) not in UNSENT_BODIES:
            missing = members - seen.members.get(status, set()) - UNSENT_MEMBERS.keys()
            yield from (f"member {name} of {status}" for name in sorted(missing))
    for name in response["headers"]:
        if name.lower() not in seen.headers:
            yield f"header {name}"
    for parameter in described["params"]:
        if parameter["in"] != "path" and parameter["name"].lower() not in seen.parameters:
            yield f"parameter {parameter['name']}"


def statuses_of(described: Mapping[str, Any]) -> list[int]:
    """Return every status that the reference names for an operation."""
    errors = {*described["errors"], *described["errors_public"]}
    return [described["response"]["status"], *sorted(errors)]


def bodies_of(described: Mapping[str, Any]) -> dict[int, set[str]]:
    """Return the members of the bodies that the reference names, by status."""
    response = described["response"]
    rejects = {status: set(body) for status, body in described.get("reject_bodies", {}).items()}
    return {response["status"]: set(response.get("body", ())), **rejects}


def _paths(value: object, above: str = "") -> Iterator[str]:
    """Yield the path of every member in a body, without the places in arrays."""
    if isinstance(value, list):
        for item in value:
            yield from _paths(item, above)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{above}.{name}"
            yield from _paths(inner, f"{above}.{name}")
