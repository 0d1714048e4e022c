"""The transaction log beyond its newest lines: the window of older lines, its filter, and the names of closed orders and trades."""
