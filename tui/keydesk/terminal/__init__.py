"""The terminal: what it can do, its input, its output, and its state once the desk has ended."""
