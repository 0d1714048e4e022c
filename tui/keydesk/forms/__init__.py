"""Forms: each shows at its top what it does and at its bottom what sends it, and returns a value; it sends nothing.

A form's module is imported where the form is opened, when it is first used. Those of forms that trade are imported one by one,
`load_each()`, between the frames after the first price. Pages are looked at seldom: all of them loaded take 2 MB, opened for the
first time 2 to 20 ms.
"""

from collections.abc import Iterator
from importlib import import_module

# Forms that a key of the desk opens to trade or to ask for keys: they open at once, also for the first time. What others stand on
# comes before them, so that no step takes long.
_LOADED_FIRST = (
    "info_form",
    "details_form",
    "form",
    "ticket.ticket_form",
    "trades.break_even",
    "trades.close_position",
    "trades.close_trade",
    "trades.move_order",
    "trades.cancel_orders",
    "trades.position_part",
    "trades.protection",
    "trades.reverse_flatten",
)


def load_each() -> Iterator[None]:
    """Load a form that trades at each step, so that the first capital opens its form at once."""
    for home in _LOADED_FIRST:
        import_module(f"keydesk.forms.{home}")
        yield
