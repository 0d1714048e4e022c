"""The state of an account, the effect of each transaction on it, and the orders that a price triggers."""
