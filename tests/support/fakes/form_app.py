"""Five lines of app around one form, to drive it by keys alone."""

from collections.abc import Callable, Sequence
from typing import Any

from textual import on
from textual.screen import Screen

from keydesk.forms.modal_form import FormContext
from keydesk.forms.requests import PriceWanted, ThemePreview
from keydesk.keys.confirm import Letters
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.store.store import Store
from keydesk.widgets import theme
from support.data.desk_store import NOW, WALL_NS, example_store
from support.fakes.quick_pilot import QuickTests


def first_letter(letters: Sequence[str]) -> str:
    """Chance that always picks the first: the challenge letter is `c`."""
    return letters[0]


def example_context(
    store: Store | None = None, preset: int = 3, guard: GuardedKeys | None = None
) -> FormContext:
    """What a form is given in tests."""
    store = store or example_store()
    store.wall_ns = lambda: WALL_NS
    return FormContext(
        store=store,
        letters=Letters(first_letter),
        clock=lambda: NOW,
        guard=guard,
        preset=preset,
    )


class FormApp(QuickTests[None]):
    """Shows one form and keeps what it returned."""

    def __init__(self, form: Callable[[], Screen[Any]]) -> None:
        super().__init__()
        self.form = form
        self.results: list[object] = []
        self.prices_wanted: list[str] = []
        self.configuring = 0
        self.themes_shown: list[str] = []
        self.last_text = ""
        self.register_theme(theme.load("dark", "truecolor").textual())
        self.theme = "dark"

    def on_mount(self) -> None:
        """Open the form."""
        self.push_screen(self.form(), self.results.append)

    @on(PriceWanted)
    def note_price(self, message: PriceWanted) -> None:
        """Keep the instrument."""
        self.prices_wanted.append(message.instrument)

    def on_theme_preview(self, message: ThemePreview) -> None:
        """Keep the theme."""
        self.themes_shown.append(message.name)

    def on_configure_wanted(self) -> None:
        """Count."""
        self.configuring += 1

    @property
    def said(self) -> str:
        """The words on the screen, without their frames and gaps."""
        return " ".join(self.words.replace("┃", " ").split())

    @property
    def words(self) -> str:
        """Everything on the screen, as plain lines."""
        width, _ = self.size
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text[:width].rstrip() for strip in strips)
