"""Answers with candles of several instruments."""

from keydesk_client.models.candles import CandlestickResponse
from keydesk_client.models.responses.base import Response


class LatestCandlesResponse(Response):
    """The last complete and the forming candle of each specification."""

    latest_candles: tuple[CandlestickResponse, ...]
