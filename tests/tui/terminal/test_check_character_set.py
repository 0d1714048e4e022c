"""Which locale reads UTF-8."""

import pytest

from keydesk.terminal.check import ascii_locale


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"LANG": "en_US.UTF-8"},
        {"LANG": "de_DE.utf8@euro"},
        {"LANG": "C.UTF-8"},
        {"LC_CTYPE": "UTF-8"},
        {"LC_CTYPE": "en_US.UTF-8", "LANG": "C"},
        {"LC_ALL": "C.UTF-8", "LANG": "C"},
        {"LC_CTYPE": "C.UTF-8"},
    ],
)
def test_a_locale_of_utf8_draws_lines(environment: dict[str, str]) -> None:
    assert ascii_locale(environment) == ""


@pytest.mark.parametrize(
    ("environment", "because"),
    [
        ({"LANG": "C"}, "LANG=C"),
        ({"LANG": "POSIX"}, "LANG=POSIX"),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "LC_ALL=C"),
        ({"LC_CTYPE": "C", "LANG": "en_US.UTF-8"}, "LC_CTYPE=C"),
        ({"LANG": "de_DE.ISO-8859-1"}, "LANG=de_DE.ISO-8859-1"),
    ],
)
def test_another_locale_draws_ascii(environment: dict[str, str], because: str) -> None:
    assert ascii_locale(environment) == because


def test_what_python_sets_by_itself_is_nobodys_choice() -> None:
    assert ascii_locale({"LANG": "C", "LC_CTYPE": "C.UTF-8"}) == "LANG=C"
