"""The trade journal of an account: its events read from transactions, their cache, the trader's notes, reports."""
