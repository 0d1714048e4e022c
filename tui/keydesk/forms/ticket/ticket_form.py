"""The order ticket: side and instrument stay the same from opening to sending."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import chain
from operator import attrgetter
from typing import ClassVar

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.checks import CheckContext, TicketCheck, check_ticket, is_absurd
from keydesk.calc.orders.fields import TICKET_CHOICES, FieldName
from keydesk.calc.orders.first_draft import first_draft, on_field
from keydesk.calc.orders.order_options import OptionName, TextName
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.preview import preview_of
from keydesk.calc.orders.ticket import Plan, work_out
from keydesk.calc.orders.ticket_draft import Draft, Side
from keydesk.calc.orders.ticket_parts import parts_of, scale_out_of
from keydesk.calc.orders.ticket_units import touch_of
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms import ticket_lines
from keydesk.forms.form import FIELD_HINTS, Form
from keydesk.forms.level_name import ENDS_NAME, LevelName
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, wrap_text
from keydesk.forms.planned_lines import behind, planned_lines
from keydesk.forms.ticket.editor import TicketEditor
from keydesk.forms.ticket.figures import (
    FigureLine,
    margin_lines,
    position_line,
    preview_lines,
    result_lines,
)
from keydesk.forms.ticket.members import (
    exit_plan_lines,
    exit_plan_refusals,
    exit_rules_of,
    member_lines,
    scale_out_lines,
    time_in_force_line,
)
from keydesk.forms.ticket.seen_prices import SeenPrices
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import TICKET
from keydesk.parse.orders import ParsedOrder
from keydesk.parse.price_levels import SIGN
from keydesk.store.entry_obstacles import line_warnings, what_entries_wait_for
from keydesk.store.risk import open_risk_of, usual_size
from keydesk.text.format import pair
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.entry_requests import OpenOrder, order_of
from keydesk_client.errors import InvalidRequest

ENDS_WRITING = "Enter ends the text; after that y sends"


class TicketForm(Form[OpenOrder]):
    """The ticket; it shows every figure of the order before the send key counts."""

    KEY_CONTEXT: ClassVar[str] = TICKET
    WIDTH: ClassVar[int] = 60

    def __init__(
        self,
        form_context: FormContext,
        side: Side,
        instrument: str,
        fields: ParsedOrder | None = None,
    ) -> None:
        super().__init__(form_context)
        context = self.trading_context_about(instrument)
        template = form_context.template_of(instrument)
        draft = first_draft(side, instrument, context, template, form_context.preset)
        refused = (
            None
            if fields
            else form_context.store.sent.take_refused(instrument, side, form_context.clock())
        )
        self.rejected = ""  # why the broker rejected it as it was typed before
        if fields is not None:
            draft = fields.on(draft, form_context.store.now_ns)
        elif refused is not None:
            draft = on_field(refused)
            self.rejected = refused.text
        level_name = LevelName(form_context.keymap)
        self.editor = TicketEditor(draft, template, form_context.preset, level_name)
        self._seen_prices = SeenPrices()

    @property
    def active_field(self) -> str:
        return self.draft.active

    def headline(self) -> TextLine:
        """Say side, units, instrument and price."""
        context = self.trading_context()
        return ticket_lines.headline(self.draft, self.plan(context), context)

    def hints(self) -> TextLine:
        """Return the keys of its fields."""
        return FIELD_HINTS

    def effect(self) -> Sequence[TextLine]:
        """Show what the order may win and lose, and what it needs and changes."""
        context = self.trading_context()
        plan = self.plan(context)
        if context is None or plan is None:
            return ()
        result, exposure = self._figures(plan, context)
        return [*(each.line for each in result), BLANK, *(each.line for each in exposure)]

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        context = self.trading_context()
        return () if context is None else ticket_lines.quote_line(context)

    def details(self) -> Sequence[TextLine]:
        """Return financing, exposure, pip, open risk, target and price: in this order they are left out."""
        context = self.trading_context()
        plan = self.plan(context)
        if context is None or plan is None:
            return ()
        figures = sorted(chain(*self._figures(plan, context)), key=attrgetter("left_out"))
        return [*(each.line for each in figures if each.left_out), self.price_line()]

    def field_lines(self) -> Sequence[TextLine]:
        """Return the fields: nothing is sent that is not shown."""
        context = self.trading_context()
        plan = self.plan(context)
        return () if context is None or plan is None else self._lines_of(plan, context)

    def _lines_of(self, plan: Plan, context: TradingContext) -> Sequence[TextLine]:
        rejected = wrap_text(safe(f"✗ REJECTED: {self.rejected}"), "danger", self.inside)
        return [
            *(rejected if self.rejected else ()),
            *self._template_lines(),
            *exit_plan_lines(self.editor.template, plan, context, self.inside),
            *scale_out_lines(scale_out_of(self.draft), self._parts(plan, context), context),
            *ticket_lines.field_lines(self.draft, plan, context, self._level_text()),
            time_in_force_line(self.draft, everything=self.editor.everything),
            *member_lines(
                self.draft,
                plan,
                context,
                everything=self.editor.everything,
                writing=self.editor.writing,
                now_ns=self.context.store.now_ns,
                zone=self.context.store.zone,
            ),
        ]

    def _level_text(self) -> Printable:
        """Return the price levels that a name which is being typed may mean; "" without one."""
        name, entry = self.editor.level_name, self.draft.entry(self.draft.active)
        return name.meaning(entry, self._levels) if name.is_typed else ""

    @property
    def _levels(self) -> Sequence[PriceLevel]:
        """The trader's price levels of the instrument."""
        return self.context.store.levels.get(self.draft.instrument, ())

    def _template_lines(self) -> Sequence[TextLine]:
        """Return the template, where there is more than one to turn to."""
        names = self.context.templates.names
        if len(names) == 1:
            return ()
        name = self.editor.template.name
        text = safe(f"{name}, one of {len(names)}")
        return (ticket_lines.choice_line(TICKET_CHOICES["next_template"], text),)

    def _figures(
        self, plan: Plan, context: TradingContext
    ) -> tuple[Sequence[FigureLine], Sequence[FigureLine]]:
        """Return what the order may win and lose and costs, and what it needs and changes."""
        return self.once(("figures", self.draft), lambda: self._figures_of(plan, context))

    def _figures_of(
        self, plan: Plan, context: TradingContext
    ) -> tuple[Sequence[FigureLine], Sequence[FigureLine]]:
        result = result_lines(self.draft, plan, context)
        exposure = [*margin_lines(plan, context), position_line(self.draft, plan, context)]
        is_priced = isinstance(plan.levels.entry, Decimal)
        if is_priced and plan.units and not is_absurd(plan.levels.stop, context):
            preview = preview_of(self.draft, plan, context, self.context.store.now_ns)
            exposure += preview_lines(preview, context)
        return result, exposure

    def action(self) -> Action:
        """Return OPEN, OPEN_AGAINST_WARNING or, for a reduction, SCALE_OUT."""
        if self.reduces():
            return Action.SCALE_OUT
        return Action.OPEN_AGAINST_WARNING if self.verdict().warnings else Action.OPEN

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the ticket's entry, stop, trailing stop, target and bound."""
        plan = self.plan(self.trading_context())
        if plan is None:
            return "", ()
        entry, direction = plan.levels.entry, self.draft.direction
        closing = entry - direction * plan.spread if isinstance(entry, Decimal) else entry
        return self.draft.instrument, planned_lines(
            entry=entry,
            bound=plan.levels.bound,
            stop=plan.levels.stop,
            target=plan.levels.target,
            trail=behind(closing, plan.levels.trail, direction),
        )

    def opens_on(self) -> str:
        """Return the ticket's instrument."""
        return self.draft.instrument

    def opens(self) -> bool:
        """Return whether it may open a trade: one that only reduces is an exit."""
        return not self.reduces()

    def refusals(self) -> Sequence[str]:
        """Return the checks' refusals; while letters go to a field of text, none of them can send."""
        if self.is_writing:
            return (ENDS_NAME if self.editor.level_name.is_typed else ENDS_WRITING,)
        context, template = self.trading_context(), self.editor.template
        planned = exit_plan_refusals(template, self.plan(context), context)
        plan = self.plan(context)
        parts = () if plan is None or context is None else self._parts(plan, context)
        divided = (parts,) if isinstance(parts, str) else ()
        found = (*self._required_refusals(), *planned, *self.verdict().refusals, *divided)
        return found or self.once(("invalid", self.draft), self._invalid_members)

    def _invalid_members(self) -> tuple[str, ...]:
        """Refuse what the client would not send, though no other check refused it."""
        try:
            self._order()
        except InvalidRequest as error:
            return (clean(str(error)),)
        return ()

    def _parts(self, plan: Plan, context: TradingContext) -> tuple[OrderPart, ...] | str:
        """Return the orders of the scale-out, as on the screen."""
        return parts_of(self.draft, plan, context)

    def _required_refusals(self) -> Sequence[str]:
        """Refuse an opening ticket without a stop where its template requires one."""
        template, plan = self.editor.template, self.plan(self.trading_context())
        if not template.stop_required or plan is None or plan.reduces or plan.distance is not None:
            return ()
        return (f"stop: the template {template.name} requires one: s, then digits",)

    def warnings(self) -> Sequence[str]:
        """Return the checks' warnings."""
        return self.verdict().warnings

    def request(self) -> OpenOrder | None:
        """Freeze the plan on the screen into the request of its order; None while a field cannot be read."""
        try:
            return self._order()
        except InvalidRequest:  # it was valid a moment ago: the price moved
            return None

    def _order(self) -> OpenOrder | None:
        context = self.trading_context()
        plan = self.plan(context)
        if plan is None or context is None:
            return None
        store, parts = self.context.store, self._parts(plan, context)
        rules = exit_rules_of(self.editor.template, plan, context)
        return order_of(self.draft, plan, rules, parts, now_ns=store.now_ns, zone=store.zone)

    def lines(self) -> Sequence[TextLine]:
        """Return the lines, and remember the price that the trader sees from now on."""
        with self.drawing():
            context = self.trading_context()
            if context is not None:
                self._seen_prices.add(self.context.clock(), touch_of(self.draft, context))
            return super().lines()

    def close(self, result: OpenOrder | None) -> None:
        """Close, and remember what its stop counts in: the next form that moves one begins with it."""
        self.context.store.sent.distance_unit = self.draft.stop.unit
        super().close(result)

    def recheck_reason(self) -> str:
        """Ask for a second press when price or position changed faster than a person can react."""
        context = self.trading_context()
        plan = self.plan(context)
        with self.as_painted():
            seen_plan = self.plan(self.trading_context())
        if plan is not None and seen_plan is not None and plan.reduces != seen_plan.reduces:
            return "The position just changed: press again to send this"
        if context is None or plan is None or self.draft.kind != "MARKET":
            return ""
        return self._seen_prices.recheck_reason(self.draft, plan, context)

    def trading_context(self) -> TradingContext | None:
        """Return rules, price and funds for the instrument, None while one is missing."""
        return self.trading_context_about(self.draft.instrument)

    def reduces(self) -> bool:
        """Whether it opens nothing now, so that it is an exit."""
        plan = self.plan(self.trading_context())
        return plan is not None and plan.reduces

    def plan(self, context: TradingContext | None) -> Plan | None:
        """Compute the plan of the ticket, None while there is no price."""
        if context is None:
            return None
        return self.once(
            ("plan", self.draft), lambda: work_out(self.draft, context, self.context.limits)
        )

    def verdict(self) -> TicketCheck:
        """Return the refusals and warnings of the ticket as it is now."""
        return self.once(("verdict", self.draft), self._judge)

    def _judge(self) -> TicketCheck:
        context = self.trading_context()
        plan = self.plan(context)
        if context is None or plan is None:
            return TicketCheck((f"Waiting for a price of {pair(self.draft.instrument)}",))
        return check_ticket(self.draft, plan, context, self.context.limits, self._check_context())

    def _check_context(self) -> CheckContext:
        store, draft = self.context.store, self.draft
        return CheckContext(
            wall_ns=self.context.store.now_ns,
            rtt_ms=store.health.rtt_ms,
            sent_like_this=store.sent.seconds_since(
                draft.instrument, draft.kind, draft.side, self.context.clock()
            ),
            in_flight=store.in_flight_of(draft.instrument),
            quote_trouble=store.sent.quote_trouble.get(draft.instrument, ""),
            waits=what_entries_wait_for(store),
            line=line_warnings(store, self.context.clock()),
            open_risk=open_risk_of(store),
            zone=store.zone,
            usual_size=usual_size(store, draft.instrument),
        )

    # The keys.

    @property
    def draft(self) -> Draft:
        """The ticket as typed."""
        return self.editor.draft

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self.editor.draft = draft

    @property
    def is_writing(self) -> bool:
        """Whether letters go to a field of text; Enter, Tab and Esc end it."""
        return self.editor.writing is not None or self.editor.level_name.is_typed

    def write(self, key: str, character: str | None) -> None:
        """Take a key for that field."""
        if self.editor.level_name.is_typed:
            self.editor.write_level(key, character, self._levels)
            self._say()
        else:
            self.editor.write(key, character, self.context.store.now_ns)

    def typed(self, key: str) -> bool:
        """Fill the active field."""
        context = self.trading_context()
        if key == SIGN:
            self.editor.begin_level(self._levels, self.plan(context))
            return self._say()
        return self._say(self.editor.type_key(key, context, self.plan(context)))

    def _say(self, done: bool = True) -> bool:
        """Show what the key could not do, and draw."""
        self._hint, self.editor.hint = self.editor.hint, ""
        self.redraw()
        return done

    def action_pick(self, name: FieldName) -> None:
        self.editor.pick(name, self.plan(self.trading_context()))
        self._say()

    def action_next_field(self, step: int) -> None:
        self.editor.next_field(step, self.plan(self.trading_context()))
        self._say()

    def action_next_kind(self) -> None:
        self.editor.next_kind(self.trading_context())
        self._say()

    def action_next_expiry(self) -> None:
        self.draft = self.draft.next_expiry()
        self._say()

    def action_next_lifetime(self) -> None:
        """Turn how long the active one of stop, target and trailing stop lives."""
        self.editor.next_lifetime()
        self._say()

    def action_next_unit(self) -> None:
        context = self.trading_context()
        self.editor.next_unit(context, self.plan(context))
        self._say()

    def action_count_in_atr(self) -> None:
        """Count the active distance in average true ranges."""
        context = self.trading_context()
        self.editor.count_in_atr(context, self.plan(context))
        self._say()

    def action_erase(self) -> None:
        self.editor.erase()
        self._say()

    def action_nudge(self, steps: int) -> None:
        context = self.trading_context()
        self.editor.nudge(steps, context, self.plan(context))
        self._say()

    def action_more(self) -> None:
        """Show all members of the order, or those that differ from the usual."""
        self.editor.everything = not self.editor.everything
        self._say()

    def action_next_template(self) -> None:
        """Begin again with the next template; side and instrument stay."""
        name = self.context.templates.following(self.editor.template.name)
        template = self.context.templates.get(name, self.context.template)
        draft = self.draft
        fresh = first_draft(
            draft.side, draft.instrument, self.trading_context(), template, self.context.preset
        )
        self.editor.begin_with(fresh, template)
        self._say()

    def action_guarantee(self) -> None:
        """Make the stop a guaranteed one, or a usual one."""
        self.draft = self.draft.with_guarantee(guaranteed=not self.draft.members.guaranteed)
        self._say()

    def action_turn(self, name: OptionName) -> None:
        """Turn to the next choice of an option."""
        self.editor.turn(name)
        self._say()

    def action_write(self, name: TextName) -> None:
        """Send the letters that follow to a field of text."""
        self.editor.begin_text(name, self.context.store.now_ns)
        self._say()
