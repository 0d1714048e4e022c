"""A setting is one member of a record: what reads, checks, describes and shows it follows from that."""

from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Struct, field

from keydesk.app.look import OPTIONS, USUAL
from keydesk.config.settings_files import settings_of
from keydesk.forms.account.settings import LABELS
from keydesk.forms.command_list import OPTIONS as TYPED
from keydesk.settings.about import About, Must, Row, Wrong, members_of, options_of
from keydesk.settings.declared import checked, table_of, value_of
from keydesk.settings.toml_text import BadSettings, parsed
from keydesk.settings.values import Settings


class Inner(Struct, frozen=True):
    """A table in the file."""

    count: Annotated[
        int,
        About("How many.", Must("a whole number from 1 to 9", "count = 3"), within=range(1, 10)),
    ] = 2


class Outer(Struct, frozen=True):
    """A file."""

    is_loud: Annotated[
        bool,
        About(
            "Whether it is loud.",
            Must("true or false"),
            "loud",
            row=Row(hint="or not"),
        ),
    ] = False
    inner: Annotated[Inner, About()] = Inner()


def _upper(value: object) -> str:
    if not isinstance(value, str):
        raise Wrong
    if not value.isupper():
        raise ValueError("is not in capital letters")
    return value


class Item(Struct, frozen=True):
    """A table of a list."""

    name: Annotated[
        str,
        About("Its name.", Must("text", 'name = "A"'), read=_upper, schema={"type": "string"}),
    ]
    count: Annotated[int, About("How many.", Must("a whole number"))] = 0

    def __post_init__(self) -> None:
        if self.count > len(self.name):
            raise ValueError(f"has more than {len(self.name)}")


class Listed(Struct, frozen=True):
    """A file with a list of tables, and tables by name."""

    items: Annotated[tuple[Item, ...], About("Items.", Must("tables"))] = ()
    named: Annotated[dict[str, Item], About("By name.", Must("tables"))] = field(
        default_factory=dict
    )


FILE = Path("file.toml")
TABLE = table_of(Outer)


def read(text: str) -> Outer:
    outer = value_of(checked(parsed(text, FILE), TABLE, FILE, text))
    assert isinstance(outer, Outer)
    return outer


def test_a_member_is_read_under_the_name_that_it_has_in_the_file() -> None:
    assert read("") == Outer()
    assert read("loud = true\n[inner]\ncount = 9\n") == Outer(is_loud=True, inner=Inner(9))


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("loud = 1\n", "file.toml:1: loud must be true or false"),
        (
            "[inner]\ncount = 0\n",
            "file.toml:2: inner.count must be a whole number from 1 to 9, such as count = 3",
        ),
        ("inner = 1\n", r"file.toml:1: inner must be a table, \[inner\]"),
        ("lowd = true\n", "file.toml:1: lowd is not known; did you mean loud"),
    ],
)
def test_what_it_must_be_is_said_with_its_line(text: str, refusal: str) -> None:
    with pytest.raises(BadSettings, match=refusal):
        read(text)


def listed(text: str) -> Listed:
    table = table_of(Listed)
    value = value_of(checked(parsed(text, FILE), table, FILE, text))
    assert isinstance(value, Listed)
    return value


def test_tables_of_a_list_and_by_name_are_read_as_records() -> None:
    text = '[[items]]\nname = "A"\n[[items]]\nname = "BB"\ncount = 2\n[named.x]\nname = "C"\n'
    assert listed(text) == Listed((Item("A"), Item("BB", 2)), {"x": Item("C")})
    assert listed("") == Listed()


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("[[items]]\n", "file.toml:1: items[1].name is missing: it must be text"),
        ("[[items]]\nname = 1\n", 'file.toml:2: items[1].name must be text, such as name = "A"'),
        ('[[items]]\nname = "a"\n', "file.toml:2: items[1].name is not in capital letters"),
        ('[[items]]\nname = "A"\ncount = 2\n', "file.toml:1: items[1] has more than 1"),
        ('[named.x]\nname = "A"\ncount = 2\n', "file.toml:1: named.x has more than 1"),
        ('[named.x]\nnome = "A"\n', "file.toml:2: named.x.nome is not known; did you mean name"),
        ("items = 1\n", "file.toml:1: items must be tables"),
    ],
)
def test_what_is_wrong_in_such_a_table_is_said_with_its_place(text: str, refusal: str) -> None:
    with pytest.raises(BadSettings) as said:
        listed(text)
    assert refusal in str(said.value)


def test_schema_and_documents_have_its_meaning() -> None:
    schema = TABLE.model_json_schema(by_alias=True)
    assert schema["properties"]["loud"]["description"] == "Whether it is loud."
    assert [(each.name, each.default, each.about, each.must) for each in settings_of(TABLE)] == [
        ("loud", "false", "Whether it is loud.", "true or false"),
        ("inner.count", "2", "How many.", "a whole number from 1 to 9"),
    ]
    assert [*options_of(Outer)] == ["loud"]


def test_every_setting_is_declared_and_every_row_is_on_the_page_and_in_the_commands() -> None:
    assert {each.name for each in members_of(Settings)} == {*Settings.__struct_fields__}
    assert {*table_of(Settings).keys()} == {each.key for each in members_of(Settings)}
    assert {*OPTIONS} == {*USUAL} == {*LABELS} - {"columns"} == {*TYPED} - {"profile"}


def test_what_a_row_leaves_out_follows_from_its_member() -> None:
    text = "Whether it is loud"
    assert options_of(Outer)["loud"].row == Row("loud", "is loud", "or not", "loud on", text)
