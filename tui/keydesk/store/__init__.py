"""The store: what the desk knows, and who must be told that it changed."""
