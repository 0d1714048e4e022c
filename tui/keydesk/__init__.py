"""Keydesk: a keyboard-driven trading workstation for the terminal."""
