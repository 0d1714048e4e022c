"""The sanitizer under its former name; see `keydesk.text.sanitize`."""

from keydesk.text.sanitize import HARMFUL, LINE_LIMIT, clean

__all__ = ["HARMFUL", "LINE_LIMIT", "clean"]
