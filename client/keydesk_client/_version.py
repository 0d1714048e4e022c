"""The version: the one place that every pyproject.toml, the User-Agent and `__version__` read."""

__version__ = "0.1.0"
