"""The command line, and the keys of the replay strip: each opens a form or a page, changes what is shown, or commands the practice market."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from keydesk import forms
from keydesk.app.actions.context import ActionContext
from keydesk.app.actions.pages import PageActions
from keydesk.app.actions.trades import TicketActions, TradeActions
from keydesk.calc.market.indicator_specs import IndicatorChoice
from keydesk.parse.replay import STATUS, ReplayCommand

if TYPE_CHECKING:
    from keydesk.parse.commands import ParsedCommand, ViewCommand


class CommandActions:
    """Reads the command line and performs what was typed.

    Args:
        context: What every action is given.
        tickets: Opens a typed order as a ticket.
        pages: Shows a page by its name.
        leave: Leaves the desk.
        trades: Opens forms for the selected trade.
    """

    def __init__(
        self,
        context: ActionContext,
        tickets: TicketActions,
        pages: PageActions,
        leave: Callable[[], None],
        trades: TradeActions,
    ) -> None:
        self._context, self._desk, self._store = context, context.desk, context.store
        self._tickets, self._pages, self._leave = tickets, pages, leave
        self.replay = ReplayActions(context, self.action_command_line)
        self._trades = trades

    def action_command_line(self, text: str = "") -> None:
        """Open the command line, with the beginning of a command."""
        form = forms.CommandForm(self._store, text, self._context.services.alert_trouble)
        self._context.app.push_screen(form, self._run_command)

    def _run_command(  # noqa: C901 - one branch a command
        self, command: ParsedCommand | None
    ) -> None:
        from keydesk.parse.commands import (  # noqa: PLC0415
            MakeAlert,
            OpenTicket,
            QuitDesk,
            ShowHelp,
            ShowInstrument,
            ShowMessage,
            ShowMessages,
            ToggleMute,
        )
        from keydesk.parse.pages import ShowPage  # noqa: PLC0415

        match command:
            case QuitDesk():
                self._leave()
            case ShowHelp():
                self._pages.action_help()
            case ShowMessages():
                self._pages.show_messages()
            case ShowPage(name="plan" | "tag" | "note" as form):
                trades = self._trades
                act = {"plan": trades.action_exit_plan, "tag": trades.action_labels}
                act.get(form, trades.action_note)()
            case ShowPage() as page:
                self._pages.show_page(page)
            case ShowInstrument(instrument):
                self._context.turn_to(instrument)
            case OpenTicket(side, instrument, fields):
                self._context.turn_to(instrument)  # the chart beside a ticket is its own
                self._tickets.open_ticket(side, instrument, fields)
            case MakeAlert(line):
                self._context.services.make_alert(line)
            case ToggleMute():
                self._context.services.toggle_mute()
            case ShowMessage(level, words):
                self._desk.tell(level, words)
            case None:
                pass
            case _:
                self._change_view(command)

    def _change_view(self, command: ViewCommand | ReplayCommand) -> None:
        """Change what chart and panes show, or the practice market."""
        from keydesk.parse.commands import (  # noqa: PLC0415
            ChooseIndicators,
            GoToDate,
            ShowGranularity,
            UseLayout,
        )

        match command:
            case ReplayCommand():
                self.replay.perform(command)
            case ShowGranularity(granularity):
                self._context.screen.show_granularity(granularity)
            case UseLayout(verb, name):
                self._context.services.use_layout(verb, name)
            case GoToDate(date):
                self._context.screen.chart.go_to_date(date)
            case ChooseIndicators(specs):
                self._context.services.apply_indicators(IndicatorChoice(self._store.focus, specs))


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
        command = self._context.services.replay.key(name)
        if isinstance(command, str):
            self._open_command_line(command)
        elif command is not None:
            self.perform(command)

    def perform(self, command: ReplayCommand) -> None:
        """Carry out a command; the status is a page."""
        if command == STATUS:
            self._show_status()
        else:
            self._context.services.replay.execute(command)

    def _show_status(self) -> None:
        self._context.app.push_screen(forms.MarketPage(self._context.store, monotonic))
