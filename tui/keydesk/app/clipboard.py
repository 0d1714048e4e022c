"""Copying for other programs: the row, its id, all of a pane or a page, as text for the terminal's clipboard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from keydesk.tables.log import Log
from keydesk.tables.table_pane import TablePane
from keydesk.tables.trades import group_name
from keydesk.terminal.clipboard import REMEDY, clipboard_sequence, fitting, tmux_options
from keydesk.text.format import MINUS
from keydesk.text.sanitize import without_controls
from keydesk.widgets.lines import LinePane

if TYPE_CHECKING:
    from keydesk.app.window import DeskWindow

Part = Literal["row", "id", "pane"]
SHOWN_LENGTH = 30  # characters of what was copied, in the message


class Clipboard:
    """Copies what the trader looks at.

    Args:
        window: Has the focused pane and the store, which takes messages.
        write: Sends text to the terminal as it is.
        environment: Of the process: whether tmux or screen is around it.
    """

    def __init__(
        self, window: DeskWindow, write: Callable[[str], None], environment: Mapping[str, str]
    ) -> None:
        self._window, self._store, self._write = window, window.store, write
        self._environment = environment

    def copy_part(self, part: Part) -> None:
        """Copy a part of the focused pane; of one without rows its instrument, or all of it."""
        pane = self._window.app.focused
        if not isinstance(pane, LinePane):
            return
        selected = pane.selected if isinstance(pane, TablePane) else None
        if part == "id":
            self.copy("the id", [[self._id_in(pane, selected)]])
        elif part == "row" and isinstance(pane, TablePane):
            self._copy_row(pane, selected)
        else:
            self.copy("the pane", pane.text_rows())

    def _copy_row(self, pane: TablePane, selected: str | None) -> None:
        """Copy the row under the cursor; where there is none, say how to come to one."""
        if selected is not None:
            self.copy("the row", [pane.text_row(selected)])
            return
        part = self._window.keymap.name("copy-pane")
        text = f"Nothing to copy: no row here. Tab goes to a table, j and k to a row; {part} copies the pane"
        self._store.notify("info", text)

    def _id_in(self, pane: LinePane, selected: str | None) -> str:
        """Return the id of the row as the broker names it, else the instrument on the desk."""
        if isinstance(pane, Log):
            line = pane.line(selected)
            return line.id if line is not None else ""
        return group_name(selected or "") or selected or self._store.focus

    def copy(self, name: str, rows: Sequence[Sequence[str]]) -> None:
        """Copy rows of cells, and say so; cells are divided by tabs, for spreadsheets take those."""
        lines = ("\t".join(map(_plain, row)) for row in rows)
        whole = "\n".join(lines).strip("\n")
        if not whole.strip():
            self._store.notify("info", f"Nothing to copy: {name} is empty")
            return
        work = self._send(name, whole, fitting(whole))
        self._window.app.run_worker(work, "clipboard", group="settings")

    async def _send(self, name: str, whole: str, text: str) -> None:
        tmux = await asyncio.to_thread(tmux_options, self._environment)
        sequence = clipboard_sequence(text, self._environment, tmux)
        if not sequence:
            self._store.notify("warn", f"Not copied: {REMEDY}")
            return
        self._write(sequence)
        self._store.notify("info", copied_text(name, whole, text))


def copied_text(name: str, whole: str, text: str) -> str:
    """Return what is said of a copy: its beginning, and how much of it went out."""
    first = " ".join(text.split())
    shown = first if len(first) <= SHOWN_LENGTH else f"{first[:SHOWN_LENGTH]}…"
    lines = f"{text.count(chr(10)) + 1} lines"
    size = (
        f"{lines} of {whole.count(chr(10)) + 1}, the rest is too long" if text != whole else lines
    )
    more = f" ({size})" if "\n" in whole else ""
    return f"Copied {name}: {shown}{more}, where the terminal allows it (OSC 52)"


def _plain(cell: str) -> str:
    """Return a cell without what a terminal or a spreadsheet would take for something else."""
    return without_controls(cell).replace(MINUS, "-")
