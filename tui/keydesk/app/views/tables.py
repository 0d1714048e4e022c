"""The letters that the rows of a table must have: the form that asks for them."""

from typing import Any

from textual.app import App

from keydesk import forms
from keydesk.text.sanitize import safe
from keydesk.widgets.sorted_table import SortedTable

LONGEST_LETTERS = 60


def ask_letters(app: App[Any], pane: SortedTable) -> None:
    """Ask for the letters that rows of the pane must have, and show those rows."""

    def take(letters: str | None) -> None:
        if letters is not None:
            pane.show_only(letters)

    form = forms.NameForm(
        safe(f"{pane.NAME}: only rows with these words"),
        pane.letters,
        trouble=lambda _text: "",
        hint=pane.LETTERS_HINT,
        longest=LONGEST_LETTERS,
    )
    app.push_screen(form, take)
