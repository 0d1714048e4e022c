"""Names of a package that are imported on first use, so that importing the package is fast."""

import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module


def names_of(
    package: str, names: Collection[str], modules: Sequence[str]
) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: each of its public names stands in the first of the modules that has it."""

    def get(name: str) -> object:
        if name in names:
            for module in modules:
                found = vars(import_module(f"{package}.{module}"))
                if name in found:
                    vars(sys.modules[package])[name] = found[name]
                    return found[name]
        raise AttributeError(
            f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package]
        )

    return get
