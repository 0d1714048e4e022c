"""Tickets that were rejected, not sent or cancelled at once, kept for a minute: the next one opens as it was typed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from keydesk.calc.orders.instructions import OpenOrder, RefusedTicket
from keydesk.calc.orders.ticket_draft import Side, TicketField
from keydesk.store.reason_words import meaning_of
from keydesk_client.errors import InvalidRequest
from keydesk_client.orders.outcome import Became, Done, Outcome, Rejected

KEPT = 60.0  # seconds
MEMBERS: Mapping[str, TicketField] = {
    "units": "size",
    "price_bound": "bound",
    "price": "price",
    "guaranteed_stop_loss_on_fill": "stop",
    "stop_loss_on_fill": "stop",
    "take_profit_on_fill": "target",
    "trailing_stop_loss_on_fill": "trail",
    "time_in_force": "expiry",
    "gtd_time": "expiry",
    "trigger_condition": "trigger",
    "position_fill": "fill",
}
"""The field of a ticket by the first part of a request's member."""


@dataclass(slots=True)
class RefusedTickets:
    """The last refused ticket of each instrument and side."""

    now: Callable[[], float]
    _tickets: dict[tuple[str, Side], tuple[float, RefusedTicket]] = field(default_factory=dict)

    def keep(self, order: OpenOrder, outcome: Outcome) -> bool:
        """Keep the ticket of an order that the broker refused; return whether it did."""
        code = _reason_of(outcome)
        meaning = meaning_of(code) if code else None
        if code and order.draft is not None and meaning is not None:
            self._put(order, RefusedTicket(order.draft, meaning[1], meaning[0]))
        return bool(code)

    def keep_invalid(self, order: OpenOrder, error: InvalidRequest) -> None:
        """Keep the ticket of an order that was not sent because a member of it is invalid."""
        member = (getattr(error, "field", "") or "").partition(".")[0]
        if order.draft is not None:
            self._put(order, RefusedTicket(order.draft, MEMBERS.get(member, ""), str(error)))

    def take(self, instrument: str, side: Side) -> RefusedTicket | None:
        """Return the refused ticket of a side once, None without one, or if it is older than a minute."""
        entry = self._tickets.pop((instrument, side), None)
        if entry is None or self.now() - entry[0] > KEPT:
            return None
        return entry[1]

    def _put(self, order: OpenOrder, refused: RefusedTicket) -> None:
        self._tickets[order.instrument, order.side] = self.now(), refused


def _reason_of(outcome: Outcome) -> str:
    """Return the code of a rejection or of a cancellation at once, "" for any other outcome."""
    match outcome:
        case Rejected():
            return outcome.reject_reason or outcome.error_code or ""
        case Done(became=Became.CANCELLED):
            return outcome.reason or ""
        case _:
            return ""
