"""The desk with all its keys and forms over a made-up store: what a form decides is kept, nothing is sent."""

from __future__ import annotations

from typing import Literal

from textual import events

from keydesk.app.actions import DeskActions
from keydesk.calc.instructions import Instruction, Template
from keydesk.forms.sheet import FormContext
from keydesk.keys.guard import Cause
from keydesk.screens.desk import DeskScreen
from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.trading.journal import DeskLock
from keydesk.widgets.terminal_app import TerminalApp
from keydesk.widgets.theme import Depth
from support.data.desk_data import NOW, WALL_NS, desk_store, frame_of
from support.fakes.form_app import example_context


class WorkingDesk(DeskActions, TerminalApp[int], inherit_bindings=False):
    """The main screen, its actions and its forms; keys pass without the guard, whose clock is a person's."""

    CSS_PATH = DeskScreen.CSS_PATH

    def __init__(
        self, lock: DeskLock, depth: Depth = "truecolor", *, ascii_only: bool = False
    ) -> None:
        super().__init__()
        self.store: Store = desk_store(20)
        self.template, self.preset, self.lock = Template(), 3, lock
        self.decided: list[Instruction] = []
        self.dress("dark", depth, ascii_only=ascii_only)

    def get_default_screen(self) -> DeskScreen:
        """Start on the desk."""
        return DeskScreen()

    def on_mount(self) -> None:
        self.animation_level = "none"
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """One beat for the desk and for the forms over it."""
        frame = frame_of(self.store, everything=True)
        for screen in self.screen_stack:
            on_frame = getattr(screen, "on_frame", None)
            if on_frame is not None:
                on_frame(frame)

    def form_context(self) -> FormContext:
        return FormContext(
            store=self.store,
            letters=example_context().letters,
            clock=lambda: NOW,
            wall_ns=lambda: WALL_NS,
        )

    def carry_out(self, instruction: Instruction | None) -> None:
        if instruction is not None:
            self.decided.append(instruction)

    def disarm(self, cause: Cause) -> None:
        """Stay armed: the forms are to be reached."""

    def tell(self, level: Literal["info", "good", "warn", "bad"], words: str) -> None:
        self.store.notify(Notice(level, words, WALL_NS))

    def leave(self, code: int = 0) -> None:
        """Stay: leaving is not what is tried."""

    async def _judge(self, event: events.Key) -> None:
        await self._let_through(event)
