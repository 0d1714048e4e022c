"""A rejected ticket opens again as it was typed, once and for a minute, on the field that the broker names."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import RefusedTicket
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.sent_orders import REFUSED_TICKET_SECONDS, SentOrders
from keydesk.trading.commands import RefusedTickets
from keydesk.values import Command
from keydesk.words.outcomes import report_of
from keydesk_client.orders.outcome import OrderResult, Outcome, Rejected
from support.data.desk_store import NOW
from support.data.entry_orders import open_order
from support.data.outcomes import done, intent
from support.fakes.form_app import FormApp, example_context

D = Decimal
DRAFT = Draft("BUY", "EUR_USD", size=Entry("70000000", "units"), stop=Entry("20"))
ORDER = open_order("EUR_USD", "MARKET", D(70_000_000), draft=DRAFT)


def rejected(reason: str) -> Rejected:
    return Rejected(intent(), "refused", reject_reason=reason)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def kept_after(outcome: Outcome) -> RefusedTicket | None:
    sent = SentOrders()
    RefusedTickets(sent, Clock()).add(ORDER, outcome)
    return sent.take_refused("EUR_USD", "BUY", 0.0)


@pytest.mark.parametrize(
    ("outcome", "field"),
    [
        (rejected("UNITS_LIMIT_EXCEEDED"), "size"),
        (rejected("STOP_LOSS_ON_FILL_PRICE_INVALID"), "stop"),
        (replace(done(), result=OrderResult.CANCELLED, reason="INSUFFICIENT_MARGIN"), "size"),
        (rejected("ACCOUNT_LOCKED"), ""),
    ],
)
def test_a_refused_ticket_is_kept_with_its_field(outcome: Outcome, field: str) -> None:
    kept = kept_after(outcome)
    assert kept is not None
    assert (kept.draft, kept.field) == (DRAFT, field)


def test_an_order_that_was_done_leaves_no_ticket() -> None:
    assert kept_after(done()) is None


def test_it_is_taken_once_for_its_side_and_not_after_a_minute() -> None:
    sent = SentOrders()
    tickets = RefusedTickets(sent, Clock())
    tickets.add(ORDER, rejected("UNITS_LIMIT_EXCEEDED"))
    assert sent.take_refused("EUR_USD", "SELL", 0.0) is None
    assert sent.take_refused("EUR_USD", "BUY", 0.0) is not None
    assert sent.take_refused("EUR_USD", "BUY", 0.0) is None
    tickets.add(ORDER, rejected("UNITS_LIMIT_EXCEEDED"))
    assert sent.take_refused("EUR_USD", "BUY", REFUSED_TICKET_SECONDS + 1) is None


def test_the_message_names_the_field() -> None:
    report = report_of(rejected("UNITS_LIMIT_EXCEEDED"), Command("BUY", "B"))
    assert report.text.endswith("size: too many units for one order")


async def test_the_next_ticket_opens_as_typed_on_that_field() -> None:
    refused = RefusedTicket(DRAFT, "stop", "the stop is on the winning side")
    context = example_context()
    context.store.sent.keep_refused(refused, NOW)
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)):
        assert "REJECTED: the stop is on the winning side" in app.words
        assert isinstance(app.screen, TicketForm)
        assert app.screen.active_field == "stop"
        assert "70,000,000" in app.words
