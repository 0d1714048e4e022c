"""A pane alone on a screen, and what it says as text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from keydesk.store.store import Store
from keydesk.widgets.lines import LinePane
from support.data.desk_data import NOW, frame_of
from support.fakes.quick_pilot import QuickTests


class PaneApp(QuickTests[None]):
    """One pane, and the messages that came out of it."""

    CSS = "Screen { padding: 0; } LinePane { height: 1fr; }"

    def __init__(self, pane: LinePane) -> None:
        super().__init__()
        self.pane = pane
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane


@asynccontextmanager
async def shown(
    pane: LinePane, store: Store, *, size: tuple[int, int] = (100, 12), now: float = NOW
) -> AsyncIterator[Pilot[None]]:
    """Show a pane with a store's first frame."""
    app = PaneApp(pane)
    async with app.run_test(size=size, message_hook=app.heard.append) as pilot:
        await pilot.pause()
        pane.on_frame(frame_of(store, now=now, everything=True))
        pane.focus()
        await pilot.pause()
        yield pilot


def text_of(pane: LinePane) -> list[str]:
    """The pane's lines as they read."""
    return [pane.render_line(y).text for y in range(pane.outer_size.height)]


Kind = TypeVar("Kind", bound=Message)


def heard(pilot: Pilot[None], kind: type[Kind]) -> list[Kind]:
    """The messages of a kind that the pane posted; each bubbles past the hook more than once."""
    app = pilot.app
    assert isinstance(app, PaneApp)
    return list({id(each): each for each in app.heard if isinstance(each, kind)}.values())
