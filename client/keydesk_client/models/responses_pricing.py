"""Answers with prices."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.pricing import ClientPrice, HomeConversions


class PricingResponse(Response):
    """Current prices."""

    prices: tuple[ClientPrice, ...]
    home_conversions: tuple[HomeConversions, ...] | None = None
    time: DateTime
