"""The desk screen on its own, with a made-up store and one frame."""

from __future__ import annotations

from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.widgets.terminal_app import TerminalApp
from keydesk.widgets.theme import Depth
from support.data.desk_data import frame_of
from support.fakes.quick_pilot import QuickTests


class DeskApp(TerminalApp[None], QuickTests[None]):
    """The main screen in a theme."""

    def __init__(self, store: Store, theme_name: str = "dark", depth: Depth = "truecolor") -> None:
        super().__init__()
        self.store = store
        self.apply_theme(theme_name, depth)

    def on_mount(self) -> None:
        self.push_screen(DeskScreen())
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """One beat."""
        screen = self.screen
        assert isinstance(screen, DeskScreen)
        screen.on_frame(frame_of(self.store, everything=True))
