"""Errors of the records. A module of its own: what handles them is loaded before the first picture, SQLite after it."""

from keydesk_client.errors import UnsafeFile


class DamagedRecords(Exception):
    """Raised where the file is not a database, or holds what makes no sense."""


NOT_KEPT = (OSError, UnsafeFile)
"""Errors of records that cannot be read or written."""
FAILURES = (*NOT_KEPT, DamagedRecords)
