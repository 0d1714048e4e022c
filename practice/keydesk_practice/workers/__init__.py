"""Several processes on one machine, each with some of the accounts and a SQLite ledger of its own."""
