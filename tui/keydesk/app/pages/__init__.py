"""Pages about the account: order history, audit log, outcomes, transactions."""
