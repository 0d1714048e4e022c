"""Nodes that share one ledger on PostgreSQL: each account is leased to one node, and any node takes any request."""
