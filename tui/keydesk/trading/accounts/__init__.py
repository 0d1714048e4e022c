"""Reading several accounts: those of a token, and the figures of each."""
