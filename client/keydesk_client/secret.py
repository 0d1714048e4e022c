"""A token that can be used and not be seen."""

from collections.abc import Callable
from typing import NoReturn

from keydesk_client.errors import InvalidSettings


class Secret:
    """Holds a token where `repr`, `vars`, pickling and tracebacks with locals do not find it."""

    __slots__ = ("reveal",)

    reveal: Callable[[], str]
    """Call it where the header is written, nowhere else."""

    def __init__(self, text: str) -> None:
        held, text = text, ""  # a traceback from here on must not show it as a local
        usable = held.isascii() and held.isprintable() and bool(held) and " " not in held
        self.reveal = lambda: held
        if not usable:
            del self.reveal, held
            raise InvalidSettings("a token is one word of printable ASCII characters")

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled")
