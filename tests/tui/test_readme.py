"""The documents' table of keys is the key map's (run this file as a script to write it anew); what the docs show."""

from pathlib import Path

import pytest

from keydesk.keys.keymap import BENEATH, DESK, KEYMAP, ROWS

ROOT = Path(__file__).parents[2]
KEYS = ROOT / "docs" / "keys.md"
START = "<!-- keys: written from the key map by tests/tui/test_readme.py -->\n"
END = "<!-- keys end -->"
CONTEXTS = (DESK, ROWS, *(context for context in BENEATH if context != ROWS))


def table() -> str:
    rows = ["| where | key | does |", "|---|---|---|"]
    for context in CONTEXTS:
        rows += [
            f"| {context} | `{key.shown}` | {key.text} |" for key in KEYMAP.own(context) if key.text
        ]
    return "\n".join(rows) + "\n"


def test_the_page_of_keys_lists_every_key_and_no_other() -> None:
    text = KEYS.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == table()


@pytest.mark.parametrize("name", ["journal", "statistics", "calendar", "alerts", "away"])
def test_every_page_has_its_picture_in_three_sizes_and_in_the_docs(name: str) -> None:
    for size in ("80x24", "120x35", "200x50"):
        assert (ROOT / "screenshots" / f"{name}-{size}.svg").exists()
    assert f"{name}-120x35.svg" in (ROOT / "docs" / "pictures.md").read_text()


def test_the_docs_have_a_user_unit_that_watches_alerts() -> None:
    text = (ROOT / "docs" / "alerts.md").read_text()
    assert "[Service]\nExecStart=%h/.local/bin/keydesk watch --alerts" in text


if __name__ == "__main__":
    text = KEYS.read_text(encoding="utf-8")
    before, rest = text.split(START)
    KEYS.write_text(before + START + table() + END + rest.split(END, 1)[1], encoding="utf-8")
