"""The base of tables whose rows belong to an instrument: trades, positions, orders and the watchlist."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from textual.message import Message

from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.table_pane import TablePane


class InstrumentRows(TablePane):
    """A table in which moving the cursor focuses the row's instrument."""

    @dataclass
    class Chosen(Message):
        """The user moved the cursor to a row of this instrument; the receiver calls `settle` when the desk shows it."""

        instrument: str
        pane: InstrumentRows

        def settle(self) -> None:
            """Report to the pane that the desk shows the instrument."""
            self.pane.choice_settled()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._choice = ""  # the instrument chosen last
        self._choices_pending = 0  # messages under way

    @property
    def pending_choice(self) -> str:
        """Return the instrument chosen last while the desk has not turned to it yet, else ""."""
        return self._choice if self._choices_pending else ""

    def choice_settled(self) -> None:
        """Take note that the desk has turned to the first of the pending choices."""
        self._choices_pending -= 1

    def on_frame(self, frame: Frame) -> None:
        """Draw what changed; the text without rows names the focused instrument."""
        super().on_frame(frame)
        if not self.keys and frame.touched(Topic.FOCUS):
            self.redraw()

    @abstractmethod
    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row; empty when the row is gone."""

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and focus its instrument, even if the cursor was there already."""
        before = self.cursor
        super().move_to(index)
        if self.cursor == before:
            self.moved()

    def moved(self) -> None:
        """Focus the instrument of the row under the cursor."""
        if self.selected is None or self.frame is None:
            return
        instrument = self.instrument_of(self.selected, self.frame.store)
        if instrument:
            self._choice = instrument
            self._choices_pending += 1
            self.post(self.Chosen(instrument, self))

    def entered(self) -> None:
        """Move the cursor to a row of the focused instrument; entering a pane never changes the focused instrument."""
        if self.frame is None:
            return
        store = self.frame.store
        if self.instrument_of(self.selected or "", store) != store.focus:
            here = (row for row, key in enumerate(self.keys) if self._is_on_the_desk(key, store))
            self.cursor = next(here, self.cursor)
            self.redraw()

    def _is_on_the_desk(self, key: str, store: Store) -> bool:
        return self.instrument_of(key, store) == store.focus
