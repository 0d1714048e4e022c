"""The trader's own price levels in `levels.toml`: declared, read, and replaced atomically with its comments kept.

[[levels]]
instrument = "EUR_USD"
name = "weekly-high"
price = "1.08300"
since = "2026-11-27T08:00:00+00:00"
"""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from keydesk.calc.market.price_levels import (
    MAX_LEVELS,
    NAME,
    NAME_RULE,
    PriceLevel,
    PriceLevels,
)
from keydesk.config.file_edit import change_file
from keydesk.settings.about import About, Must, Wrong, matching
from keydesk.settings.toml_text import text_in
from keydesk.settings.values import INSTRUMENT
from keydesk.text.typed import FIELD_DECIMALS, quantity
from keydesk_client.arithmetic.constants import SECOND

FILE = "levels.toml"
MAX_PRICE = 10_000_000  # a longer price would leave the candles no columns
TEXT = {"type": "string"}


def _price(text: object) -> Decimal:
    typed = quantity(text, "", decimals=FIELD_DECIMALS) if isinstance(text, str) else None
    if typed is None or not 0 < typed.number < MAX_PRICE:
        raise Wrong
    return Decimal(str(text))


def _since(text: object) -> int:
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise Wrong
    return int(time.timestamp()) * SECOND


class Level(Struct, frozen=True):
    """A level: a table under a line `[[levels]]`."""

    instrument: Annotated[
        str,
        About(
            "The instrument whose charts show it.",
            Must("an instrument", '{key} = "EUR_USD"'),
            read=matching(INSTRUMENT),
            schema=TEXT,
        ),
    ]

    name: Annotated[
        str,
        About(
            "The word on the line; @ and the name is its price in an order.",
            Must(NAME_RULE, '{key} = "weekly-high"'),
            read=matching(NAME),
            schema=TEXT,
        ),
    ]

    price: Annotated[
        Decimal,
        About(
            "The price.",
            Must("a price in quotes", '{key} = "1.0830"'),
            read=_price,
            schema=TEXT,
        ),
    ]

    since: Annotated[
        int | None,
        About(
            "Where a ray begins; a line has none.",
            Must("a time with its offset", '{key} = "2026-11-27T08:00:00+00:00"'),
            read=_since,
            schema=TEXT,
        ),
    ] = None


class LevelsFile(Struct, frozen=True):
    """All of `levels.toml`."""

    levels: Annotated[
        tuple[Level, ...], About(must=Must("tables, each under a line [[levels]]"))
    ] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for too many levels, or two of one name."""
        for instrument, count in Counter(each.instrument for each in self.levels).items():
            if count > MAX_LEVELS:
                raise ValueError(f"{instrument} has {count} levels; at most {MAX_LEVELS} can be")
        names = Counter((each.instrument, each.name) for each in self.levels)
        for (instrument, name), count in names.items():
            if count > 1:
                raise ValueError(f"two levels of {instrument} are named {name}; rename one")

    def by_instrument(self) -> PriceLevels:
        """Return the levels as the desk uses them."""
        levels: dict[str, list[PriceLevel]] = {}
        for each in self.levels:
            levels.setdefault(each.instrument, []).append(
                PriceLevel(each.name, each.price, each.since)
            )
        return levels


def load_levels(folder: Path) -> PriceLevels:
    """Read `levels.toml` in the folder; a missing file has none.

    Raises:
        BadSettings: the file is not TOML, or a member is wrong; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return {}
    from keydesk.settings.declared import read_record  # noqa: PLC0415 - for a file only

    return read_record(path, text, LevelsFile).by_instrument()


def save_level(folder: Path, instrument: str, level: PriceLevel, before: str = "") -> None:
    """Write a level, in place of the one that is named `before`.

    Raises:
        BadSettings: the file cannot be used; it stays as it is.
        OSError: the file cannot be written; it stays as it is.
    """
    load_levels(folder)
    members = {"instrument": instrument, "name": level.name, "price": f"{level.price:f}"}
    if level.since_ns is not None:
        members["since"] = datetime.fromtimestamp(level.since_ns // SECOND, UTC).isoformat()

    def change(document: Any) -> None:  # noqa: ANN401 - tomlkit's document
        import tomlkit  # noqa: PLC0415 - needed for writing only

        if "levels" not in document:
            document["levels"] = tomlkit.aot()
        tables = document["levels"]
        at = _place(tables, instrument, before)
        if at is None:
            if tables and isinstance(tables, tomlkit.items.AoT):
                tables[-1].add(tomlkit.nl())
            tables.append(members)
        else:
            tables[at].update(members)

    change_file(folder, FILE, change)


def delete_level(folder: Path, instrument: str, name: str) -> None:
    """Remove a level from the file; raises as `save_level` does."""
    load_levels(folder)

    def change(document: Any) -> None:  # noqa: ANN401 - tomlkit's document
        tables = document.get("levels", [])
        at = _place(tables, instrument, name)
        if at is not None:
            del tables[at]
        if not tables:
            document.pop("levels", None)

    change_file(folder, FILE, change)


def _place(tables: Any, instrument: str, name: str) -> int | None:  # noqa: ANN401 - of tomlkit's document
    wanted = (instrument, name)
    places = (at for at, each in enumerate(tables) if (each["instrument"], each["name"]) == wanted)
    return next(places, None)
