"""Importing a library without an optional part that nobody here uses."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def absent(name: str) -> Generator[None]:
    """Let a package that is not loaded yet seem not to be installed, inside the block.

    A name whose module is None cannot be imported (Python's reference, "The module cache").
    """
    if name in sys.modules:
        yield
        return
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]
