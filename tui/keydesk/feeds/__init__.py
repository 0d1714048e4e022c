"""Feeds: coroutines that read from the broker and write to the store."""
