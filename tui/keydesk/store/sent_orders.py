"""What forms look at of the orders that this desk sent: written by the commands, read by forms."""

from msgspec import Struct, field

from keydesk.calc.orders.fields import Unit
from keydesk.calc.orders.instructions import RefusedTicket

REFUSED_TICKET_SECONDS = 60.0
WAITS = "New orders wait for that: in its instrument, and after a restart in every one; exits work."
"""What an order without a known outcome holds up, wherever the desk says it."""
EARLIER = f"An order of an earlier session is still looked up. {WAITS}"


class SentOrders(Struct):
    """When which order was sent, which ticket was refused, and why nothing can be sent or priced now."""

    no_orders: str = ""  # why the order journal cannot be kept, so that only exits leave
    looks_up_earlier: bool = False  # orders that an earlier session left open
    quote_trouble: dict[str, str] = field(default_factory=dict)  # why asking again failed last
    distance_unit: Unit = "pips"  # what the stop of the last ticket counted in
    own: set[str] = field(
        default_factory=set
    )  # ids of transactions that commands of this desk caused
    sent_at: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """Monotonic seconds by instrument, type and side."""
    _refused: dict[tuple[str, str], tuple[float, RefusedTicket]] = field(default_factory=dict)

    def seconds_since(self, instrument: str, kind: str, side: str, now: float) -> float | None:
        """Return the seconds since the same order was sent, None if it was not."""
        at = self.sent_at.get((instrument, kind, side))
        return None if at is None else now - at

    def keep_refused(self, refused: RefusedTicket, now: float) -> None:
        """Keep a ticket that was refused: the next one of its side opens as it was typed."""
        self._refused[refused.draft.instrument, refused.draft.side] = now, refused

    def take_refused(self, instrument: str, side: str, now: float) -> RefusedTicket | None:
        """Return the refused ticket of a side once, None without one, or if it is older than a minute."""
        at, refused = self._refused.pop((instrument, side), (now, None))
        return refused if now - at <= REFUSED_TICKET_SECONDS else None
