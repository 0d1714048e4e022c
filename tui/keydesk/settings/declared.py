"""Settings files declared once: a pydantic model of each file, made of its record, reads it, checks it, and gives its JSON schema.

A refusal names the file, the line, the key, what the value must be, and the known key that an unknown one resembles.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast, get_args, get_origin

from msgspec import NODEFAULT, Struct, structs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from keydesk.calc.orders.limits import has_sane_size
from keydesk.settings.about import Member, Must, Wrong, members_of, unknown
from keydesk.settings.toml_text import BadSettings, parsed
from keydesk.text.sanitize import clean

Location = tuple[int | str, ...]
HEADER = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?")
UNKNOWN = "extra_forbidden"  # pydantic's name of the error
MISSING = "missing"  # likewise
NO_TABLE = frozenset(("dict_type", "model_type", "model_attributes_type"))
KEY = re.compile(r"""^\s*([A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*[.=]""")


class Table(BaseModel):
    """A table of a settings file; a key that it does not declare is refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        arbitrary_types_allowed=True,
        populate_by_name=True,
    )

    others: ClassVar["type[Table] | None"] = None
    """What the tables under keys of the user's choice hold, where such keys are allowed."""

    def own_values(self) -> dict[str, Any]:
        """Return the members that the file sets, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    @classmethod
    def keys(cls) -> dict[str, FieldInfo]:
        """Return the declared keys, as the file names them."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}


class RecordTable(Table):
    """A table that `table_of` made of a record."""

    value: ClassVar[type[Struct]]

    @model_validator(mode="after")
    def _members_go_together(self) -> Self:
        if hasattr(self.value, "__post_init__"):
            value_of(self)
        return self


class PartOfFile(RecordTable):
    """A table that leaves the keys which it does not declare to another one."""

    model_config = ConfigDict(extra="ignore")


Declared = TypeVar("Declared", bound=Table)
Value = TypeVar("Value", bound=Struct)


def declare(
    name: str,
    base: type[Declared],
    keys: Mapping[str, tuple[Any, Any]],
    *,
    about: str | None = None,
) -> type[Declared]:
    """Return a table whose keys are declared elsewhere: a type and a default, or `Field`, for each.

    Args:
        name: Its name in schemas.
        base: Has further keys, and the rules of the table.
        keys: The keys.
        about: What it is, for the schema.
    """
    make: Any = create_model
    made: type[Declared] = make(name, __base__=base, __doc__=about, **keys)
    return made


@cache
def table_of(record: type[Struct], base: type[RecordTable] = RecordTable) -> type[RecordTable]:
    """Return the table that reads a record of settings, each member as it is declared there.

    Args:
        record: The value. Its `__post_init__` may raise ValueError for members that do not go together.
        base: Has the rules of the table.
    """
    keys = {each.name: _field_of(each, record) for each in members_of(record)}
    name = record.__name__
    made = declare(
        name if name.endswith(("File", "Table")) else f"{name}Table",
        base,
        keys,
        about=record.__doc__,
    )
    made.value = record
    return made


def _field_of(member: Member, record: type[Struct]) -> tuple[Any, Any]:
    """Return a member as pydantic takes it: its type with what checks it, and its field."""
    about, make_field = member.about, cast("Callable[..., Any]", Field)
    bounds = {} if about.within is None else {"ge": about.within[0], "le": about.within[-1]}
    [declared] = (each for each in structs.fields(record) if each.name == member.name)
    kind, options = _kind_of(member), {**_default_of(member.type, declared), **bounds}
    return kind, make_field(alias=about.key or None, description=about.text or None, **options)


def _default_of(kind: Any, field: structs.FieldInfo) -> Mapping[str, Any]:  # noqa: ANN401 - a type
    """Return the default of a member as an argument of `Field`: that of a record is the empty table."""
    table = table_of(kind) if is_declared(kind) else None
    if field.default_factory is not NODEFAULT:
        return {"default_factory": table or field.default_factory}
    if table is not None:
        return {"default": table()}
    return {} if field.default is NODEFAULT else {"default": field.default}


def _kind_of(member: Member) -> Any:  # noqa: ANN401 - a type
    """Return what pydantic reads a member by: tables for the records in it."""
    about, kind = member.about, member.type
    if is_declared(kind):
        return table_of(kind)
    if about.read is not None:
        reader = PlainValidator(about.read), WithJsonSchema(dict(about.schema))
        return Annotated[(kind, *reader, about.must)]  # a `Must`, or None
    match get_args(kind):
        case (record, end) if end is Ellipsis and is_declared(record):
            kind = Annotated[tuple[table_of(record), ...], Field(strict=False)]  # type: ignore[misc]
        case (names, record) if is_declared(record):
            kind = dict[names, table_of(record)]  # type: ignore[valid-type,misc]
    return Annotated[kind, about.must]


def is_declared(kind: Any) -> bool:  # noqa: ANN401 - a type
    """Return whether a type is a record of settings."""
    return isinstance(kind, type) and issubclass(kind, Struct) and bool(members_of(kind))


def value_of(table: RecordTable) -> Any:  # noqa: ANN401 - the record of the table
    """Return the content of a table as the record that it reads."""
    kind = type(table)
    return kind.value(**{name: _plain(getattr(table, name)) for name in kind.model_fields})


def _plain(value: Any) -> Any:  # noqa: ANN401 - any member
    """Return a member with records in the place of tables."""
    if isinstance(value, RecordTable):
        return value_of(value)
    if type(value) is tuple:
        return tuple(map(_plain, value))
    return {name: _plain(each) for name, each in value.items()} if type(value) is dict else value


def read_record(
    path: Path, text: str, record: type[Value], rules: type[RecordTable] = RecordTable
) -> Value:
    """Return the content of a settings file as a record; raise `BadSettings` as `checked` does."""
    table = checked(parsed(text, path), table_of(record, rules), path, text)
    return cast("Value", value_of(table))


def checked(
    data: Mapping[str, Any], declaration: type[Declared], path: Path, text: str = ""
) -> Declared:
    """Return data as a table; raise `BadSettings` with the first thing that is wrong in it. `text` gives its line."""
    try:
        return declaration.model_validate(data)
    except ValidationError as error:
        all_wrong = error.errors(include_url=False)
        wrong = next((one for one in all_wrong if one["type"] == UNKNOWN), all_wrong[0])
        where = tuple(each for each in wrong["loc"] if each != "[key]")
        line = line_of(text, (*where, *_inner(wrong)))
        place = f"{path}:{line}" if line else f"{path}"
        raise BadSettings(f"{place}: {_refusal(declaration, where, wrong)}") from None


def _inner(wrong: ErrorDetails) -> Location:
    """Return the rest of a location, which a validator of a whole table names first in its words: .main.token_store."""
    words = str(wrong.get("ctx", {}).get("error", ""))
    return tuple(words.split(" ", maxsplit=1)[0].split(".")[1:]) if words.startswith(".") else ()


def _refusal(declaration: type[Table], where: Location, wrong: ErrorDetails) -> str:
    name = _name(where)
    table, must = _declared_at(declaration, where)
    if wrong["type"] == UNKNOWN:
        return f"{name} {unknown(str(where[-1]), tuple(table.keys()))}"
    own = wrong.get("ctx", {}).get("error")
    if isinstance(own, ValueError) and not isinstance(own, Wrong):
        return f"{name}{'' if str(own).startswith((':', '.')) else ' '}{own}".lstrip(":.").strip()
    if must is None or wrong["type"] in NO_TABLE:
        return f"{name} must be a table, [{name}]"
    missing = "is missing: it " if wrong["type"] == MISSING else ""
    return f"{name} {missing}{must.sentence(str(where[-1]))}"


def _name(where: Location) -> str:
    """Return a location as a message names it: lists[2].name is a member of the second list."""
    parts = [f"[{step + 1}]" if isinstance(step, int) else f".{clean(step)}" for step in where]
    return "".join(parts).removeprefix(".")


def _declared_at(declaration: type[Table], where: Location) -> tuple[type[Table], Must | None]:
    """Return the table that holds a location, and the `Must` that is declared nearest to it."""
    table, must = declaration, None
    holder: Any = declaration
    for step in where:
        if isinstance(holder, type) and issubclass(holder, Table):
            table = holder
            field = holder.keys().get(str(step))
            if field is None:
                must, holder = None, holder.others
                continue
            must = next((each for each in field.metadata if isinstance(each, Must)), None)
            holder = field.annotation
        else:
            holder = next(tables_in(holder), None)
    return table, must


def tables_in(annotation: Any) -> Iterator[type[Table]]:  # noqa: ANN401 - any type form
    """Yield the table that an annotation is, or those that its mapping or list holds."""
    for part in (annotation, *get_args(annotation)):
        plain = get_args(part)[0] if get_origin(part) is Annotated else part
        if isinstance(plain, type) and issubclass(plain, Table):
            yield plain


def line_of(text: str, where: Location) -> int:
    """Return the number of the line of a key in a TOML text, or of the closest table around it; 0 if neither is found."""
    names = [str(each) for each in where if isinstance(each, str)]
    number_in_list = next((each for each in where if isinstance(each, int)), 0)
    table: list[str] = []
    seen: dict[str, int] = {}
    best, depth = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := HEADER.match(line):
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            seen[header[1]] = seen.get(header[1], -1) + 1
            is_other = line.lstrip().startswith("[[") and seen[header[1]] != number_in_list
            found = [] if is_other else table
        elif key := KEY.match(line):
            found = [*table, key[1].strip("\"'")]
        else:
            continue
        if found and names[: len(found)] == found and len(found) > depth:
            best, depth = number, len(found)
    return best


def decimal_of(value: object) -> Decimal | None:
    """Return a finite number with up to 12 digits on each side of its point, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    return number if has_sane_size(number) else None


def _number(value: object, *, may_be_nothing: bool = False) -> Decimal:
    number = decimal_of(value)
    if number is None or number < 0 or (number == 0 and not may_be_nothing):
        raise Wrong
    return number


def _number_or_off(value: object) -> Decimal | None:
    return None if value is False else _number(value)


ABOVE_NOTHING = {"type": "number", "exclusiveMinimum": 0}
AboveNothing = Annotated[Decimal, PlainValidator(_number), WithJsonSchema(ABOVE_NOTHING)]
NotNegative = Annotated[
    Decimal,
    PlainValidator(lambda value: _number(value, may_be_nothing=True)),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
AboveNothingOrOff = Annotated[
    Decimal | None,
    PlainValidator(_number_or_off),
    WithJsonSchema({"anyOf": [ABOVE_NOTHING, {"const": False}]}),
]
"""A number above 0, or `false` for None."""
