"""Bars of the practice market: blocks of one market day each, and candles put together from them."""
