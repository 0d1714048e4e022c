"""Transactions: everything that ever happened on an account, one class a kind."""
