"""The broker in one process: accounts with their sessions, the market's clock, price feeds, replays and scenarios."""
