"""The trader's own price levels in `levels.toml`, replaced atomically, comments kept.

[[levels]]
instrument = "EUR_USD"
name = "weekly-high"
price = "1.08300"
since = "2026-11-27T08:00:00+00:00"
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keydesk.calc.market.price_levels import PriceLevel, PriceLevels
from keydesk.config.file_edit import change_file
from keydesk.settings.toml_text import text_in
from keydesk_client.arithmetic.constants import SECOND

FILE = "levels.toml"


def load_levels(folder: Path) -> PriceLevels:
    """Read `levels.toml` in the folder; a missing file has none.

    Raises:
        BadSettings: the file is not TOML, or a member is wrong; the text names it.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return {}
    from keydesk.settings.levels_file import read_levels  # noqa: PLC0415 - for a file only

    return read_levels(path, text)


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
