"""The terminal of an app in a test gets another size."""

from typing import Any

from textual.geometry import Size
from textual.pilot import Pilot


async def resize(pilot: Pilot[Any], columns: int, rows: int) -> None:
    """Change the size, and wait until the screens in sight have it: Textual lays out by a timer, some milliseconds later."""
    size, app = Size(columns, rows), pilot.app
    await pilot.resize_terminal(columns, rows)
    screens = (app.screen, *app._background_screens)
    while any(each._compositor.size != size for each in screens):
        await pilot.pause(0.005)  # the time limit ends a wait in vain
    await pilot.pause()
