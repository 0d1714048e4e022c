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
        self.reveal = lambda: text

    def check(self) -> None:
        """InvalidSettings when this can not be a token; apart from `__init__`, whose frame still sees the text."""
        if not _is_one_word(self.reveal()):
            raise InvalidSettings("a token is one word of printable ASCII characters")

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled")


def hidden(token: "str | Secret") -> Secret:
    """The token as a Secret. Overwrite the variable it came from: tracebacks can show locals."""
    return token if isinstance(token, Secret) else Secret(token)


def _is_one_word(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable() and " " not in text
