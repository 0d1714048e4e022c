"""Keydesk: a keyboard-driven trading workstation for the terminal."""

from keydesk_client import __version__

__all__ = ["__version__"]
