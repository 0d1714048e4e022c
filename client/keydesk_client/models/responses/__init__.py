"""Whole answers of the service, one class an operation."""
