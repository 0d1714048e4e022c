"""Modules that the desk imports by name are there, under that name."""

from keydesk.app.account_connection import load_all
from keydesk.forms import load_each


def test_what_the_desk_loads_by_name_while_it_starts_is_there() -> None:
    load_all()
    for _ in load_each():
        pass
