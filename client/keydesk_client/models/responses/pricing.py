"""Answers with prices."""

from keydesk_client.models.pricing import ClientPrice, HomeConversions
from keydesk_client.models.responses.base import Response
from keydesk_client.models.times import DateTime


class PricingResponse(Response):
    """Current prices."""

    prices: tuple[ClientPrice, ...]
    home_conversions: tuple[HomeConversions, ...] | None = None
    time: DateTime
