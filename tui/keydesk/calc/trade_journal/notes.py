"""What the trader writes about a trade: tags, setup, note, rating and mistake."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

RATINGS = range(1, 6)
MAX_TAGS = 20
MAX_TAG_LENGTH, MAX_NAME_LENGTH, MAX_NOTE_LENGTH = 40, 80, 4000

NoteField: TypeAlias = Literal["tags", "setup", "note", "rating", "mistake"]


class BadNote(ValueError):
    """A typed note cannot be saved; the message names the part, the limit and the remedy."""


class TradeNote(Struct, frozen=True):
    """The trader's words on one trade."""

    tags: tuple[str, ...] = ()
    setup: str = ""
    note: str = ""
    rating: int | None = None  # 1 to 5
    mistake: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return self == TradeNote()


NO_NOTE = TradeNote()


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags of a typed list, separated by spaces or commas, each once and in lower case.

    Raises:
        BadNote: there are too many, or one is too long.
    """
    return checked_tags(text.replace(",", " ").split())


def checked_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return tags in lower case and without a leading #, each once."""
    tags = tuple(dict.fromkeys(tag for word in words if (tag := word.lstrip("#").lower())))
    if len(tags) > MAX_TAGS:
        raise BadNote(f"{len(tags)} tags are too many: use at most {MAX_TAGS} for a trade")
    for each in tags:
        if len(each) > MAX_TAG_LENGTH:
            raise BadNote(
                f"tag {each[:MAX_TAG_LENGTH]}... is too long: use at most {MAX_TAG_LENGTH} characters"
            )
    return tags


def rating_in(text: str) -> int | None:
    """Return a typed rating, None if it is left empty; raise BadNote if it is not 1 to 5."""
    if not text.strip():
        return None
    try:
        rating = int(text)
    except ValueError:
        rating = 0
    if rating not in RATINGS:
        raise BadNote(f"rating {text.strip()[:20]!r}: type 1 to 5, or leave it empty")
    return rating
