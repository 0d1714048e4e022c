"""A typed asynchronous client of the whole v20 brokerage interface."""
