"""Answers with candles of several instruments."""

from keydesk_client.models._core.base import Response
from keydesk_client.models.candles import CandlestickResponse


class LatestCandlesResponse(Response):
    """The last complete and the forming candle of each specification."""

    latest_candles: tuple[CandlestickResponse, ...]
