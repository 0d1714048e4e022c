"""Watching the alerts of an account: their file, the watch itself, and the delivery of firings and events."""
