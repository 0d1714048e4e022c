"""Rows that belong to an instrument: a key that moves the cursor turns the desk to the instrument of its row."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from keydesk.store.store import Store
from keydesk.widgets.table import TablePane


class InstrumentRows(TablePane):
    """Trades, positions, orders: what `C` closes in a row and what `B` would buy are one instrument."""

    @dataclass
    class Chosen(Message):
        """The trader turned to a row of this instrument."""

        instrument: str

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row; nothing when the row is gone."""
        raise NotImplementedError

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and turn the desk to it, also where the cursor stood there already."""
        before = self.cursor
        super().move_to(index)
        if self.cursor == before:
            self.moved()

    def moved(self) -> None:
        """Turn the desk to the row under the cursor."""
        if self.selected is None or self.frame is None:
            return
        instrument = self.instrument_of(self.selected, self.frame.store)
        if instrument:
            self.post_message(self.Chosen(instrument))

    def entered(self) -> None:
        """Go to a row of the instrument on the desk; coming to a pane never turns the desk to another one."""
        if self.frame is None:
            return
        store = self.frame.store
        if self.instrument_of(self.selected or "", store) != store.focus:
            here = (row for row, key in enumerate(self.keys) if self._is_on_the_desk(key, store))
            self.cursor = next(here, self.cursor)
            self.redraw()

    def _is_on_the_desk(self, key: str, store: Store) -> bool:
        return self.instrument_of(key, store) == store.focus
