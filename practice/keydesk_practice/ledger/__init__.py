"""The ledger: transactions committed before they are answered, in a SQLite file or on PostgreSQL."""
