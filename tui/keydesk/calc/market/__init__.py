"""Market data without an account: candles, indicators, sessions, client books, watchlists."""
