"""`templates.toml`: sizes, the standard template, limits, indicators, named templates, and the one that each instrument begins with.

[templates.scalp]
type = "limit"            # market, limit, stop or touch
size = "0.5%"             # units, or % of NAV at risk; left out: the active preset
stop = "10p"              # pips, or average true ranges: "1.5a"
stop_required = true
target = "2r"             # in R, pips or average true ranges
trail = "15p"
expiry = "GFD"
bound_pips = 2
break_even_at = "1r"      # the exit plan: R, pips or average true ranges; break_even_offset_pips beyond
step_trail = "1.5r 20p 5p"  # from that profit on, so far behind the price, in such steps
scale_out = "33/33/34 1r 2r"  # in three trades: targets at 1R and 2R, the last one trails
time_stop = "4h"          # minutes, hours or days after the trade was opened: "90m", "4h", "2d"

[instruments]
USD_JPY = "scalp"
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import replace
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from keydesk.calc.market.indicator_specs import (
    IndicatorSpec,
    IndicatorSyntaxError,
    parse_indicators,
)
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.plans.scale_out import NO_SCALE_OUT, ScaleOut, parse_scale_out
from keydesk.calc.orders.ticket_draft import Kind, expiries_of
from keydesk.calc.orders.ticket_settings import STANDARD, Template, TemplateSet
from keydesk.parse.orders import KINDS, OrderSyntaxError, ParsedOrder, parse_order
from keydesk.settings.about import Must, Wrong, unknown
from keydesk.settings.declared import (
    AboveNothing,
    AboveNothingOrOff,
    NotNegative,
    Table,
    checked,
    line_of,
)
from keydesk.settings.exit_table import OFF_UNLESS_TEXT, TEXT_OR_OFF, ExitTable
from keydesk.settings.limits_table import LimitsTable, limits_of
from keydesk.settings.toml_text import BadSettings, parsed
from keydesk.settings.values import OwnTemplates
from keydesk.text.typed import distance, tokens

TEMPLATES_TABLE, INSTRUMENTS_TABLE = "templates", "instruments"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}", re.ASCII)
PRESETS = tuple("123456789")
PIPS_OR_RANGES = (
    'a distance above 0 in quotes, {key} = "20p" in pips, or {key} = "1.5a" in average true ranges'
)
OR_OFF = "a number above 0, or false to have none"
Distance = tuple[Decimal | None, Decimal | None]  # pips, average true ranges; both None for none


def _distance(value: object) -> Distance:
    written = distance(value, "ap")
    if written is None:
        raise Wrong
    return (None, written.number) if written.unit == "a" else (written.number, None)


class StandardTable(ExitTable):
    """The table `[template]`: what every new ticket starts with."""

    risk_percent: Annotated[AboveNothing, Must("a number above 0", "{key} = 20")] = Decimal(1)
    """Size preset 0: per cent of NAV at risk."""

    stop_pips: Annotated[AboveNothingOrOff, Must(OR_OFF, "{key} = 20")] = Decimal(20)
    """The distance of the stop in pips."""

    stop_spreads: Annotated[NotNegative, Must("a number above 0", "{key} = 20")] = Decimal(5)
    """The stop is at least so many spreads away."""

    target_r: Annotated[AboveNothingOrOff, Must(OR_OFF, "{key} = 20")] = Decimal(2)
    """The target in R."""

    trail_pips: Annotated[AboveNothingOrOff, Must(OR_OFF, "{key} = 20")] = None
    """The distance of a trailing stop in pips."""

    stop: Annotated[
        Distance,
        PlainValidator(_distance),
        WithJsonSchema({"type": "string"}),
        Must(PIPS_OR_RANGES),
    ] = (None, None)
    """The distance of the stop with its unit: "20p", or "1.5a" in average true ranges."""

    trail: Annotated[
        Distance,
        PlainValidator(_distance),
        WithJsonSchema({"type": "string"}),
        Must(PIPS_OR_RANGES),
    ] = (None, None)
    """The distance of a trailing stop with its unit."""

    @model_validator(mode="after")
    def _one_distance(self) -> "StandardTable":
        for name in ("stop", "trail"):
            if {name, f"{name}_pips"} <= self.model_fields_set:
                raise ValueError(f".{name} and template.{name}_pips: leave one out")
        return self

    def template(self, sizes: Mapping[str, Decimal]) -> Template:
        """Return the standard template with the trader's sizes."""
        usual, own, plain = Template(), self.own_values(), self.plain_values()
        for name in ("stop", "trail"):
            if name in own:
                pips, ranges = own[name]
                plain[f"{name}_atr"] = ranges
                if ranges is None:
                    plain[f"{name}_pips"] = pips
        presets = {int(number): size for number, size in sizes.items()}
        return self.with_exit_rules(replace(usual, sizes={**usual.sizes, **presets}, **plain))


def _kind(value: object) -> Kind:
    if not isinstance(value, str) or value not in KINDS:
        raise Wrong
    return KINDS[value]


def _parsed(text: str, right: str) -> ParsedOrder:
    try:
        return parse_order(tokens(text))
    except OrderSyntaxError as error:
        raise ValueError(f": {error}; write it as {right}") from error


def _size(value: object) -> Entry:
    order = _parsed(f"{value}" if isinstance(value, str | int) else "", 'size = "0.5%"')
    if order.size is None or order != ParsedOrder(size=order.size):  # and nothing beside it
        raise Wrong
    return order.size


def _distance_or_off(value: object) -> Distance:
    return (None, None) if value is False else _distance(value)


def _target(value: object) -> Entry | None:
    if value is False:
        return None
    order = _parsed(f"tp {value}" if isinstance(value, str) else "", 'target = "2r"')
    target = order.target
    is_alone = order == ParsedOrder(target=target)
    if target is None or not is_alone or target.unit == "price":
        raise Wrong
    if not isinstance(target.value, Decimal) or target.value <= 0:
        raise Wrong
    return target


def _scale_out(value: object) -> ScaleOut:
    if value is False:
        return NO_SCALE_OUT
    scale_out = (
        parse_scale_out(value) if isinstance(value, str) and value.strip() else "it is empty"
    )
    if isinstance(scale_out, ScaleOut):
        return scale_out
    raise ValueError(f'must be as "33/33/34 1r 2r", or false for none: {scale_out}')


class NamedTemplate(ExitTable):
    """A table `[templates.NAME]`; what it leaves out is the standard template's."""

    type: Annotated[
        Kind,
        PlainValidator(_kind),
        WithJsonSchema({"enum": list(KINDS)}),
        Must(f"one of: {', '.join(KINDS)}"),
    ] = "MARKET"
    """The type of the order."""

    size: Annotated[
        Entry | None,
        PlainValidator(_size),
        WithJsonSchema({"type": ["string", "integer"]}),
        Must('a size such as 10000, "50k" or "0.5%"'),
    ] = None
    """Units, or % of NAV at risk; left out: the active preset."""

    stop: Annotated[
        Distance,
        PlainValidator(_distance_or_off),
        WithJsonSchema(TEXT_OR_OFF),
        Must('a distance above 0 in quotes, {key} = "20p", or false for none'),
    ] = (None, None)
    """The distance of the stop: pips "10p", or average true ranges "1.5a"."""

    stop_required: Annotated[bool, Must("true or false")] = False
    """A ticket without a stop is refused."""

    target: Annotated[
        Entry | None,
        PlainValidator(_target),
        WithJsonSchema(TEXT_OR_OFF),
        Must('"2r", "40p", "3a", or false for none'),
    ] = None
    """The target in R, pips or average true ranges."""

    trail: Annotated[
        Distance,
        PlainValidator(_distance_or_off),
        WithJsonSchema(TEXT_OR_OFF),
        Must('a distance above 0 in quotes, {key} = "15p", or false for none'),
    ] = (None, None)
    """The distance of a trailing stop."""

    expiry: Annotated[str, Must("text in quotes", '{key} = "GFD"')] = ""
    """The time in force: FOK, IOC, GTC, GFD; by the type of the order."""

    bound_pips: Annotated[NotNegative | None, Must("a number, 0 or above")] = None
    """How far a market order may slip, in pips."""

    scale_out: Annotated[
        ScaleOut,
        PlainValidator(_scale_out),
        WithJsonSchema(OFF_UNLESS_TEXT),
    ] = Field(default_factory=lambda: NO_SCALE_OUT)
    """The order as several trades with targets of their own: "33/33/34 1r 2r"."""

    def template(self, name: str, standard: Template) -> Template:
        """Return the template with what it leaves out from the standard one."""
        own, plain = self.own_values(), self.plain_values()
        if "type" in own:
            plain["kind"] = self.type
        for each in ("stop", "trail"):
            if each in own:
                plain[f"{each}_pips"], plain[f"{each}_atr"] = own[each]
        if "target" in own:
            is_in_r = self.target is not None and self.target.unit == "R"
            plain["target"] = None if is_in_r else self.target
            if is_in_r or self.target is None:
                plain["target_r"] = self.target.value if self.target is not None else None
        return self.with_exit_rules(replace(standard, name=name, **plain))


def _specs(texts: object) -> tuple[IndicatorSpec, ...]:
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise Wrong
    try:
        return parse_indicators(texts)
    except IndicatorSyntaxError as error:
        raise ValueError(f": {error}") from error


IndicatorList = Annotated[
    tuple[IndicatorSpec, ...],
    PlainValidator(_specs),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
INDICATORS = Must("a list of texts", '{key} = ["ema 20", "rsi 14"]')


def _template_name(name: str) -> str:
    if not NAME.fullmatch(name) or name == STANDARD:
        raise ValueError(
            f": a name has up to 20 small letters, digits, - and _, and is not {STANDARD}"
        )
    return name


def _preset(name: str) -> str:
    if name not in PRESETS:
        raise ValueError(unknown(name, PRESETS))
    return name


class TemplatesFile(Table):
    """All of `templates.toml`."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    sizes: Annotated[
        dict[Annotated[str, AfterValidator(_preset)], AboveNothing],
        Must("a number above 0", "{key} = 20"),
    ] = Field(default_factory=dict[str, Decimal])
    """The size presets 1 to 9, in units."""

    template: StandardTable = Field(default_factory=StandardTable)
    limits: LimitsTable = Field(default_factory=LimitsTable)  # type: ignore[valid-type]  # pyright: ignore[reportInvalidTypeForm]

    indicators: Annotated[dict[str, IndicatorList], INDICATORS] = Field(default_factory=dict)
    """The indicators of the chart, for each instrument or for `default`."""

    templates: dict[Annotated[str, AfterValidator(_template_name)], NamedTemplate] = Field(
        default_factory=dict[str, NamedTemplate]
    )
    """Named templates; `h` in the ticket turns to the next one."""

    instruments: Annotated[
        dict[str, Any], WithJsonSchema({"additionalProperties": {"type": "string"}})
    ] = Field(default_factory=dict[str, Any])
    """The template that tickets of an instrument begin with."""


def read_templates(path: Path, text: str, standard: Template | None = None) -> OwnTemplates:
    """Return the content of a file as the desk uses it.

    Args:
        path: the file, for messages.
        text: its content.
        standard: what its templates leave out; None: its own table `[template]`.

    Raises:
        BadSettings: a key or value is wrong.
    """
    file = checked(parsed(text, path), TemplatesFile, path, text)
    standard = standard or file.template.template(file.sizes)
    named = {name: each.template(name, standard) for name, each in file.templates.items()}
    wrong = [
        (where, why) for name, each in named.items() for where, why in _disagreeing(name, each)
    ]
    known = ", ".join((STANDARD, *named))
    wrong += [
        ((INSTRUMENTS_TABLE, instrument), f" must name a template, one of: {known}")
        for instrument, name in file.instruments.items()
        if not isinstance(name, str) or (name != STANDARD and name not in named)
    ]
    for where, why in wrong:
        raise BadSettings(f"{path}:{line_of(text, where)}: {'.'.join(where)}{why}")
    return OwnTemplates(
        standard,
        limits_of(file.limits),
        file.indicators,
        TemplateSet(named, dict(file.instruments)),
    )


def _disagreeing(name: str, template: Template) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the fields of a template that do not agree with the others, each with the reason."""
    table = (TEMPLATES_TABLE, name)
    choices = expiries_of(template.kind)
    has_stop = template.stop_pips is not None or template.stop_atr is not None
    if template.expiry and template.expiry not in choices:
        yield (*table, "expiry"), f" must be one of: {', '.join(choices)}"
    if template.target is None and template.target_r is not None and not has_stop:
        yield (*table, "target"), " is in R, which needs a stop"
    if not has_stop and template.scale_out.shares:
        yield (*table, "scale_out"), " is in R, which needs a stop"
    if not has_stop and template.exit_rules.counts_in_r:
        yield table, ": its exit plan is in R, which needs a stop"
