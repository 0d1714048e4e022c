"""What every transaction carries."""

from dataclasses import dataclass
from typing import ClassVar

from keydesk_practice.engine.wire_form import Id, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """Something that happened to an account; ids ascend without gaps, a batch shares its first id and its time."""

    type: ClassVar[str]

    id: Id
    account_id: str
    user_id: int
    batch_id: Id
    request_id: str | None = None  # absent on what the service did by itself
    time: Moment
