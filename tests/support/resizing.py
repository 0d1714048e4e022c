"""The terminal of an app in a test gets another size."""

import asyncio
from typing import Any

from textual.app import App
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

LAID_OUT_WITHIN = 120.0  # seconds; long enough for a busy machine


async def resize(pilot: Pilot[Any], columns: int, rows: int) -> None:
    """Change the size, and wait until the screens in sight have it.

    Raises:
        Exception: what the app has raised, which ended it.
        TimeoutError: a screen did not get the size.
    """
    await pilot.resize_terminal(columns, rows)
    await laid_out(pilot, columns, rows)
    await pilot.pause()


async def laid_out(pilot: Pilot[Any], columns: int, rows: int) -> None:
    """Wait until the screens in sight have the size: Textual lays out by a timer, some milliseconds later."""
    size, app = Size(columns, rows), pilot.app
    try:
        async with asyncio.timeout(LAID_OUT_WITHIN):
            while any(each._compositor.size != size for each in in_sight(app)):
                if app._exception is not None:
                    raise app._exception
                await pilot.pause(0.005)
    except TimeoutError:
        sizes = [(each, each.size, each._compositor.size) for each in in_sight(app)]
        told = f"app {app.size}, waiting {app._resize_event}, timer {app._resize_timer}, {sizes}"
        raise TimeoutError(told) from None


def in_sight(app: App[Any]) -> list[Screen[Any]]:
    """Return the screens that can be seen, the active one first."""
    return [app.screen, *app._background_screens]
