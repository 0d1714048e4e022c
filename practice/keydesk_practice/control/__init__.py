"""The control interface: clock, replays, shocks, faults and accounts, changed from outside while the broker runs."""
