"""Turn the instruction of a form into requests, and send them by the order protocol.

Exits are never refused here: no lock, limit, duplicate rule or stale price precedes a close, a cancel or a tighter
stop. An order that opens risk is bounded, sent on a fresh price, and one at a time per instrument. The ticket of a
refused one is kept for a minute: the next one opens as it was typed.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.market.price_age import FRESH
from keydesk.calc.orders.instructions import (
    CancelOrders,
    CloseParts,
    ClosePosition,
    CloseTrades,
    Flatten,
    Instruction,
    MoveEntry,
    OpenOrder,
    RefusedTicket,
    Reverse,
    SetExitPlan,
    SetProtection,
)
from keydesk.calc.orders.ticket_draft import TicketField
from keydesk.store.prices import apply_price
from keydesk.store.sent_orders import EARLIER, SentOrders
from keydesk.store.store import Store
from keydesk.text.format import pair, units
from keydesk.text.sanitize import clean
from keydesk.trading.account_changes import AccountChange, ChangeSender
from keydesk.trading.dispatcher import CHECK_FIRST, Dispatcher, record_of
from keydesk.trading.exit_plan_keeper import ExitPlanKeeper
from keydesk.trading.exits import Exits
from keydesk.trading.flatten import Flattening
from keydesk.trading.order_requests import (
    moved_request,
    order_request,
    reversal_request,
)
from keydesk.words.order_text import instruction_text, open_text
from keydesk.words.outcomes import Command, report_of
from keydesk.words.reject_reasons import meaning_of
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, KeydeskClientError
from keydesk_client.models import (
    LimitOrder,
    MarketIfTouchedOrder,
    OrderRequest,
    StopOrder,
)
from keydesk_client.orders.outcome import (
    Done,
    Intent,
    OrderResult,
    Outcome,
    Rejected,
    new_intent_id,
)
from keydesk_client.orders.sender import Sender

FIELD_OF_MEMBER: Mapping[str, TicketField] = {
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
LEFT_OPEN = "an earlier session ended before the answer came"


class RefusedTickets(Struct):
    """Keeps the last refused ticket of each instrument and side."""

    sent: SentOrders
    now: Callable[[], float]

    def add(self, order: OpenOrder, outcome: Outcome) -> bool:
        """Keep the ticket of an order that the broker refused; return whether it did."""
        code = _reason_of(outcome)
        meaning = meaning_of(code) if code else None
        if code and order.draft is not None and meaning is not None:
            refused = RefusedTicket(order.draft, meaning[1], meaning[0])
            self.sent.keep_refused(refused, self.now())
        return bool(code)

    def add_invalid(self, order: OpenOrder, error: InvalidRequest) -> None:
        """Keep the ticket of an order that was not sent because a member of it is invalid."""
        member = (getattr(error, "field", "") or "").partition(".")[0]
        if order.draft is not None:
            refused = RefusedTicket(order.draft, FIELD_OF_MEMBER.get(member, ""), str(error))
            self.sent.keep_refused(refused, self.now())


def _reason_of(outcome: Outcome) -> str:
    """Return the code of a rejection or of a cancellation at once, "" for any other outcome."""
    match outcome:
        case Rejected():
            return outcome.reject_reason or outcome.error_code or ""
        case Done(result=OrderResult.CANCELLED):
            return outcome.reason or ""
        case _:
            return ""


@dataclass(slots=True)
class Commands:
    """Carries out instructions of forms; one per account."""

    client: Client
    sender: Sender
    dispatcher: Dispatcher
    exit_only: Callable[[], str] = str  # why no risk may be opened now, "" if it may
    exit_plans: ExitPlanKeeper | None = None
    refused: RefusedTickets = field(init=False)
    changes: ChangeSender = field(init=False)
    exits: Exits = field(init=False)
    _opening: set[str] = field(default_factory=set)
    _recovering: bool = False

    def __post_init__(self) -> None:
        self.refused = RefusedTickets(self.store.sent, self.dispatcher.now)
        self.changes = ChangeSender(self.client, self.dispatcher)
        self.exits = Exits(self.client, self.sender, self.dispatcher)

    @property
    def store(self) -> Store:
        """The state of account and market."""
        return self.dispatcher.store

    async def execute(self, instruction: Instruction | AccountChange) -> None:  # noqa: C901 - one line a kind
        """Carry out an instruction and report its outcome to the trader."""
        self.dispatcher.record("decided", instruction_text(instruction))
        match instruction:
            case OpenOrder(parts=parts) if parts:
                await self._open_parts(instruction)
            case OpenOrder():
                await self._open(instruction)
            case Reverse():
                await self._reverse(instruction)
            case CloseTrades():
                await self.exits.close_trades(instruction)
            case ClosePosition():
                await self.exits.close_position(instruction)
            case CloseParts():
                await self.exits.close_parts(instruction)
            case SetProtection():
                await self.exits.protect(instruction)
            case SetExitPlan() if self.exit_plans is not None:
                self.exit_plans.update_plan(instruction)
            case AccountChange():
                await self.changes.send(instruction)
            case CancelOrders(order_ids=order_ids):
                await asyncio.gather(*(self.exits.cancel(order_id) for order_id in order_ids))
            case MoveEntry():
                await self._move(instruction)
            case Flatten(instrument=instrument):
                flattening = Flattening(
                    self.client, self.store, self.dispatcher, self.exits.close_and_cancel_all
                )
                await flattening.run(instrument)

    @property
    def is_recovering(self) -> bool:
        """Whether orders of an earlier session are still being looked up."""
        return self._recovering

    def hold_openings(self) -> None:
        """Refuse orders that open risk until `recover` has finished."""
        self._recovering = self.store.sent.looks_up_earlier = True

    def show_left_open(self, intents: Iterable[Intent]) -> None:
        """Show the intents of earlier sessions at once: they are looked up as soon as the broker answers."""
        for intent in intents:
            record = record_of(intent, self.store)
            self.store.set_in_flight(replace(record, state="unknown", why=LEFT_OPEN))

    async def recover(self) -> None:
        """Resolve the open intents of earlier sessions and report their outcomes; opening waits for this."""
        self.hold_openings()
        await self.sender.recover(self._report_recovered)
        self._recovering = self.store.sent.looks_up_earlier = False

    def _report_recovered(self, outcome: Outcome) -> None:
        """Report and record an outcome at once: the desk may be closed while others are still looked up."""
        text = record_of(outcome.intent, self.store).text
        command = Command(f"{text}, sent in an earlier session", CHECK_FIRST)
        report = report_of(outcome, command)
        self.dispatcher.record("recovered", f"{outcome.intent.id} {report.text}")
        self.dispatcher.report(outcome, report)

    # What opens risk.

    async def _open_parts(self, order: OpenOrder) -> None:
        """Send the orders of a scale-out one after the other; the first that is not in ends it: less is open than planned."""
        for number, part in enumerate(order.parts):
            one = dataclasses.replace(
                order, units=part.units, target=part.target, trail=part.trail, parts=()
            )
            if not await self._open(one):
                left = order.parts[number + 1 :]
                if left:
                    missing = units(sum((abs(each.units) for each in left), Decimal(0)))
                    self.dispatcher.notify(
                        "bad",
                        f"SCALE-OUT ended at part {number + 1} of {len(order.parts)}: "
                        f"the rest, {missing} {pair(order.instrument)}, was NOT SENT",
                    )
                return

    async def _open(self, order: OpenOrder) -> bool:
        """Send an order; return whether it was filled or rests."""
        text = open_text(order)
        market = order.kind == "MARKET"
        may = order.reduces or await self._may_open(
            order.instrument, order.units, order.bound, text
        )
        if not may:
            return False
        try:
            request = order_request(order, self._broker_time())
        except InvalidRequest as error:
            self.dispatcher.notify("bad", f"NOT SENT {text}: {error}")
            self.refused.add_invalid(order, error)
            return False
        same = order.instrument, order.kind, order.side
        self.store.sent.sent_at[same] = self.dispatcher.now()
        command = self.exits.command(text, order.side.lower(), order.instrument, "open")
        command = replace(
            command,
            expected=order.expected if market else None,
            order_price=order.price,
            bound=order.bound,
        )
        intent_id = new_intent_id()
        if self.exit_plans is not None:
            self.exit_plans.expect(intent_id, order)
        outcome = await self._open_once(order.instrument, command, request, intent_id)
        if self.exit_plans is not None:
            self.exit_plans.settled(intent_id, outcome)
        if self.refused.add(order, outcome):  # sending the same again is not a duplicate
            self.store.sent.sent_at.pop(same, None)
        return isinstance(outcome, Done) and outcome.result is not OrderResult.CANCELLED

    async def _reverse(self, reverse: Reverse) -> None:
        text = f"REVERSE {pair(reverse.instrument)} by {units(reverse.units, signed=True)}"
        if not await self._may_open(reverse.instrument, reverse.units, reverse.bound, text):
            return
        command = self.exits.command(text, "reverse", reverse.instrument, "open")
        command = replace(command, expected=reverse.expected, bound=reverse.bound)
        await self._open_once(reverse.instrument, command, reversal_request(reverse))

    async def _open_once(
        self, instrument: str, command: Command, request: OrderRequest, intent_id: str = ""
    ) -> Outcome:
        self._opening.add(instrument)
        try:
            return await self.exits.send(
                command, lambda sender, id_: sender.create(request, intent_id=id_), intent_id
            )
        finally:
            self._opening.discard(instrument)

    async def _may_open(
        self, instrument: str, signed_units: Decimal, bound: Decimal | None, text: str
    ) -> bool:
        """Report why an order may not be opened; return True if it may."""
        why = await self._why_not(instrument, signed_units, bound)
        if why:
            self.dispatcher.notify("bad", f"NOT SENT {text}: {why}")
        return not why

    async def _why_not(self, instrument: str, signed_units: Decimal, bound: Decimal | None) -> str:
        if held := self.exit_only():
            return held
        if self._recovering:
            return EARLIER
        if instrument in self._opening:
            return f"an order in {pair(instrument)} is under way"
        trouble = await self.requote(instrument)
        quote = self.store.quotes.get(instrument)
        if trouble or quote is None:
            return trouble or "there is no price"
        touch = quote.ask if signed_units > 0 else quote.bid
        passed = bound is not None and (touch > bound if signed_units > 0 else touch < bound)
        return f"the price moved to {touch}, past the bound {bound}" if passed else ""

    async def requote(self, instrument: str) -> str:
        """Read an old price again; return why that failed, "" if it did not."""
        quote = self.store.quotes.get(instrument)
        if quote is not None and self.dispatcher.now() - quote.received <= FRESH:
            return ""
        try:
            answer = await self.client.pricing.get([instrument])
            for price in answer.prices:
                apply_price(self.store, price, self.dispatcher.now())
        except (KeydeskClientError, *READ_ERRORS) as error:
            self.store.sent.quote_trouble[instrument] = clean(str(error))
            return f"the price is old and could not be read again ({error})"
        self.store.sent.quote_trouble.pop(instrument, None)
        return ""

    # What moves an order.

    async def _move(self, move: MoveEntry) -> None:
        text = f"MOVE order #{move.order_id} to {move.price}"
        try:
            order = (await self.client.orders.get(move.order_id)).order
            if not isinstance(order, LimitOrder | StopOrder | MarketIfTouchedOrder):
                raise InvalidRequest("it is not a limit, stop or market-if-touched order")
            request = moved_request(order, move, self._broker_time())
        except KeydeskClientError as error:
            self.dispatcher.notify("bad", f"NOT SENT {text}: {error}")
            return
        command = self.exits.command(text, "modify", move.instrument, "replace")
        await self.exits.send(
            command, lambda sender, id_: sender.replace(move.order_id, request, intent_id=id_)
        )

    def _broker_time(self) -> int:
        return self.store.clock_ns or self.dispatcher.wall_ns()
