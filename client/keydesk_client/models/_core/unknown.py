"""A place in a union for kinds that are newer than this library."""

from typing import get_args

from pydantic import AfterValidator


def foreign_to(*known: object) -> AfterValidator:
    """Accepts a `type` that none of the known records has.

    Without it a known record with one bad member would pass as an unknown one, and a fill would not be seen as a fill.
    """
    words = frozenset(
        kind.model_fields["type"].default for union in known for kind in get_args(union)
    )

    def refuse_known(word: str) -> str:
        if word in words:
            raise ValueError(f"{word} is known, so its record must be readable")
        return word

    return AfterValidator(refuse_known)
