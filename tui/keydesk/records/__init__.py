"""What the desk keeps for an account: one SQLite file, and a module for each table."""
