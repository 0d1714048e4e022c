"""The command line, and the keys of the replay strip: each opens a form or a page, changes what is shown, or commands the practice market."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, assert_never

from textual import actions

from keydesk.app.actions.pages import PageActions
from keydesk.app.actions.trades import TicketActions
from keydesk.app.availability import reason_against
from keydesk.calc.market.indicator_specs import IndicatorChoice
from keydesk.keys.keymap import KEYS
from keydesk.parse.pages import PAGES, ShowOrders, ShowPage
from keydesk.parse.replay import STATUS, ReplayCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    from keydesk.app.accounts.sign_in import SignIn
    from keydesk.app.actions.shutdown_flow import ShutdownFlow
    from keydesk.app.desk import TradingDesk
    from keydesk.forms.command_list import CommandList, RunKey, SetOption
    from keydesk.parse.parsed_commands import AccountVerb, ParsedCommand

ACTIONS = {key.id: key.action for key in KEYS}


class CommandActions:
    """Reads the command line and performs what was typed.

    Args:
        desk: Has what a command changes.
        shutdown: Ends the desk.
        tickets: Opens a typed order as a ticket.
        pages: Shows a page by its name.
        perform: Performs the action of a key of the desk.
        sign_in: Signs in and opens other accounts.
    """

    def __init__(
        self,
        desk: TradingDesk,
        shutdown: ShutdownFlow,
        tickets: TicketActions,
        pages: PageActions,
        *,
        perform: Callable[..., None],
        sign_in: SignIn,
    ) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store
        self._shutdown = shutdown
        self._tickets, self._pages = tickets, pages
        self._perform, self._sign_in = perform, sign_in

    def action_command_line(self, text: str = "") -> None:
        """Open the command line, with the beginning of a command."""
        from keydesk.forms.command_line import CommandForm  # noqa: PLC0415 - with the first form

        form = CommandForm(self._store, text, self._commands())
        self._window.app.push_screen(form, self._run)

    def _commands(self) -> CommandList:
        from keydesk.forms.command_list import CommandList  # noqa: PLC0415 - with the first form

        selection = self._window.selection()
        return CommandList(
            self._window.keymap,
            self._desk.guarded_keys.key_context(),
            lambda id_: reason_against(id_, self._store, selection),
            self._desk.command_history,
            self._desk.look.choices,
        )

    def _set(self, option: SetOption) -> None:
        """Change how the desk looks, or open another account."""
        if option.name == "profile":
            self._sign_in.open(option.value)
        else:
            self._desk.look.apply(option)

    def _run(self, command: ParsedCommand | RunKey | SetOption | None) -> None:
        """Run what the command line returned, and keep its line."""
        from keydesk.forms.command_list import RunKey, SetOption  # noqa: PLC0415 - with the first form

        if command is not None:
            keeping = asyncio.to_thread(self._desk.command_history.save)
            self._window.app.run_worker(keeping, "command history", group="settings")
        if isinstance(command, SetOption):
            self._set(command)
        elif isinstance(command, RunKey):
            if command.pane:
                self._window.screen.action_go(command.pane)
            self._window.app.call_next(self._desk.guarded_keys.run_key_action, command.action)
        else:
            self._run_command(command)

    def _run_command(  # noqa: C901, PLR0912 - one branch a command
        self, command: ParsedCommand | None
    ) -> None:
        from keydesk.parse import parsed_commands as parsed  # noqa: PLC0415 - with the first form

        desk, window = self._desk, self._window
        match command:
            case parsed.QuitDesk():
                self._shutdown.ask_or_leave()
            case parsed.ShowHelp():
                self._pages.action_help()
            case parsed.ShowMessages():
                self._pages.show_messages()
            case ShowPage() as page:
                self._show_page(page)
            case ShowOrders(state):
                desk.transactions.show_orders(state)
            case parsed.ShowInstrument(instrument):
                window.select(instrument)
            case parsed.OpenTicket(side, instrument, fields):
                window.select(instrument)  # the chart beside a ticket is its own
                self._tickets.open_ticket(side, instrument, fields)
            case parsed.MakeAlert(line):
                desk.alerts.make(line)
            case parsed.ToggleMute():
                desk.alerts.toggle_mute()
            case parsed.AccountCommand(verb, name):
                self._change_account(verb, name)
            case parsed.BeginTour():
                desk.tour.begin()
            case parsed.ShowGranularity(granularity):
                window.screen.show_granularity(granularity)
            case parsed.GoToDate(date):
                window.screen.chart.go_to_date(date)
            case parsed.ChooseIndicators(specs):
                desk.settings.apply_indicators(IndicatorChoice(self._store.focus, specs))
            case parsed.UseLayout(verb, name):
                desk.workspaces.use(verb, name)
            case ReplayCommand():
                perform_replay(desk, command)
            case parsed.ShowMessage(level, words):
                self._store.notify(level, words)
            case None:
                pass
            case _:
                assert_never(command)

    def _show_page(self, page: ShowPage) -> None:
        """Show a page: what its key does, or its action."""
        declared = PAGES[page.name]
        if page.instrument:
            self._pages.show_instrument(page.instrument)
        else:
            _, name, arguments = actions.parse(declared.action or ACTIONS[declared.key])
            self._perform(name, *arguments)

    def _change_account(self, verb: AccountVerb, name: str) -> None:
        match verb:
            case "login":
                self._sign_in.begin(name)
            case "logout":
                self._sign_in.end(name)
            case "profile":
                self._sign_in.choose()


class ReplayActions:
    """Performs the keys of the replay strip.

    Args:
        desk: Has the market.
        commands: Opens the command line with the beginning of a command.
    """

    def __init__(self, desk: TradingDesk, commands: CommandActions) -> None:
        self._desk, self._commands = desk, commands

    def action_replay(self, name: str) -> None:
        """Carry out the command of a key, or let the trader type the rest of it."""
        command = self._desk.replay.key(name)
        if isinstance(command, str):
            self._commands.action_command_line(command)
        elif command is not None:
            perform_replay(self._desk, command)


def perform_replay(desk: TradingDesk, command: ReplayCommand) -> None:
    """Carry out a command of the practice market; the status is a page."""
    from keydesk.forms.market.replay_page import ReplayPage  # noqa: PLC0415 - with the first form

    def start(chosen: ReplayCommand | None) -> None:
        if chosen is not None:
            desk.replay.execute(chosen)

    if command == STATUS:
        page = ReplayPage(desk.store, monotonic, desk.pages.audit, desk.window.keymap)
        desk.window.app.push_screen(page, start)
    else:
        desk.replay.execute(command)
