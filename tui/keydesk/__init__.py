"""Keydesk: a keyboard-driven trading workstation for the terminal."""

__version__ = "0.1.0"
