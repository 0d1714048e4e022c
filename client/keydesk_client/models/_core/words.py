"""Words of a request: answers keep those that are new, a request with one that there is not is refused at once."""

from typing import Literal, get_args, get_origin

from keydesk_client.errors import InvalidRequest


def words(kind: object) -> tuple[str, ...]:
    """The words that an enumeration is known to have."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next((found for part in get_args(kind) if (found := words(part))), ())


def known_word(field: str, value: object, known: tuple[str, ...]) -> str:
    """The word; InvalidRequest, naming the known ones, for any other."""
    if isinstance(value, str) and value in known:
        return value
    raise InvalidRequest(f"{field}: {str(value)[:20]!r} is none of {', '.join(known)}", field=field)
