"""Libraries without the parts of them that the desk never comes to: 3.5 MB of memory, a tenth of the start.

Textual's application imports at its top the command palette (and that half a dozen widgets), a search for the user's
folders and what guesses at misspelt style names; httpx imports cookies and the standard library's own client, for
redirects and proxies. While such a library is imported, something with the names it asks for stands in for them;
afterwards whoever imports one of them gets the real one, and a function that is called after all calls it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

Names = Mapping[str, Sequence[str]]  # module -> what is asked of it; a capital begins a class

TEXTUAL: Names = {
    "textual.command": (
        "CommandListItem",
        "CommandPalette",
        "DiscoveryHit",
        "Hit",
        "Hits",
        "Provider",
        "SimpleProvider",
    ),
    "difflib": ("get_close_matches",),
    "platformdirs": ("user_downloads_path",),
}
HTTPX: Names = {
    "http.cookiejar": ("Cookie", "CookieJar"),
    "urllib.request": ("Request", "getproxies", "parse_http_list"),
}
STANDARD = ("http", "urllib")


@contextmanager
def without(parts: Names) -> Iterator[None]:
    """Import a library without these parts of it; one that is loaded already stays."""
    absent = [_absent(module, parts[module]) for module in parts if module not in sys.modules]
    for each in absent:
        _put(each)
    try:
        yield
    finally:
        for each in absent:
            _take_away(each)


def _absent(module: str, names: Sequence[str]) -> ModuleType:
    made = ModuleType(module)
    for name in names:
        stands_in = type(name, (), {}) if name[0].isupper() else _later(module, name)
        setattr(made, name, stands_in)

    def of_the_real_one(name: str) -> object:
        """Give way: the library asks for more than is known here."""
        if name.startswith("__"):
            raise AttributeError(name)
        _take_away(made)
        return getattr(import_module(module), name)

    vars(made)["__getattr__"] = of_the_real_one
    return made


def _put(absent: ModuleType) -> None:
    package, _, name = absent.__name__.rpartition(".")
    sys.modules[absent.__name__] = absent
    if package in STANDARD:  # light, and looked into by name: `import urllib.request`
        setattr(import_module(package), name, absent)


def _take_away(absent: ModuleType) -> None:
    package, _, name = absent.__name__.rpartition(".")
    if sys.modules.get(absent.__name__) is absent:
        del sys.modules[absent.__name__]
    if package in sys.modules and vars(sys.modules[package]).get(name) is absent:
        delattr(sys.modules[package], name)


def _later(module: str, name: str) -> Callable[..., object]:
    def call(*arguments: object, **named: object) -> object:
        function = getattr(import_module(module), name)
        assert callable(function)  # noqa: S101 - it is listed among the functions
        return function(*arguments, **named)

    return call
