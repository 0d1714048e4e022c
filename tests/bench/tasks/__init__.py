"""Eight tasks, each written with four clients of the interface."""

TASKS = (
    "nav",
    "bracket",
    "year_of_hours",
    "ten_prices",
    "no_transaction_lost",
    "all_transactions",
    "close_all",
    "reject_reason",
)
