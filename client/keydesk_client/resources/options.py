"""Options of a call, by name."""

from collections.abc import Iterable

from keydesk_client.errors import InvalidRequest


def refuse_unknown(options: Iterable[str], known: frozenset[str]) -> None:
    """InvalidRequest for an option that there is not: misspelt, it would be left out without a word."""
    for name in options:
        if name not in known:
            there_are = ", ".join(sorted(known))
            raise InvalidRequest(f"{name}: no such option, there are {there_are}", field=name)
