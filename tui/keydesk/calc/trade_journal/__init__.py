"""The trade journal: closed trades rebuilt from transactions, their statistics and groups; arithmetic on values."""
