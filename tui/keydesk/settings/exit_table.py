"""The exit plan of a template, as `templates.toml` holds it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from msgspec.structs import replace
from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.fields import Unit
from keydesk.calc.orders.plans.exit_plans import NO_PROFIT, NO_STEP
from keydesk.calc.orders.ticket_settings import Template
from keydesk.settings.about import Must, Wrong
from keydesk.settings.declared import NotNegative, Table
from keydesk.text.typed import distance, duration_s

EXIT_UNITS: Mapping[str, Unit] = {"a": "ATR", "p": "pips", "r": "R"}
MINUTE_S = 60
TRAIL_PARTS = 3
TEXT_OR_OFF = {"anyOf": [{"type": "string"}, {"const": False}]}
OFF_UNLESS_TEXT = {**TEXT_OR_OFF, "default": False}
Trail = tuple[Entry, Entry, Entry]  # the profit it starts at, how far behind, its step


def _exit_distance(value: object) -> Entry:
    written = distance(value, "apr")
    if written is None:
        raise Wrong
    return Entry(written.text, EXIT_UNITS[written.unit])


def _break_even_at(value: object) -> Entry:
    return NO_PROFIT if value is False else _exit_distance(value)


def _step_trail(value: object) -> Trail:
    if value is False:
        return NO_PROFIT, NO_PROFIT, NO_STEP
    parts = value.split() if isinstance(value, str) else []
    if len(parts) != TRAIL_PARTS:
        raise Wrong
    after, behind, step = map(_exit_distance, parts)
    return after, behind, step


def _time_stop(value: object) -> Decimal | None:
    if value is False:
        return None
    seconds = duration_s(value) if isinstance(value, str) else None
    if not seconds or seconds % MINUTE_S:
        raise Wrong
    return Decimal(seconds // MINUTE_S)


class ExitTable(Table):
    """The exit plan of a template; it acts while the desk runs."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    break_even_at: Annotated[
        Entry,
        PlainValidator(_break_even_at),
        WithJsonSchema(OFF_UNLESS_TEXT),
        Must('"1r", "20p" or "1.5a", or false for none'),
    ] = Field(default_factory=lambda: NO_PROFIT)
    """The profit at which the stop goes to break-even: R, pips or average true ranges."""

    break_even_offset_pips: Annotated[NotNegative, Must("a number, 0 or above")] = Decimal(0)
    """So many pips beyond break-even."""

    step_trail: Annotated[
        Trail,
        PlainValidator(_step_trail),
        WithJsonSchema(OFF_UNLESS_TEXT),
        Must('"1.5r 20p 5p": from that profit on, so far behind, in such steps, or false for none'),
    ] = Field(default_factory=lambda: (NO_PROFIT, NO_PROFIT, NO_STEP))
    """From that profit on the stop follows, so far behind, in such steps."""

    time_stop: Annotated[
        Decimal | None,
        PlainValidator(_time_stop),
        WithJsonSchema(TEXT_OR_OFF),
        Must('"90m", "4h" or "2d", or false for none'),
    ] = None
    """The trade is closed so long after it was opened."""

    def plain_values(self) -> dict[str, Any]:
        """Return the members that the file sets and a template has by the same name."""
        names = Template.__struct_fields__
        return {name: value for name, value in self.own_values().items() if name in names}

    def with_exit_rules(self, template: Template) -> Template:
        """Return a template with this exit plan; what it leaves out is the template's."""
        own, rules = self.model_fields_set, template.exit_rules
        if "break_even_at" in own:
            rules = replace(rules, break_even_at=self.break_even_at)
        if "step_trail" in own:
            after, behind, step = self.step_trail
            rules = replace(rules, trail_from=after, trail_behind=behind, trail_step=step)
        if "time_stop" in own:
            rules = replace(rules, close_after_minutes=self.time_stop)
        rules = replace(rules, break_even_offset_pips=template.break_even_offset_pips)
        return template if rules.is_empty else replace(template, exit_rules=rules)
