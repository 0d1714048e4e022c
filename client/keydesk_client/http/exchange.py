"""A request and its answer as plain values: what goes over the wire, whatever carries it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

Method = Literal["GET", "POST", "PUT", "PATCH"]


def _nothing() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the interface; `path` is percent-encoded already, `query` and `headers` are not."""

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=_nothing)
    headers: Mapping[str, str] = field(default_factory=_nothing)
    body: bytes | None = None
    urgent: bool = False
    """Cancels and closes go before everything else that waits."""
    look_up: bool = False
    """Reads that tell what became of a lost answer go before other reads, on connections of their own."""

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line."""
        return f"{self.path}?{urlencode(self.query, safe=',:')}" if self.query else self.path

    @property
    def is_read(self) -> bool:
        """Whether asking twice does no harm."""
        return self.method == "GET"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (names in lower case) and the whole body, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def request_id(self) -> str:
        """The id that the service gave the request; empty when it gave none."""
        return self.headers.get("requestid", "")

    @property
    def succeeded(self) -> bool:
        return is_success(self.status)


def is_success(status: int) -> bool:
    """Whether a status means yes."""
    return 200 <= status < 300  # noqa: PLR2004 - the class of statuses
