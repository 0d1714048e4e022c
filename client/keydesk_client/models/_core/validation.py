"""Records that a caller builds to be sent: what cannot be right is refused at once, by the member's name."""

from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar

from pydantic import ConfigDict, ValidationError

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import InstrumentTerms

MESSAGES: Final = {"missing": "required", "extra_forbidden": "there is no such member"}
"""Wordings of ours for pydantic's error types."""


class RequestRecord(Record):
    """A record that is sent; raises InvalidRequest, which names the member, for an invalid value."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=False)
    fails_at_missing_members: ClassVar[bool] = False
    is_request: ClassVar[bool] = True

    def __init__(self, *positional: object, **members: object) -> None:
        if positional:
            raise TypeError(_keyword_usage(type(self)))
        instrument = members.get("instrument", "")
        if not isinstance(instrument, str) and isinstance(instrument, InstrumentTerms):
            members["instrument"] = instrument.name
        try:
            super().__init__(**members)
        except ValidationError as error:
            failure = to_invalid_request(error)
        else:
            reject_unknown_members(self)
            validate_levels(self, "", needs_one=False)
            return
        raise failure

    if not TYPE_CHECKING:  # each kind of request declares the members that type checkers accept

        def with_(self, **changes: object) -> Self:
            """Return a request with some members replaced, validated as a new one; None removes a member.

            Raises:
                InvalidRequest: a member is invalid or misspelt.
            """
            return type(self)(**given_members(self) | changes)

    # Without this mark pydantic would call __init__ also for each such record that is read from an answer.
    __init__.__dict__["__pydantic_base_init__"] = True


RequestT = TypeVar("RequestT", bound=RequestRecord)


def given_members(record: RequestRecord) -> dict[str, object]:
    """Return the members that the caller set, misspelt ones included."""
    held: dict[str, object] = {**vars(record), **record.unknown}
    sent = record.model_fields_set | record.unknown.keys()
    return {name: value for name, value in held.items() if name in sent}


def revalidated(record: RequestT, prefix: str = "") -> RequestT:
    """Return an equal request that was validated, as `model_copy` and `model_construct` do not.

    Raises:
        InvalidRequest: a member is invalid or misspelt; `prefix` stands before its name.
    """
    members = {
        name: revalidated(value, f"{prefix}{name}.") if isinstance(value, RequestRecord) else value
        for name, value in given_members(record).items()
    }
    try:
        return type(record)(**members)
    except InvalidRequest as error:
        if not prefix:
            raise
        failure = InvalidRequest(f"{prefix}{error}", field=prefix + error.field)
    raise failure


def validate_levels(holder: Record, prefix: str, *, needs_one: bool) -> None:
    """Raise InvalidRequest unless price, distance and price bound are above 0, and price or distance given once."""
    members = vars(holder)  # a kind that lacks one of them has no value for it
    given = [name for name in ("price", "distance") if members.get(name) is not None]
    for name in (*given, "price_bound"):
        level = members.get(name)
        if level is not None and level <= 0:
            raise InvalidRequest(
                f"{prefix}{name}: must be above 0, not {level:f}", field=f"{prefix}{name}"
            )
    if len(given) > 1:
        raise InvalidRequest(
            f"{prefix}distance: give a distance or a price, not both", field=f"{prefix}distance"
        )
    if needs_one and not given:
        field = prefix + ("price" if "price" in type(holder).model_fields else "distance")
        raise InvalidRequest(f"{field}: required", field=field)


def validate_choice(field: str, value: object, choices: tuple[str, ...]) -> str:
    """Return the value; raise InvalidRequest unless it is one of the choices.

    Answers keep values that are new, but a request with an unknown value would be rejected by the service.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise InvalidRequest(
        f"{field}: invalid value {str(value)[:20]!r}: use one of {', '.join(choices)}", field=field
    )


def reject_unknown_members(record: RequestRecord, prefix: str = "") -> None:
    """Raise InvalidRequest if the record has unknown members: a misspelt one would be sent and ignored."""
    for name in record.unknown:
        known = ", ".join(each for each in type(record).model_fields if each != "type")
        field = f"{prefix}{name}"
        raise InvalidRequest(
            f"{field}: {type(record).__name__} has no such member: use one of {known}", field=field
        )


def to_invalid_request(error: ValidationError) -> InvalidRequest:
    """Return the first of pydantic's errors as InvalidRequest."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidRequest):
        return cause
    field = ".".join(str(part) for part in first["loc"])
    message = MESSAGES.get(first["type"], first["msg"].removeprefix("Value error, "))
    return InvalidRequest(f"{field}: {message}", field=field)


def _keyword_usage(kind: type[Record]) -> str:
    required = [f"{name}=..." for name, field in kind.model_fields.items() if field.is_required()]
    example = f"{kind.__name__}({', '.join(required) or '...'})"
    return f"{kind.__name__} takes keyword arguments only: {example}"
