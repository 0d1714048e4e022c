"""Fixtures that every test may ask for by name."""

pytest_plugins = ["support.broker"]
