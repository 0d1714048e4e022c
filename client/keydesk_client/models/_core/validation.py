"""What a caller makes himself, an order or a part of one: the impossible is refused at once, by the member's name.

What no price and no distance can be, whatever the order.
"""

from typing import ClassVar, Final

from pydantic import ConfigDict, ValidationError

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record


def validate_levels(holder: Record, prefix: str, *, needs_one: bool) -> None:
    """InvalidRequest, naming the member, for levels that can not be right."""
    given = [name for name in ("price", "distance") if getattr(holder, name, None) is not None]
    for name in (*given, "price_bound"):
        level = getattr(holder, name, None)
        if level is not None and level <= 0:
            raise InvalidRequest(f"{prefix}{name}: must be above 0", field=f"{prefix}{name}")
    if len(given) > 1:
        raise InvalidRequest(
            f"{prefix}distance: give it or a price, not both", field=f"{prefix}distance"
        )
    if needs_one and not given:
        field = prefix + ("price" if "price" in type(holder).model_fields else "distance")
        raise InvalidRequest(f"{field}: needed", field=field)


class RequestRecord(Record):
    """A record that is sent; InvalidRequest, naming the member, when it can not be read as one."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=False)
    fails_at_missing_members: ClassVar[bool] = False

    def __init__(self, *nameless: object, **members: object) -> None:
        if nameless:
            raise TypeError(_by_name(type(self)))
        try:
            super().__init__(**members)
        except ValidationError as error:
            failure = to_invalid_request(error)
        else:
            reject_unknown_members(self)
            validate_levels(self, "", needs_one=False)
            return
        raise failure

    # Without this mark pydantic would call __init__ for each such record that is read, too.
    __init__.__dict__["__pydantic_base_init__"] = True


def reject_unknown_members(asked: Record, prefix: str = "") -> None:
    """InvalidRequest for a member that there is not: misspelt, it would be sent and ignored."""
    for name in asked.unknown:
        known = ", ".join(each for each in type(asked).model_fields if each != "type")
        field = f"{prefix}{name}"
        raise InvalidRequest(
            f"{field}: {type(asked).__name__} has no such member, it has {known}", field=field
        )


def _by_name(kind: type[Record]) -> str:
    needed = [f"{name}=..." for name, each in kind.model_fields.items() if each.is_required()]
    return (
        f"{kind.__name__} takes its members by name: {kind.__name__}({', '.join(needed) or '...'})"
    )


NOT_OURS: Final = {"missing": "needed", "extra_forbidden": "no such member"}


def to_invalid_request(error: ValidationError) -> InvalidRequest:
    """The first thing that is wrong, as InvalidRequest."""
    first = error.errors(include_url=False)[0]
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, InvalidRequest):
        return raised
    field = ".".join(str(part) for part in first["loc"])
    said = NOT_OURS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return InvalidRequest(f"{field}: {said}", field=field)
