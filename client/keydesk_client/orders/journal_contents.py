"""What a journal's lines say: read once, and continued where the file grew.

A look-up asks what is open and what is claimed each time, and there may be thousands of lines.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from keydesk_client.models._core.json_values import JsonObject, JsonValue
from keydesk_client.orders.intent import Intent

Line = JsonObject
AMBIGUOUS: Final = "ambiguous"
NEAR: Final = 500
"""Ids before the newest claimed one that are kept: the next intent may come from a sender whose feed lags behind."""


@dataclass(slots=True)
class Contents:
    """The lines of a journal, in order, and what follows from them."""

    unreadable: int = 0
    settled: int = 0
    open: dict[str, Intent] = field(default_factory=dict[str, Intent])
    """Intents of which nobody knows what became, oldest first."""
    claimed: dict[str, str] = field(default_factory=dict[str, str])
    """Transactions that settled intents made, each with its intent's id."""
    shared: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Intents that ended as Ambiguous, each with the transactions of which it made some."""
    ambiguous: dict[str, tuple[Intent, Line]] = field(
        default_factory=dict[str, tuple[Intent, Line]]
    )
    """Every intent that ended as Ambiguous or shares transactions with like ones, with the line that says so."""

    def add(self, text: bytes) -> int:
        """Take further lines; returns the bytes of those that are whole: a torn last line is no line at all."""
        whole = text.rfind(b"\n") + 1
        for each in text[:whole].split(b"\n")[:-1]:
            try:
                self._take(json.loads(each))
            except (ValueError, KeyError):
                self.unreadable += 1
        return whole

    @property
    def unattributed(self) -> tuple[Intent, ...]:
        """Intents that ended as Ambiguous and may have made any transaction."""
        return tuple(each for each, _ in self.ambiguous.values() if each.id not in self.shared)

    @property
    def oldest_that_matters(self) -> int:
        """The id after which an open intent, or the next one, could take a transaction for its own."""
        newest = max(map(int, self.claimed), default=0)
        return min([newest - NEAR, *(intent.since for intent in self.open.values())])

    def claims_that_matter(self) -> dict[str, list[JsonValue]]:
        """Claimed transactions that an open intent, or the next one, could take for its own; by intent."""
        oldest, claims = self.oldest_that_matters, dict[str, list[JsonValue]]()
        for each in numeric(self.claimed):
            if int(each) > oldest:
                claims.setdefault(self.claimed[each], []).append(each)
        return claims

    def _take(self, line: JsonValue) -> None:
        if not isinstance(line, dict):
            raise ValueError("no line of a journal")  # noqa: TRY004 - a line that can not be read is one error
        if "intent" in line:
            intent = Intent.from_wire(line["intent"])
            self.open[intent.id] = intent
            return
        name = line["settled"]
        if not isinstance(name, str):
            raise ValueError("settled: no text")  # noqa: TRY004 - same
        self.settled += 1
        ended = self.open.pop(name, None)
        self.claimed.update(dict.fromkeys(_ids(line, "claimed"), name))
        if ids := _ids(line, "shared"):
            self.shared[name] = frozenset(ids)
        if ended is not None and (ids or line.get("as") == AMBIGUOUS):
            self.ambiguous[name] = ended, line


def numeric(ids: Iterable[JsonValue]) -> tuple[str, ...]:
    """The ids that are numbers, lowest first; what is none is no transaction of a v20 account."""
    found = (each for each in ids if isinstance(each, str) and each.isascii() and each.isdecimal())
    return tuple(sorted(found, key=int))


def _ids(line: Line, member: str) -> tuple[str, ...]:
    found = line.get(member)
    return numeric(found) if isinstance(found, list) else ()
