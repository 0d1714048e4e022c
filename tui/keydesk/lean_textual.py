"""Textual without what the desk has no use for: 2 MB of memory and a tenth of the time to the first picture.

Its application imports, at the top, the command palette (and that half a dozen widgets), a search for the user's
folders, and what guesses at misspelt style names. Here something stands in for these modules, with the names
that are asked for at import, until anybody calls one of them or looks for another name.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

CLASSES: Mapping[str, Sequence[str]] = {
    "textual.command": (
        "CommandListItem",
        "CommandPalette",
        "DiscoveryHit",
        "Hit",
        "Hits",
        "Provider",
        "SimpleProvider",
    ),
}
FUNCTIONS: Mapping[str, Sequence[str]] = {
    "difflib": ("get_close_matches",),
    "platformdirs": ("user_downloads_path",),
}


def stand_in() -> None:
    """Stand in for these modules; of no effect on one that is loaded."""
    for module in {*CLASSES, *FUNCTIONS} - set(sys.modules):
        absent = ModuleType(module)
        members = vars(absent)
        members.update({name: type(name, (), {}) for name in CLASSES.get(module, ())})
        members.update({name: _later(absent, name) for name in FUNCTIONS.get(module, ())})
        members["__getattr__"] = partial(_of_the_real_one, absent)
        sys.modules[module] = absent


def _of_the_real_one(absent: ModuleType, name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    if sys.modules.get(absent.__name__) is absent:
        del sys.modules[absent.__name__]
    return getattr(import_module(absent.__name__), name)


def _later(absent: ModuleType, name: str) -> Callable[..., object]:
    def call(*arguments: object, **named: object) -> object:
        function = _of_the_real_one(absent, name)
        assert callable(function)  # noqa: S101 - it is listed among the functions
        return function(*arguments, **named)

    return call
