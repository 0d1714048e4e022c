"""Forms of chart and watchlist."""
