"""All of `levels.toml`."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from keydesk.calc.market.price_levels import (
    MAX_LEVELS,
    NAME,
    NAME_RULE,
    PriceLevel,
    PriceLevels,
)
from keydesk.settings.about import Must, Wrong
from keydesk.settings.declared import Table, checked
from keydesk.settings.toml_text import parsed
from keydesk.settings.values import INSTRUMENT
from keydesk.text.typed import FIELD_DECIMALS, quantity
from keydesk_client.arithmetic.constants import SECOND

MAX_PRICE = 10_000_000  # a longer price would leave the candles no columns


def _instrument(name: str) -> str:
    if not INSTRUMENT.fullmatch(name):
        raise Wrong
    return name


def _name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise Wrong
    return name


def _price(text: str) -> str:
    typed = quantity(text, "", decimals=FIELD_DECIMALS)
    if typed is None or not 0 < typed.number < MAX_PRICE:
        raise Wrong
    return text


def _since(text: object) -> int:
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise Wrong
    return int(time.timestamp()) * SECOND


class LevelTable(Table):
    """A level: a table under a line `[[levels]]`."""

    instrument: Annotated[
        str, AfterValidator(_instrument), Must("an instrument", '{key} = "EUR_USD"')
    ]
    """The instrument whose charts show it."""

    name: Annotated[str, AfterValidator(_name), Must(NAME_RULE, '{key} = "weekly-high"')]
    """The word on the line; @ and the name is its price in an order."""

    price: Annotated[str, AfterValidator(_price), Must("a price in quotes", '{key} = "1.0830"')]
    """The price."""

    since: Annotated[
        int | None,
        PlainValidator(_since),
        WithJsonSchema({"type": "string"}),
        Must("a time with its offset", '{key} = "2026-11-27T08:00:00+00:00"'),
    ] = None
    """Where a ray begins; a line has none."""

    def level(self) -> PriceLevel:
        """Return it as the desk uses it."""
        return PriceLevel(self.name, Decimal(self.price), self.since)


class LevelsFile(Table):
    """All of `levels.toml`."""

    levels: Annotated[
        tuple[LevelTable, ...], Field(strict=False), Must("tables, each under a line [[levels]]")
    ] = ()

    @model_validator(mode="after")
    def _few_and_distinct(self) -> "LevelsFile":
        for instrument, count in Counter(each.instrument for each in self.levels).items():
            if count > MAX_LEVELS:
                raise ValueError(f"{instrument} has {count} levels; at most {MAX_LEVELS} can be")
        for (instrument, name), count in Counter(
            (each.instrument, each.name) for each in self.levels
        ).items():
            if count > 1:
                raise ValueError(f"two levels of {instrument} are named {name}; rename one")
        return self


def read_levels(path: Path, text: str) -> PriceLevels:
    """Return the levels of a file by instrument; raise BadSettings if it cannot be used."""
    levels: dict[str, list[PriceLevel]] = {}
    for each in checked(parsed(text, path), LevelsFile, path, text).levels:
        levels.setdefault(each.instrument, []).append(each.level())
    return levels
