"""The price and transaction streams of an account."""
