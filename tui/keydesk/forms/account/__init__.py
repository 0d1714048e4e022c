"""Forms of the account: limits, locks, sessions, audit, pages, leaving."""
