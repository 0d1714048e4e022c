"""What calls use that name no account or form of times; apart from the records, so that a client is imported without them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from keydesk_client.models.instruments import Instrument

TimeFormat: TypeAlias = Literal["RFC3339", "UNIX"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """Used by calls that do not name an account or a form of times."""

    account_id: str | None = None
    datetime_format: TimeFormat = "RFC3339"
    instruments: "dict[str, Instrument]" = field(default_factory=dict[str, "Instrument"])
    """The instruments of the account, by name; empty until they are read."""
