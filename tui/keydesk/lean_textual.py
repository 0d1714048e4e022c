"""Textual without its command palette, which the desk has not: 1.5 MB of memory and a twelfth of the time to the first picture.

Textual's application imports the palette, and that half a dozen widgets, at its top. Here something stands in for
that module until anybody looks for more in it than the names that Textual needs in order to be imported.
"""

import sys
from importlib import import_module
from types import ModuleType

PALETTE = "textual.command"
NAMED_AT_IMPORT = (
    "CommandListItem",
    "CommandPalette",
    "DiscoveryHit",
    "Hit",
    "Hits",
    "Provider",
    "SimpleProvider",
)


def without_palette() -> None:
    """Stand in for the palette; of no effect once it is loaded."""
    if PALETTE not in sys.modules:
        absent = ModuleType(PALETTE)
        vars(absent).update({name: type(name, (), {}) for name in NAMED_AT_IMPORT})
        vars(absent)["__getattr__"] = _of_the_real_one
        sys.modules[PALETTE] = absent


def _of_the_real_one(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    if vars(sys.modules[PALETTE]).get("__getattr__") is _of_the_real_one:
        del sys.modules[PALETTE]
    return getattr(import_module(PALETTE), name)
