"""Transactions in the store: applied to the account, put into words, read again, and related to one another."""
