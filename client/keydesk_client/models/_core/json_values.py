"""What JSON can hold, for type checkers: a value that is looked into is known by then, and never `Any`."""

from typing import TypeAlias

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
"""Any value that was read from JSON, or can be written as it."""
JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of names and values."""
