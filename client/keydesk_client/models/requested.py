"""What every order request has in common: it refuses the impossible before it is sent, naming the member."""

from typing import ClassVar, Self

from pydantic import ConfigDict, model_validator

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.asked import Asked
from keydesk_client.models._core.record import Wire
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.possible import refuse_impossible


def refuse_other(order: object) -> None:
    """InvalidRequest for what is no order request, where no type checker says so."""
    if not isinstance(order, RequestedOrder):
        raise InvalidRequest(
            "order: give an order request, as in MarketOrderRequest(instrument='EUR_USD', units=100);"
            f" this is of type {type(order).__name__}",
            field="order",
        )


class RequestedOrder(Asked):
    """An order as a client asks for it; InvalidRequest when it can not be right.

    It stands last among the bases of a request: pydantic lets the last one decide what is forbidden.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", loc_by_alias=False, strict=False
    )

    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""

    def to_wire(self) -> Wire:
        """The JSON object to send: every member that has a value, standards included."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @model_validator(mode="after")
    def _refuse_impossible(self) -> Self:
        refuse_impossible(self)
        return self
