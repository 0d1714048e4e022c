"""Orders that are created, replaced and cancelled, also those that depend on a trade."""
