"""Forms that set the stop, the target and the trailing stop of a trade."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec.structs import replace

from keydesk.calc.orders import protection
from keydesk.calc.orders.change_checks import absurd_levels, protection_refusals
from keydesk.calc.orders.field_draft import Entry, Reading, UnreadableText, shown_number
from keydesk.calc.orders.fields import PROTECTION_FIELDS, ProtectionField, Unit
from keydesk.calc.orders.instructions import Change, SetProtection
from keydesk.calc.orders.lifetime import EXPIRY_WORDS, TYPED_EXPIRY, frozen
from keydesk.calc.orders.order_options import TRIGGER_WORDS
from keydesk.calc.orders.protection import (
    Protection,
    ProtectionDraft,
    draft_of,
    effective_stop,
    protection_of,
    wanted_level,
    wanted_protection,
)
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.modal_form import BLANK, TextLine, Words, figure, signed_money
from keydesk.forms.planned_lines import behind, planned_lines
from keydesk.forms.ticket_lines import (
    NOT_KNOWN,
)
from keydesk.forms.trades.close_trade import entry_and_now
from keydesk.forms.trades.lifetime_fields import LifetimeFields
from keydesk.forms.trades.trade_form import TradeForm, trade_name
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import MODIFY
from keydesk.text.format import EMPTY, UNLIMITED, money, price
from keydesk.text.sanitize import Printable, safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.profit import closing_price
from keydesk_client.arithmetic.risk import r_multiple
from keydesk_client.unset import UNSET

ACTIONS: dict[protection.Severity, Action] = {
    "nothing": Action.TIGHTEN,
    "adds": Action.ADD_PROTECTION,
    "tightens": Action.TIGHTEN,
    "moves target": Action.MOVE_TARGET,
    "loosens": Action.LOOSEN,
}
NO_STOP: TextLine = figure("at stop", (UNLIMITED, "danger"))
NO_TARGET: TextLine = figure("target", (EMPTY, "muted"))
NO_OUTLOOK = (figure("at stop", (EMPTY, "muted")), NO_TARGET)  # of levels that cannot be read


class ProtectionForm(TradeForm[SetProtection], LifetimeFields[SetProtection, ProtectionField]):
    """Sets, moves or takes away what protects one trade; untouched levels are not sent."""

    KEY_CONTEXT: ClassVar[str] = MODIFY
    FIELDS = PROTECTION_FIELDS
    VERB: ClassVar[str] = "MODIFY"
    PRICES: ClassVar[frozenset[str]] = frozenset(("stop", "target", "guaranteed"))

    def begin(self) -> None:
        self.draft = self._as_counted(self.first_draft())
        self.leave_life()

    def first_draft(self) -> ProtectionDraft:
        """Return the fields as the form opens."""
        trade = self.trade
        if trade is None:
            return draft_of(Protection(None, None, None), None)
        return draft_of(protection_of(trade), self.trading_context(trade))

    def _as_counted(self, draft: ProtectionDraft) -> ProtectionDraft:
        """Return the draft in the unit of the last ticket: in prices, or in pips."""
        known = self.trade_and_context()
        if known is None or self.context.store.sent.distance_unit == "price":
            return draft
        return protection.counted_in_pips(draft, *known)

    def start_on(self, name: ProtectionField) -> None:
        """Open with a field active, in prices: its line on the chart follows the keys."""
        self.draft = self.first_draft().pick(name)

    def headline(self) -> TextLine:
        """Return the trade and what changes."""
        trade = self.trade
        name = trade_name(trade) if trade else safe(f"#{self.trade_id}")
        return ((safe(f"{self.VERB} "), "bright"), (name, "bright"))

    def effect(self) -> Sequence[TextLine]:
        """Show the trade, and what the levels win and lose."""
        known = self.trade_and_context()
        if known is None:
            return ()
        new = wanted_protection(self.draft, *known)
        return [*entry_and_now(*known), BLANK, *self._outlook_lines(known[0], new, known[1])]

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the levels that differ from those of the trade."""
        known = self.trade_and_context()
        if known is None:
            return "", ()
        trade, context = known
        now = protection_of(trade)
        stop, target, trail, kept = (
            None if level == getattr(now, name) else level
            for name, level in (
                (n, wanted_level(self.draft, n, trade, context)) for n in PROTECTION_FIELDS
            )
        )
        best = closing_price(trade.units, context.bid, context.ask)
        direction = 1 if trade.units > 0 else -1
        return trade.instrument, planned_lines(
            stop=kept if stop is None else stop,
            target=target,
            trail=behind(best, trail, direction),
        )

    @property
    def shown(self) -> Sequence[ProtectionField]:
        """The fields; that of the guaranteed stop where there is one, or the broker offers it."""
        known = self.trade_and_context()
        if known is None:
            return tuple(PROTECTION_FIELDS)
        offered = known[1].rules.guarantee != "DISABLED" or known[0].guaranteed_stop is not None
        typed = self.draft.entry("guaranteed").text or self.draft.active == "guaranteed"
        return [name for name in PROTECTION_FIELDS if name != "guaranteed" or offered or typed]

    def field_lines(self) -> Sequence[TextLine]:
        """Return stop, target and trailing stop as they stand in the form."""
        if not (lines := super().field_lines()):
            return ()
        names = [PROTECTION_FIELDS[name].label for name, level in self._sent().items() if level]
        return [*lines, *self.life_lines(", ".join(names) or "nothing that is sent")]

    def _sent(self) -> Mapping[ProtectionField, Change]:
        """Return the levels that are sent: what changed; where only time in force or trigger did, stop and target as they are.

        A trailing stop that is sent again begins anew behind the present price, so it is sent only when it changed.
        """
        known = self.trade_and_context()
        new = None if known is None else wanted_protection(self.draft, *known)
        if known is None or new is None:
            return {}
        now, sent = protection_of(known[0]), dict[ProtectionField, Change]()
        for name in PROTECTION_FIELDS:
            level: Decimal | None = getattr(new, name)
            lives_anew = self.changes_life and new == now and name != "trail"
            if self.trigger and name == "guaranteed":
                lives_anew = False  # the broker triggers it as usual only
            if level != getattr(now, name) or (lives_anew and level is not None):
                sent[name] = level
        return sent

    @property
    def _ends_a_stop(self) -> bool:
        """Whether a stop of the trade gets an end."""
        return self.lifetime.ends and self._sends_a_stop

    @property
    def _triggers_a_stop_elsewhere(self) -> bool:
        """Whether a stop is triggered by another price side than usual."""
        return self.trigger not in {"", "DEFAULT"} and self._sends_a_stop

    @property
    def _sends_a_stop(self) -> bool:
        return any(
            self._sent().get(name) is not None for name in PROTECTION_FIELDS if name != "target"
        )

    def action(self) -> Action:
        """Return the most dangerous of the changes."""
        known = self.trade_and_context()
        if known is None:
            return Action.TIGHTEN
        trade, context = known
        new = wanted_protection(self.draft, trade, context)
        if new is None:
            return Action.LOOSEN
        now = protection_of(trade)
        weakens = self._ends_a_stop or self._triggers_a_stop_elsewhere
        if weakens and (now.fixed_stop, now.trail) != (None, None):
            return Action.LOOSEN
        return self._action_of_levels(trade, new)

    def _action_of_levels(self, trade: TradeRow, new: Protection) -> Action:
        return ACTIONS[protection.weight(trade, protection_of(trade), new)]

    def refusals(self) -> Sequence[str]:
        """Return the refusals of the draft."""
        known = self.trade_and_context()
        if known is None:
            return [self.unready()]
        trade, context = known
        new = wanted_protection(self.draft, trade, context)
        if refusals := self.life_refusals():
            return refusals
        if self.trigger not in {"", "DEFAULT"} and self._sent().get("guaranteed") is not None:
            return ["trigger: a guaranteed stop has the usual one: i turns it"]
        if self.changes_life and new == protection_of(trade) and self._sent():
            return []
        return protection_refusals(self.draft, trade, context)

    def warnings(self) -> Sequence[str]:
        """Warn when protection is reduced, and of an exit plan that may move the stop on."""
        known, found = self.trade_and_context(), []
        new = None if known is None else wanted_protection(self.draft, *known)
        if self._ends_a_stop:
            ends = (
                EXPIRY_WORDS[self.lifetime.choice]
                if self.lifetime.choice != TYPED_EXPIRY
                else "by time"
            )
            found.append(f"The stop ends ({ends}): after that nothing limits the loss")
        if self._triggers_a_stop_elsewhere:
            found.append(f"The stop triggers at {TRIGGER_WORDS[self.trigger or 'DEFAULT']}")
        if known is None:
            return found
        if new is None or self._action_of_levels(known[0], new) is Action.LOOSEN:
            found.append("This loosens or removes a stop: more is at risk than before")
            if self.trade_id in self.context.store.exit_plans:
                plan = self.context.keymap.name("exit-plan")
                found.append(f"An exit plan runs and may tighten it again: {plan} changes it")
        return found

    def request(self) -> SetProtection | None:
        """Return only what changed."""
        known = self.trade_and_context()
        if known is None:
            return None
        trade, context = known
        if wanted_protection(self.draft, trade, context) is None:
            return None
        sent = self._sent()
        lifetime = frozen(self.lifetime, self.context.store.now_ns, self.context.store.zone)
        if lifetime is None:
            return None
        return SetProtection(
            trade_id=trade.id,
            instrument=trade.instrument,
            stop=sent.get("stop", UNSET),
            target=sent.get("target", UNSET),
            trail=sent.get("trail", UNSET),
            guaranteed=sent.get("guaranteed", UNSET),
            expiry=lifetime.expiry,
            gtd_ns=lifetime.gtd_ns,
            trigger=self.trigger,
        )

    def reading(self, name: ProtectionField) -> Reading:
        """Return the number in a field; a price and a trailing distance are above 0."""
        return protection.level_reading(self.draft, name)

    def meaning(self, name: ProtectionField) -> Words:
        """Return a level before and after."""
        known = self.trade_and_context()
        after = None if known is None else wanted_level(self.draft, name, *known)
        if known is None or isinstance(after, UnreadableText):
            return (NOT_KNOWN, "danger")
        before: Decimal | None = getattr(protection_of(known[0]), name)
        return (self._change_text(name, before, after, known[1]), "plain")

    def _change_text(
        self,
        name: ProtectionField,
        before: Decimal | None,
        after: Decimal | None,
        context: TradingContext,
    ) -> Printable:
        if before == after:
            return "as it is" if before is not None else "none"
        if after is None:
            gone = _in_pips(before, context) if name == "trail" else _at_price(before, context)
            return safe(f"{gone} → REMOVED")
        if name == "trail":
            return safe(f"{_in_pips(before, context)} → {_in_pips(after, context)}")
        return safe(f"{_at_price(before, context)} → {_at_price(after, context)}")

    def _outlook_lines(
        self, trade: TradeRow, new: Protection | None, context: TradingContext
    ) -> Sequence[TextLine]:
        """Return what the levels win and lose; nothing is reckoned from one that cannot be read or is absurd."""
        if new is None or absurd_levels(self.draft, trade, new, context):
            return NO_OUTLOOK
        return self._amount_lines(trade, new, context)

    def _amount_lines(
        self, trade: TradeRow, new: protection.Protection, context: TradingContext
    ) -> Sequence[TextLine]:
        before = protection.outlook(trade, protection_of(trade), context)
        after = protection.outlook(trade, new, context)
        currency, risk = context.funds.currency, trade.initial_risk
        stop = effective_stop(trade, new, context)
        ratio = "" if risk or after.ratio is None else f"{money(after.ratio)} times the loss"
        at_stop = (before.at_stop, after.at_stop)
        at_target = (before.at_target, after.at_target)
        cost = protection.premium(trade, protection_of(trade), new, context)
        premium = figure("premium", (money(cost), "warn"), currency, ("if it fills", "muted"))
        return [
            _amount_line("at stop", at_stop, currency, risk) or NO_STOP,
            _amount_line("target", at_target, currency, risk, ratio) or NO_TARGET,
            *_away_lines("to stop", stop, trade, context),
            *_away_lines("to target", new.target, trade, context),
            *([premium] if cost else ()),
        ]

    # The keys.

    def nudged(self, entry: Entry, steps: int) -> Entry | None:
        """Return the field moved by pips, or by steps of its unit."""
        known = self.trade_and_context()
        if known is None or isinstance(entry.value, UnreadableText):
            return None
        return _nudged(entry, steps, *known)

    def in_unit(self, name: ProtectionField, unit: Unit) -> Entry | None:
        """Return a field in another unit at the same level; None where the unit is not known."""
        entry, known = self.draft.entry(name), self.trade_and_context()
        if known is None:
            return entry
        level = wanted_level(self.draft, name, *known)
        if isinstance(level, UnreadableText):
            return replace(entry, unit=unit)  # the text stays for correction
        if level is None:
            return Entry("", unit)
        counted = protection.in_unit(name, level, unit, *known)
        return None if counted is None else Entry("", unit).set(counted)

    def action_count_in_atr(self) -> None:
        """Count the active field in average true ranges: typed digits stay, an old distance is converted."""
        entry = self.draft.current
        if entry.unit == "ATR" or self.unready():
            return
        converted = self.in_unit(self.draft.active, "ATR") if entry.fresh else None
        self.set_field(converted or replace(entry, unit="ATR"))


class ProtectForm(ProtectionForm):
    """Adds the template's stop and target where the trade has none."""

    VERB: ClassVar[str] = "PROTECT"

    def first_draft(self) -> ProtectionDraft:
        """Return what protects it now, completed from the template."""
        draft, trade = super().first_draft(), self.trade
        context = self.trading_context(trade) if trade else None
        if trade is None or context is None:
            return draft
        template = self.context.template_of(trade.instrument)
        return protection.completed_by(draft, trade, context, template)


class TrailingForm(ProtectionForm):
    """Sets a trailing stop at the template's distance."""

    VERB: ClassVar[str] = "TRAIL"

    def first_draft(self) -> ProtectionDraft:
        """Return the trailing distance: the template's, or the one there is."""
        draft, trade = super().first_draft(), self.trade
        context = self.trading_context(trade) if trade else None
        if context is None:
            return draft
        if not draft.entry("trail").text:
            template = self.context.template_of(context.rules.name)
            distance = template.trail_entry(context)
            if distance.text:
                return draft.with_field("trail", distance)
        return draft.pick("trail")


def _at_price(level: Decimal | None, context: TradingContext) -> str:
    return "none" if level is None else price(level, context.rules.price_precision)


def _away_lines(
    label: str, level: Decimal | None, trade: TradeRow, context: TradingContext
) -> Sequence[TextLine]:
    """Return how far the market is from a level."""
    if level is None:
        return ()
    now = closing_price(trade.units, context.bid, context.ask)
    return (figure(label, (money(abs(level - now) / context.rules.pip, 1), "plain"), "pips"),)


def _in_pips(distance: Decimal | None, context: TradingContext) -> str:
    return "none" if distance is None else f"{money(distance / context.rules.pip, 1)} pips"


def _nudged(entry: Entry, steps: int, trade: TradeRow, context: TradingContext) -> Entry:
    value = shown_number(entry.value)
    if entry.unit == "price":
        start = value if value is not None else closing_price(trade.units, context.bid, context.ask)
        return entry.set(start + steps * context.rules.pip)
    step = Decimal("0.1") if entry.unit == "ATR" else Decimal(1)
    return entry.set(max(Decimal(0), (value or Decimal(0)) + steps * step))


def _amount_line(
    label: str,
    change: tuple[Decimal | None, Decimal | None],
    currency: str,
    initial_risk: Decimal | None,
    ratio: str = "",
) -> TextLine:
    """Return an amount after the change, in cash and in the initial risk, and what it was before; empty without one.

    `ratio` stands in place of the initial risk where that is not known.
    """
    before, after = change
    if after is None:
        return ()
    notes: list[Words] = [(safe(ratio), "muted")] if ratio else []
    multiple = r_multiple(after, initial_risk)
    if multiple is not None:
        notes.append((safe(f"{money(multiple, signed=True)} R"), "muted"))
    if before is not None and before != after:
        gap = "  " if notes else ""
        notes.append((safe(f"{gap}was {money(before, signed=True)}"), "muted"))
    return figure(label, signed_money(after), safe(currency), *notes)
