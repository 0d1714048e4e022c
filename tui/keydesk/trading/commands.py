"""Turn the instruction of a form into requests, and send them by the order protocol.

Exits are never refused here: no lock, limit, duplicate rule or stale price precedes a close, a cancel or a tighter
stop. An order that opens risk is bounded, sent on a fresh price, and one at a time per instrument.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, Protocol

from keydesk.calc.orders.checks import DUPLICATE_WITHIN, FRESH
from keydesk.calc.orders.instructions import (
    CancelOrders,
    CloseParts,
    ClosePosition,
    CloseSide,
    CloseTrades,
    ConfigureAccount,
    Flatten,
    Instruction,
    LabelTrade,
    MoveEntry,
    OpenOrder,
    Reverse,
    SetExitPlan,
    SetProtection,
)
from keydesk.records import InFlightKind
from keydesk.store.prices import take_price
from keydesk.store.store import Store
from keydesk.text.format import pair, units
from keydesk.text.sanitize import clean
from keydesk.trading.dispatcher import CHECK_FIRST, Dispatcher, record_of
from keydesk.trading.notifications import Command, change_words, open_words, order_name, report_of
from keydesk.trading.order_requests import (
    Flattening,
    Standing,
    guaranteed_edit,
    moved_request,
    order_request,
    reversal_request,
    stop_edit,
    target_edit,
    trail_edit,
)
from keydesk.trading.refused_tickets import RefusedTickets
from keydesk.trading.settings_requests import SettingsRequests
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.arithmetic.profit import closing_price, pip
from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, KeydeskClientError
from keydesk_client.models import (
    LimitOrder,
    MarketIfTouchedOrder,
    OrderRequest,
    StopOrder,
)
from keydesk_client.orders.outcome import Became, Done, Outcome, new_intent_id
from keydesk_client.orders.sender import Sender

ALL: Literal["ALL"] = "ALL"
READ_AGAIN_WITHIN = 1.0  # seconds that an exit waits for the size to be read again


class KeepsExitPlans(Protocol):
    """Keeps what the trader sets, and the rules that orders bring along."""

    def keep(self, change: SetExitPlan) -> None: ...
    def expect(self, client_id: str, order: OpenOrder) -> None: ...
    def settled(self, client_id: str, outcome: Outcome) -> None: ...


@dataclass(slots=True)
class Commands:
    """Carries out instructions of forms; one per account."""

    client: Client
    sender: Sender
    dispatcher: Dispatcher
    no_orders: str = ""  # why the order journal cannot be kept, so that only exits leave
    exit_only: Callable[[], str] = str  # why no risk may be opened now, "" if it may
    exit_plans: KeepsExitPlans | None = None
    quote_trouble: dict[str, str] = field(default_factory=dict)  # why asking again failed last
    refused: RefusedTickets = field(init=False)
    settings: SettingsRequests = field(init=False)
    _sent: dict[tuple[str, str, str], float] = field(default_factory=dict)
    _opening: set[str] = field(default_factory=set)
    _recovering: bool = False

    def __post_init__(self) -> None:
        self.refused = RefusedTickets(self.dispatcher.now)
        self.settings = SettingsRequests(self.client, self.dispatcher)

    @property
    def store(self) -> Store:
        """The state of account and market."""
        return self.dispatcher.store

    async def carry_out(self, instruction: Instruction) -> None:  # noqa: C901 - one line a kind
        """Carry out an instruction and report its outcome to the trader."""
        self.dispatcher.record("decided", repr(instruction))
        match instruction:
            case OpenOrder(parts=parts) if parts:
                await self._open_parts(instruction)
            case OpenOrder():
                await self._open(instruction)
            case Reverse():
                await self._reverse(instruction)
            case CloseTrades():
                await self._close(instruction)
            case ClosePosition():
                await self._close_position(instruction)
            case CloseParts(instrument=instrument, parts=parts):
                await asyncio.gather(
                    *(self.close_trade(id_, instrument, part) for id_, part in parts)
                )
            case SetProtection():
                await self.protect(instruction)
            case SetExitPlan() if self.exit_plans is not None:
                self.exit_plans.keep(instruction)
            case LabelTrade() | ConfigureAccount():
                await self.settings.carry_out(instruction)
            case CancelOrders(order_ids=order_ids):
                await asyncio.gather(*(self._cancel(order_id) for order_id in order_ids))
            case MoveEntry():
                await self._move(instruction)
            case Flatten(instrument=instrument):
                flattening = Flattening(self.client, self.store, self.dispatcher, self._wipe)
                await flattening.run(instrument)

    @property
    def is_recovering(self) -> bool:
        """Whether orders of an earlier session are still being looked up."""
        return self._recovering

    def hold_openings(self) -> None:
        """Refuse orders that open risk until `recover` has finished."""
        self._recovering = True

    async def recover(self) -> None:
        """Resolve the open intents of earlier sessions and report their outcomes; opening waits for this."""
        self.hold_openings()
        outcomes = await self.sender.recover()
        self._recovering = False
        for outcome in outcomes:
            words = record_of(outcome.intent, self.store).words
            command = Command(f"{words}, sent in an earlier session", CHECK_FIRST)
            report = report_of(outcome, command)
            self.dispatcher.record("recovered", f"{outcome.intent.id} {report.words}")
            self.dispatcher.report(outcome, report)

    def sent_like_this(self, instrument: str, kind: str, side: str) -> float | None:
        """Return the seconds since the same order was sent, None if not within `DUPLICATE_WITHIN`."""
        at = self._sent.get((instrument, kind, side))
        since = None if at is None else self.dispatcher.now() - at
        return since if since is not None and since < DUPLICATE_WITHIN else None

    # What opens risk.

    async def _open_parts(self, order: OpenOrder) -> None:
        """Send the orders of a scale-out one after the other; the first that is not in ends it: less is open than planned."""
        for number, part in enumerate(order.parts):
            one = replace(order, units=part.units, target=part.target, trail=part.trail, parts=())
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
        words = open_words(order)
        market = order.kind == "MARKET"
        may = order.reduces or await self._may_open(
            order.instrument, order.units, order.bound, words
        )
        if not may:
            return False
        try:
            request = order_request(order, self._broker_time())
        except InvalidRequest as error:
            self.dispatcher.notify("bad", f"NOT SENT {words}: {error}")
            self.refused.keep_invalid(order, error)
            return False
        self._sent[order.instrument, order.kind, order.side] = self.dispatcher.now()
        command = self._command(words, order.side.lower(), order.instrument, "open")
        command = replace(command, expected=order.expected if market else None, bound=order.bound)
        intent_id = new_intent_id()
        if self.exit_plans is not None:
            self.exit_plans.expect(intent_id, order)
        outcome = await self._open_once(order.instrument, command, request, intent_id)
        if self.exit_plans is not None:
            self.exit_plans.settled(intent_id, outcome)
        if self.refused.keep(order, outcome):  # the same again is no second order
            self._sent.pop((order.instrument, order.kind, order.side), None)
        return isinstance(outcome, Done) and outcome.became is not Became.CANCELLED

    async def _reverse(self, reverse: Reverse) -> None:
        words = f"REVERSE {pair(reverse.instrument)} by {units(reverse.units, signed=True)}"
        if not await self._may_open(reverse.instrument, reverse.units, reverse.bound, words):
            return
        command = self._command(words, "reverse", reverse.instrument, "open")
        command = replace(command, expected=reverse.expected, bound=reverse.bound)
        await self._open_once(reverse.instrument, command, reversal_request(reverse))

    async def _open_once(
        self, instrument: str, command: Command, request: OrderRequest, intent_id: str = ""
    ) -> Outcome:
        self._opening.add(instrument)
        try:
            return await self._send(command, lambda sender: sender.create(request), intent_id)
        finally:
            self._opening.discard(instrument)

    async def _send(
        self,
        command: Command,
        request: Callable[[Sender], Awaitable[Outcome]],
        intent_id: str = "",
    ) -> Outcome:
        """Send a request under an intent id of its own, which joins its progress to the command."""
        intent_id = intent_id or new_intent_id()
        sending = request(self.sender.with_intent_id(intent_id))
        return await self.dispatcher.send(command, sending, intent_id=intent_id)

    async def _may_open(
        self, instrument: str, signed_units: Decimal, bound: Decimal | None, words: str
    ) -> bool:
        """Report why an order may not be opened; return True if it may."""
        why = await self._why_not(instrument, signed_units, bound)
        if why:
            self.dispatcher.notify("bad", f"NOT SENT {words}: {why}")
        return not why

    async def _why_not(self, instrument: str, signed_units: Decimal, bound: Decimal | None) -> str:
        if held := self.exit_only():
            return held
        if self._recovering:
            return "what an earlier session left open is still being looked up"
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
                take_price(self.store, price, self.dispatcher.now())
        except (KeydeskClientError, *READ_ERRORS) as error:
            self.quote_trouble[instrument] = clean(str(error))
            return f"the price is old and could not be read again ({error})"
        self.quote_trouble.pop(instrument, None)
        return ""

    # What closes, cancels and protects. Nothing here refuses.

    async def _close(self, close: CloseTrades) -> None:
        await asyncio.gather(
            *(
                self.close_trade(trade_id, close.instrument, close.units)
                for trade_id in close.trade_ids
            )
        )

    async def close_trade(
        self, trade_id: str, instrument: str, part: Decimal | None, prefix: str = ""
    ) -> Outcome:
        """Close a trade, or a part of it; `prefix` stands before the words of the command."""
        amount = ALL if part is None else await self._no_more_than_open(trade_id, part)
        size = "all" if isinstance(amount, str) else units(amount)
        words = f"{prefix}CLOSE {size} of #{trade_id} {pair(instrument)}"
        command = self._command(words, "close", instrument, "close trade")
        command = replace(command, expected=self._price_seen(trade_id))
        return await self._send(command, lambda sender: sender.close_trade(trade_id, units=amount))

    async def _no_more_than_open(self, trade_id: str, part: Decimal) -> Literal["ALL"] | Decimal:
        """Return the units to close, after reading the trade's size again; use the store's if that fails."""
        try:
            async with asyncio.timeout(READ_AGAIN_WITHIN):
                still_open = abs((await self.client.trades.get(trade_id)).trade.current_units)
        except (KeydeskClientError, TimeoutError):
            trade = self.store.trades.get(trade_id)
            still_open = abs(trade.units) if trade is not None else part
        return part if part < still_open else ALL

    async def _close_position(self, close: ClosePosition) -> None:
        long_held, short_held = await self._sides_held(close)
        long_units = _of_side(close.long_units, long_held)
        short_units = _of_side(close.short_units, short_held)
        name = f"CLOSE position {pair(close.instrument)}"
        if long_units is None and short_units is None:
            self.dispatcher.notify("warn", f"NOT SENT {name}: it is closed already")
            return
        sides: tuple[tuple[str, CloseSide | None], ...] = (
            ("LONG", long_units),
            ("SHORT", short_units),
        )
        said = [f"{side} {_amount(size)}" for side, size in sides if size is not None]
        command = self._command(
            f"{name} {' '.join(said)}", "close", close.instrument, "close position"
        )
        quote = self.store.quotes.get(close.instrument)
        if quote is not None and (long_units is None or short_units is None):
            command = replace(command, expected=quote.ask if long_units is None else quote.bid)
        await self._send(
            command,
            lambda sender: sender.close_position(
                close.instrument, long_units=long_units, short_units=short_units
            ),
        )

    async def _sides_held(self, close: ClosePosition) -> tuple[CloseSide, CloseSide]:
        """Return the units of both sides, read again just before the close; use the store's if that fails.

        The broker refuses the whole request when it names a side that is flat or more than a side has.
        """
        try:
            async with asyncio.timeout(READ_AGAIN_WITHIN):
                position = (await self.client.positions.get(close.instrument)).position
            return abs(position.long.units), abs(position.short.units)
        except (KeydeskClientError, TimeoutError):
            known = self.store.positions.get(close.instrument)
        if known is None:
            return close.long_units, close.short_units
        return abs(known.long_units), abs(known.short_units)

    async def protect(self, change: SetProtection, prefix: str = "") -> Outcome:
        """Set, move or cancel what protects a trade; `prefix` stands before the words of the command."""
        command = self._command("", "modify", change.instrument, "protection")
        command = replace(
            command, words=f"{prefix}{change_words(change, command.pip)} on #{change.trade_id}"
        )
        return await self._send(
            command,
            lambda sender: sender.set_dependent_orders(
                change.trade_id,
                stop_loss=stop_edit(change.stop),
                take_profit=target_edit(change.target),
                trailing_stop_loss=trail_edit(change.trail),
                guaranteed_stop_loss=guaranteed_edit(change.guaranteed),
            ),
        )

    async def _cancel(self, order_id: str) -> None:
        order = self.store.orders.get(order_id)
        name = order_name(order) if order else f"order #{order_id}"
        instrument = order.instrument if order else ""
        command = self._command(f"CANCEL {name}", "cancel", instrument, "cancel")
        command = replace(command, done=f"CANCELLED {name}")
        await self._send(command, lambda sender: sender.cancel(order_id))

    async def _move(self, move: MoveEntry) -> None:
        words = f"MOVE order #{move.order_id} to {move.price}"
        try:
            order = (await self.client.orders.get(move.order_id)).order
            if not isinstance(order, LimitOrder | StopOrder | MarketIfTouchedOrder):
                raise InvalidRequest("it is not a limit, stop or market-if-touched order")
            request = moved_request(order, move)
        except KeydeskClientError as error:
            self.dispatcher.notify("bad", f"NOT SENT {words}: {error}")
            return
        command = self._command(words, "modify", move.instrument, "replace")
        await self._send(command, lambda sender: sender.replace(move.order_id, request))

    async def _wipe(self, standing: Standing) -> None:
        """Close these trades and cancel these orders concurrently."""
        await asyncio.gather(
            *(self.close_trade(id_, instrument, None) for id_, instrument in standing.trades),
            *(self._cancel(id_) for id_ in standing.orders),
        )

    # What a command is measured by.

    def _command(self, words: str, again: str, instrument: str, kind: InFlightKind) -> Command:
        known = self.store.instruments.get(instrument)
        return Command(
            words,
            again,
            pip=pip(known.pip_location) if known else None,
            instrument=instrument or None,
            kind=kind,
        )

    def _price_seen(self, trade_id: str) -> Decimal | None:
        trade = self.store.trades.get(trade_id)
        quote = self.store.quotes.get(trade.instrument) if trade else None
        if trade is None or quote is None:
            return None
        return closing_price(trade.units, quote.bid, quote.ask)

    def _broker_time(self) -> int:
        return self.store.clock_ns or self.dispatcher.wall_ns()


def _of_side(wanted: CloseSide, held: CloseSide) -> CloseSide:
    """Return what to close of a side: at most what it holds, None if it is flat."""
    if wanted is None or not held:
        return None
    if isinstance(wanted, Decimal) and (not isinstance(held, Decimal) or wanted < held):
        return wanted
    return ALL


def _amount(size: Literal["ALL"] | Decimal) -> str:
    return units(size) if isinstance(size, Decimal) else "all"
