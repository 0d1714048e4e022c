"""What every answer carries besides its body."""

from collections.abc import Mapping

from pydantic import Field

from keydesk_client.models._core.record import Record


class Response(Record):
    """A whole answer: the members of its body, and what its headers say."""

    request_id: str = Field(default="", validation_alias="RequestID (header)", exclude=True)
    """The id that the service gave the request; quote it to the broker's support."""
    location: str | None = Field(default=None, validation_alias="Location (header)", exclude=True)
    """Address of what was created."""
    links: Mapping[str, str] = Field(
        default_factory=dict, validation_alias="Link (header)", exclude=True
    )
    """Addresses of neighbours by relation: `next` of a list, `next` and `prev` of a book."""
