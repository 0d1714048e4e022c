"""The transaction log beyond its newest lines: its filter, older lines, and the details of one transaction."""
