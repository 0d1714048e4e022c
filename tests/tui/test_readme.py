"""The README's table of keys is the key map's; run this file as a script to write it anew."""

from pathlib import Path

from keydesk.keys.keymap import BENEATH, DESK, KEYMAP, ROWS

README = Path(__file__).parents[2] / "README.md"
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


def test_the_readme_lists_every_key_and_no_other() -> None:
    text = README.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == table()


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    README.write_text(before + START + table() + END + rest.split(END, 1)[1], encoding="utf-8")
