"""Alerts at work: their file, the watching of an account, and the delivery of what is told."""
