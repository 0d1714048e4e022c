"""The actions of the replay strip's keys: each commands the practice market, or opens the command line for that."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from keydesk import forms
from keydesk.app.actions.context import ActionContext
from keydesk.calc.replay_commands import STATUS, ReplayCommand


class ReplayActions:
    """Performs the keys of the replay strip.

    Args:
        context: What every action is given.
        open_command_line: Opens the command line with the beginning of a command.
    """

    def __init__(self, context: ActionContext, open_command_line: Callable[[str], None]) -> None:
        self._context, self._open_command_line = context, open_command_line

    def action_replay(self, name: str) -> None:
        """Carry out the command of a key, or let the trader type the rest of it."""
        command = self._context.desk.replay.key(name)
        if isinstance(command, str):
            self._open_command_line(command)
        elif command is not None:
            self.perform(command)

    def perform(self, command: ReplayCommand) -> None:
        """Carry out a command; the status is a page."""
        if command == STATUS:
            self._show_status()
        else:
            self._context.desk.replay.carry_out(command)

    def _show_status(self) -> None:
        self._context.app.push_screen(forms.MarketPage(self._context.store, monotonic))
