"""Lists that come newest first and in pages: orders and trades."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypedDict

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.http.paths import listed, numeric_id, plain_text, whole
from keydesk_client.models._core.base import Response
from keydesk_client.models._core.words import known_word
from keydesk_client.resources.options import refuse_unknown

MOST_LISTED: Final = 500


class ListOptions(TypedDict, total=False):
    """Which orders or trades; what is left out is left to the service."""

    ids: Iterable[str | int]
    """Only these; of any state only together with `state="ALL"`."""
    instrument: str
    """Only of this one, as in EUR_USD."""
    count: int
    """At most 500; 50 unless said."""
    before_id: str | int
    """The highest id to return."""


class Identified(Protocol):
    """A record with a numeric id."""

    @property
    def id(self) -> str: ...


def list_query(options: ListOptions, state: str | None, states: tuple[str, ...]) -> dict[str, str]:
    """The query that asks for a list."""
    refuse_unknown(options, ListOptions.__optional_keys__)
    query: dict[str, str] = {}
    if "ids" in options:
        query["ids"] = listed("ids", options["ids"])
    if state is not None:
        query["state"] = known_word("state", state, states)
    if "instrument" in options:
        query["instrument"] = plain_text("instrument", options["instrument"])
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MOST_LISTED)
    if "before_id" in options:
        query["beforeID"] = numeric_id("before_id", options["before_id"])
    return query


def next_before(
    answer: Response, items: Sequence[Identified], asked: int, options: ListOptions
) -> str | None:
    """Where the next page begins; None after the last one.

    The service says so by its Link header. Without one, a full page means that more may follow. The ids decide in
    both cases, never the address: a token goes only where the client was told to send it.

    Raises:
        UnreadableAnswer: the page goes back to ids that an earlier one had; following such pages would never end.
    """
    if items and "before_id" in options:
        highest = max(int(item.id) for item in items)
        if highest > int(options["before_id"]):
            raise UnreadableAnswer(
                f"a page lists id {highest}, although none above {options['before_id']} was asked for"
            )
    if not items or ("next" not in answer.links and len(items) < asked):
        return None
    lowest = min(int(item.id) for item in items)
    return str(lowest - 1) if lowest > 1 else None
