"""The filters and pages of the order and trade lists: newest first, `count` at a time, a `Link` to what remains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from keydesk_practice.broker.turns import Turns
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.requests import whole_number

DEFAULT_COUNT = 50
MOST = 500


class Listed(Protocol):
    """What a list holds: orders or trades."""

    @property
    def id(self) -> int: ...
    @property
    def instrument(self) -> str: ...


Item = TypeVar("Item", bound=Listed)


@dataclass(frozen=True, slots=True)
class Page:
    """What a list request asked for."""

    state: str
    ids: frozenset[int] | None
    instrument: str | None
    count: int
    before: int | None

    def wants(self, item: Listed) -> bool:
        """Return whether an item of the right state passes the other filters."""
        return (
            (self.before is None or item.id <= self.before)
            and (self.ids is None or item.id in self.ids)
            and (self.instrument is None or item.instrument == self.instrument)
        )


def read_page(call: Call, default_state: str, states: frozenset[str]) -> Page:
    """Return the filters of a list request, or refuse it."""
    query = call.query
    ids = query.words("ids")
    before = query.text("beforeID")
    return Page(
        state=query.choice("state", default_state, states),
        ids=None if ids is None else frozenset(whole_number(id_, "ids") for id_ in ids),
        instrument=query.text("instrument"),
        count=query.integer("count", DEFAULT_COUNT, 1, MOST),
        before=None if before is None else whole_number(before, "beforeID"),
    )


async def cut(
    turns: Turns, page: Page, newest_first: Iterable[Sequence[Item]]
) -> tuple[list[Item], int | None]:
    """Return the items of a page, read portion by portion, and the highest id of the next page when more remain."""
    found: list[Item] = []
    async for portion in turns.over(newest_first):
        await turns.take(len(portion) // 2)  # it has been read; that much less may be done next
        for item in filter(page.wants, portion):
            if len(found) == page.count:
                return found, item.id
            found.append(item)
    return found, None


def link_to_next(call: Call, next_id: int | None) -> Mapping[str, str]:
    """Return the `Link` header to the rest of a list: the same filters, from the next id down."""
    if next_id is None:
        return {}
    values = {**call.query.values, "beforeID": str(next_id)}
    path = call.request.scope["path"]
    return {"Link": f'<{call.base_url}{path}?{urlencode(values)}>; rel="next"'}
