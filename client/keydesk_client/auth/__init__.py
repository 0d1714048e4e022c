"""Profiles, and tokens kept in the system's keyring or in an encrypted vault."""
