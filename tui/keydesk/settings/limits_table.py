"""The table `[limits]` of `templates.toml`, and its tables of instruments."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar

from msgspec.structs import replace
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from keydesk.calc.orders.limits import LIMIT_FIELDS, LimitField
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.settings.about import Must, Wrong, unknown
from keydesk.settings.declared import (
    AboveNothing,
    AboveNothingOrOff,
    Table,
    decimal_of,
    declare,
)
from keydesk.settings.values import WHOLE_LIMITS
from keydesk.text.sanitize import clean

TABLE = "limits"
FIELDS = {each.name: each for each in LIMIT_FIELDS}
OF_INSTRUMENTS = tuple(each.name for each in LIMIT_FIELDS if each.per_instrument)


def _whole(value: object) -> object:
    number = decimal_of(value)
    if value is not False and (number is None or number != int(number)):
        raise Wrong
    return value


def _declared(field: LimitField) -> tuple[Any, Any]:
    """Return a limit as pydantic takes it: its type, and its default with what it means."""
    kind = "whole number" if field.name in WHOLE_LIMITS else "number"
    off = ", or false to have none" if field.may_be_off else ""
    parts: list[Any] = [BeforeValidator(_whole)] if field.name in WHOLE_LIMITS else []
    parts.append(Must(f"a {kind} above 0{off}", "{key} = 20"))
    declared: Any = AboveNothingOrOff if field.may_be_off else AboveNothing
    for part in parts:
        declared = Annotated[declared, part]
    usual = getattr(Limits(), field.name)
    return declared, Field(
        default=usual if usual is None else Decimal(str(usual)),
        description=f"{field.text}, {field.unit}",
    )


InstrumentLimits = declare(
    "InstrumentLimits", Table, {name: _declared(FIELDS[name]) for name in OF_INSTRUMENTS}
)
"""The limits of one instrument: the table `[limits.EUR_USD]`."""


class _LimitsTable(Table):
    model_config = ConfigDict(extra="allow")
    others: ClassVar[type[Table]] = InstrumentLimits
    __pydantic_extra__: dict[str, InstrumentLimits] = Field(init=False)  # type: ignore[valid-type]  # pyright: ignore[reportInvalidTypeForm]

    @model_validator(mode="before")
    @classmethod
    def _only_limits_and_instruments(cls, data: object) -> object:
        for name, value in data.items() if isinstance(data, dict) else ():
            if name in FIELDS:
                continue
            is_table = isinstance(value, dict)
            if not is_table:
                raise ValueError(f".{clean(name)} {unknown(name, tuple(FIELDS))}")
            if "_" not in name or not name.isupper():
                raise ValueError(
                    f".{clean(name)} must be a number, or an instrument: [{TABLE}.EUR_USD]"
                )
        return data


LimitsTable = declare(
    "LimitsTable", _LimitsTable, {name: _declared(each) for name, each in FIELDS.items()}
)
"""The table `[limits]` of `templates.toml`."""


def limits_of(table: Table) -> Limits:
    """Return the trader's limits of a checked `LimitsTable`."""
    bounds = {name: value for name, value in table.own_values().items() if name in FIELDS}
    if "slow_ms" in bounds:
        bounds["slow_ms"] = float(bounds["slow_ms"])
    own = {name: each.own_values() for name, each in (table.model_extra or {}).items()}
    return replace(Limits(), **bounds, instruments=own)
