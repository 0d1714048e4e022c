"""Turn the instruction of a form into requests, and send them by the order protocol.

Exits are never refused here: no lock, limit, duplicate rule or stale price precedes a close, a cancel or a tighter
stop. An order that opens risk is bounded, sent on a fresh price, and one at a time per instrument. The ticket of a
refused one is kept for a minute: the next one opens as it was typed.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.market.price_age import FRESH
from keydesk.calc.orders.instructions import (
    CancelOrders,
    CloseParts,
    ClosePosition,
    CloseTrades,
    Flatten,
    MoveEntry,
    RefusedTicket,
    SetExitPlan,
    SetProtection,
)
from keydesk.store.prices import apply_price
from keydesk.store.sent_orders import EARLIER, SentOrders
from keydesk.store.store import Store
from keydesk.text.format import pair, units
from keydesk.text.sanitize import clean
from keydesk.trading.account_changes import AccountChange, ChangeSender
from keydesk.trading.dispatcher import CHECK_FIRST, Dispatcher, record_of
from keydesk.trading.entry_requests import OpenOrder, Reverse, bound_of, opening_command
from keydesk.trading.exit_plan_keeper import ExitPlanKeeper
from keydesk.trading.exits import Exits
from keydesk.trading.flatten import Flattening
from keydesk.trading.order_requests import moved_request
from keydesk.values import Command
from keydesk.words.order_text import EntryRequest, instruction_text, open_text, side_of
from keydesk.words.outcomes import report_of
from keydesk.words.reject_reasons import meaning_of
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, KeydeskClientError
from keydesk_client.models import (
    LimitOrder,
    MarketIfTouchedOrder,
    StopOrder,
)
from keydesk_client.orders.outcome import (
    Done,
    Intent,
    OrderResult,
    Outcome,
    Rejected,
)
from keydesk_client.orders.sender import Sender

Instruction: TypeAlias = (
    OpenOrder
    | Reverse
    | CloseTrades
    | ClosePosition
    | CloseParts
    | SetProtection
    | SetExitPlan
    | MoveEntry
    | CancelOrders
    | Flatten
    | AccountChange
)
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

    async def execute(self, instruction: Instruction) -> None:  # noqa: C901 - one line a kind
        """Carry out an instruction and report its outcome to the trader."""
        self.dispatcher.record("decided", instruction_text(instruction))
        match instruction:
            case OpenOrder(parts=parts) if parts:
                await self._open_parts(instruction)
            case OpenOrder():
                await self._open(instruction, instruction.request)
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
            if not await self._open(order, part):
                left = order.parts[number + 1 :]
                if left:
                    missing = units(sum((abs(each.units) for each in left), Decimal(0)))
                    self.dispatcher.notify(
                        "bad",
                        f"SCALE-OUT ended at part {number + 1} of {len(order.parts)}: "
                        f"the rest, {missing} {pair(part.instrument)}, was NOT SENT",
                    )
                return

    async def _open(self, order: OpenOrder, request: EntryRequest) -> bool:
        """Send an order, or a part of it; return whether it was filled or rests."""
        text = open_text(request)
        if not (order.reduces or await self._may_open(request, text)):
            return False
        same = request.instrument, request.type, side_of(request)
        self.store.sent.sent_at[same] = self.dispatcher.now()
        command = self.exits.command(text, side_of(request).lower(), request.instrument, "open")
        command = opening_command(command, request, order.expected)
        if self.exit_plans is not None:
            self.exit_plans.expect(command.id, order.exit_rules)
        outcome = await self._open_once(command, request)
        if self.exit_plans is not None:
            self.exit_plans.settled(command.id, outcome)
        if self.refused.add(order, outcome):  # sending the same again is not a duplicate
            self.store.sent.sent_at.pop(same, None)
        return isinstance(outcome, Done) and outcome.result is not OrderResult.CANCELLED

    async def _reverse(self, reverse: Reverse) -> None:
        request = reverse.request
        text = f"REVERSE {pair(request.instrument)} by {units(request.units, signed=True)}"
        if not await self._may_open(request, text):
            return
        command = self.exits.command(text, "reverse", request.instrument, "open")
        await self._open_once(opening_command(command, request, reverse.expected), request)

    async def _open_once(self, command: Command, request: EntryRequest) -> Outcome:
        self._opening.add(request.instrument)
        try:
            sending = self.sender.create(request, intent_id=command.id)
            return await self.dispatcher.send(command, sending)
        finally:
            self._opening.discard(request.instrument)

    async def _may_open(self, request: EntryRequest, text: str) -> bool:
        """Report why an order may not be opened; return True if it may."""
        why = await self._why_not(request)
        if why:
            self.dispatcher.notify("bad", f"NOT SENT {text}: {why}")
        return not why

    async def _why_not(self, request: EntryRequest) -> str:
        instrument, bound = request.instrument, bound_of(request)
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
        buys = request.units > 0
        touch = quote.ask if buys else quote.bid
        passed = bound is not None and (touch > bound if buys else touch < bound)
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
        sending = self.sender.replace(move.order_id, request, intent_id=command.id)
        await self.dispatcher.send(command, sending)

    def _broker_time(self) -> int:
        return self.store.clock_ns or self.dispatcher.wall_ns()
