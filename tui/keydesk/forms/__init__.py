"""Forms: each shows at its top what it does and at its bottom what sends it, and returns a value; it sends nothing.

A form's module is imported where the form is opened, when it is first used; those of forms that trade, and what stands on the way to them, by
`load()` after the first frame. Pages are looked at seldom: all of them loaded take 2 MB, opened for the first time 2 to 20 ms.
"""

from importlib import import_module

# Forms that a key of the desk opens to trade or to ask for keys: they open at once, also for the first time.
_LOADED_FIRST = (
    "ticket.form",
    "trades.break_even",
    "trades.close_position",
    "trades.close_trade",
    "trades.move_order",
    "trades.orders",
    "trades.position_part",
    "trades.protection",
    "trades.reverse_flatten",
    "info_form",
)


def load() -> None:
    """Load the forms that trade, so that the first capital opens its form at once."""
    for home in _LOADED_FIRST:
        import_module(f"keydesk.forms.{home}")
