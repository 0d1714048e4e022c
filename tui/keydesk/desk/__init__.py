"""The arithmetic of the trade: exact, pure, no screen and no network."""
