"""Fields of text in a form: a key picks one, the letters that follow fill it, Enter, Tab or Esc ends it."""

from collections.abc import Mapping

from keydesk.calc.orders.order_options import MAX_TEXT
from keydesk.forms.modal_form import ACTIVE_FIELD, TextLine, Words
from keydesk.text.sanitize import Printable, clean, safe

ENDS_WRITING = "Enter ends the text; after that it can be sent"
ENDS_TEXT = frozenset(("enter", "tab", "escape"))
TEXT_WIDTH = 32
NAME_WIDTH = 8


def edited_text(text: str, key: str, character: str | None, longest: int) -> str:
    """Return a text after a key: Backspace removes its last character, a character is added while there is room."""
    if key == "backspace":
        return text[:-1]
    return (text + (character or ""))[:longest]


class TextFields:
    """The texts of a form as typed, beside those that it began with; one of them may be being written."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._before = dict(texts)
        self.texts = dict(texts)
        self.writing = ""  # the field that letters go to

    def write(self, key: str, character: str | None) -> None:
        """Take a key for the field that is being written; a character beyond the limit stays, to be refused."""
        if key in ENDS_TEXT:
            self.writing = ""
        else:
            text = self.texts[self.writing]
            self.texts[self.writing] = edited_text(text, key, character, MAX_TEXT + 1)

    def changed(self, name: str) -> str | None:
        """Return the text of a field, None where it is as it was."""
        return None if self.texts[name] == self._before[name] else self.texts[name]

    @property
    def has_changes(self) -> bool:
        """Whether any field differs from how it began."""
        return self.texts != self._before

    def too_long(self) -> str:
        """Return the name of a field with more characters than the broker takes, "" without one."""
        return next((name for name, text in self.texts.items() if len(text) > MAX_TEXT), "")

    def line(self, key: Printable, name: Printable, meaning: Words, width: int) -> TextLine:
        """Return the line of a field; the one that is written is a solid block, and shows its end."""
        text, active = clean(self.texts[str(name)]), self.writing == name
        room = max(4, min(TEXT_WIDTH, width - NAME_WIDTH - 6))
        shown = text if len(text) < room else f"…{text[2 - room :]}"
        label = safe(f"{name:<{NAME_WIDTH}}")
        cursor = "_" if active else ""
        return text_line(key, label, safe(f"{shown + cursor:<{room}}"), meaning, active=active)


def text_line(
    key: Printable, label: Printable, text: Printable, meaning: Words, *, active: bool
) -> TextLine:
    """Return the line of a field of text; the one that is written (`active`) is a solid block."""
    return (
        (safe(f"{key} "), "bright"),
        (label, "focus" if active else "muted"),
        (safe(f" {text} "), ACTIVE_FIELD if active else "plain"),
        (" ", "muted"),
        ("Enter ends it", "muted") if active else meaning,
    )
