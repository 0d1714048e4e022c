"""The two streams of an account: prices and transactions, as long as anybody listens."""
