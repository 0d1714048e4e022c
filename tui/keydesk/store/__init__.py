"""The store: the state of account and market, and the notification of its subscribers."""
