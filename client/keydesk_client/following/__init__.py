"""`client.follow(...)`: the account as it is now, kept by both streams and by a check of its changes."""
