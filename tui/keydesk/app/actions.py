"""The actions of the desk's keys: forms that they open and views that they change. No action sends an order."""

from __future__ import annotations

from decimal import Decimal
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.app import App
from textual.screen import ModalScreen

from keydesk import forms
from keydesk.app.availability import REPLAY_KEYS, Selection
from keydesk.app.desk_session import DeskLock
from keydesk.app.replay import MarketReplay
from keydesk.calc.market.indicator_specs import IndicatorChoice
from keydesk.calc.orders.instructions import Template
from keydesk.calc.orders.order_parser import ParsedOrder
from keydesk.calc.orders.ticket_draft import Entry, kind_at, limit_side
from keydesk.calc.replay_commands import STATUS, ReplayCommand
from keydesk.keys.guard import Cause, armed_by_hand
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.keys.keymap import KeyMap
from keydesk.panes.chart import Chart
from keydesk.panes.chart_prices import OwnLine, nearest_line
from keydesk.panes.deal import preset_shown
from keydesk.panes.strips import InstrumentLine
from keydesk.screens.desk import DeskScreen
from keydesk.store.risk import naked_trades
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.table import TablePane
from keydesk.widgets.terminal_app import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from keydesk.calc.command_parser import LayoutVerb, PageName, ParsedCommand, ViewCommand
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.calc.orders.ticket_draft import Side
    from keydesk.chart.price_axis import PriceLine
    from keydesk.config.limits import LimitChange
    from keydesk.forms.info_form import Rows
    from keydesk.forms.sheet import FormContext

Decided = TypeVar("Decided", bound="Instruction")
TO_READ_NS = 1_000_000_000  # what came just now was not read yet: Esc was meant for something else
_OF_INSTRUMENTS = frozenset(("trades", "orders", "positions"))  # Enter chooses the row's
_LISTS = _OF_INSTRUMENTS | {"log"}


class Desk(Protocol):
    """The desk that the actions work on; the application is one."""

    def form_context(self) -> FormContext: ...
    def carry_out(self, instruction: Instruction | None) -> None: ...
    def disarm(self, cause: Cause) -> None: ...
    def tell(self, level: NoticeLevel, words: str) -> None: ...
    def leave(self, code: int = 0) -> None: ...
    def key_context(self) -> str: ...
    def keep_indicators(self, choice: IndicatorChoice | None) -> None: ...
    def keep_limits(self, changes: Sequence[LimitChange] | None) -> None: ...
    def record(self, what: str, words: str) -> None: ...
    def show_audit(self) -> None: ...
    def unlock_early(self, yes: bool | None) -> None: ...
    def use_layout(self, verb: LayoutVerb, name: str) -> None: ...
    @property
    def replay(self) -> MarketReplay: ...
    def read_summary(self, take: Callable[[Rows], None]) -> None: ...


class DeskActions:
    """The actions of the desk's keys: each opens a form or changes what is shown.

    Args:
        app: Shows the forms.
        desk: Carries out what the forms return.
        store: The state of account and market.
        keymap: The keys, as messages name them.
        template: The sizes and the bracket of new trades.
        lock: Keeps the desk exit-only while another login has set it.
    """

    def __init__(
        self,
        app: App[Any],
        desk: Desk,
        *,
        store: Store,
        keymap: KeyMap,
        template: Template,
        lock: DeskLock,
    ) -> None:
        self._app, self._desk = app, desk
        self.store, self.keymap, self.template, self.lock = store, keymap, template, lock
        self.preset = 3

    def perform(self, name: str, *arguments: object) -> None:
        """Perform the action of a key, by its name in the key map, on the row that the key before it chose."""
        if chosen := self.screen.pending_choice:
            self.store.set_focus(chosen)
        action = getattr(self, f"action_{name}")
        action(*arguments)

    def ask(self, form: ModalScreen[Decided | None]) -> None:
        """Open a form and carry out the instruction that it returns."""
        self._app.push_screen(form, self._desk.carry_out)

    # What is selected.

    @property
    def screen(self) -> DeskScreen:
        """The main screen, even when a form is open on it."""
        return next(each for each in self._app.screen_stack if isinstance(each, DeskScreen))

    def selection(self) -> Selection:
        """Return the focused pane and the selected rows, on which a key acts."""
        focused = self._app.focused
        return Selection(
            focused.id or "" if focused is not None else "",
            *(self._row_of(name) for name in ("trades", "positions", "orders")),
        )

    def _row_of(self, name: str) -> str | None:
        pane = self.screen.pane(name)
        return pane.selected if isinstance(pane, TablePane) else None

    # Money: each opens a form.

    def action_buy(self) -> None:
        """Open a buy ticket, at the price of the crosshair while it is on."""
        self._ticket_here("BUY")

    def action_sell(self) -> None:
        """Open a sell ticket, at the price of the crosshair while it is on."""
        self._ticket_here("SELL")

    def action_limit(self) -> None:
        """Open a limit ticket at the price of the crosshair: bought below the market, sold above it."""
        pointed = self._pointed_at()
        quote = None if pointed is None else self.store.quotes.get(pointed[0])
        if pointed is None:
            chart, crosshair = self.keymap.name("go-chart"), self.keymap.name("crosshair")
            self._desk.tell("info", f"Point at a price first: {chart}, then {crosshair}")
        elif quote is None:
            self._say_no_price(pointed[0])
        else:
            self._ticket_here(limit_side(pointed[1], quote.bid, quote.ask))

    def _pointed_at(self) -> tuple[str, Decimal] | None:
        """Return instrument and price of the crosshair of the chart that has the keys; None while it is off."""
        chart = self._app.focused
        price = chart.crosshair_price if isinstance(chart, Chart) else None
        if not isinstance(chart, Chart) or price is None:
            return None
        return chart.shown[0], price

    def _ticket_here(self, side: Side) -> None:
        pointed = self._pointed_at()
        if pointed is None:
            self._ticket(side, self.store.focus)
            return
        instrument, price = pointed
        quote = self.store.quotes.get(instrument)
        if quote is None:
            self._say_no_price(instrument)
            return
        kind = kind_at(side, price, quote.bid, quote.ask)
        self._turn_to(instrument)  # a chart may be pinned to another than the desk's
        self._ticket(side, instrument, ParsedOrder(kind=kind, price=Entry(f"{price:f}", "price")))

    def _say_no_price(self, instrument: str) -> None:
        self._desk.tell("info", f"Waiting for a price of {pair(instrument)}")

    def _ticket(self, side: Side, instrument: str, fields: ParsedOrder | None = None) -> None:
        if self.screen.is_too_small:
            self._say_too_small()
            return
        if instrument:
            self.ask(forms.TicketForm(self._desk.form_context(), side, instrument, fields))
        else:
            self._desk.tell("info", "The account's instruments are still being read")

    def _say_too_small(self) -> None:
        """Say why no form that opens a trade opens: the terminal does not show what it opens on."""
        close, flatten = self.keymap.name("close"), self.keymap.name("flatten")
        needed = f"{SMALLEST.width}×{SMALLEST.height}"
        words = f"No new trade below {needed} cells. {close} closes, {flatten} flattens"
        self._desk.tell("info", words)

    def action_close(self) -> None:
        """Close the selected trade, or the position."""
        selection = self.selection()
        trade = selection.trade(self.store)
        if selection.means_position(self.store) and selection.trades(self.store):
            instrument = selection.instrument(self.store)
            form = forms.ClosePositionForm(self._desk.form_context(), instrument)
            self._app.push_screen(form, self._desk.carry_out)
        elif trade is not None:
            self.ask(forms.CloseForm(self._desk.form_context(), trade.instrument, [trade.id]))
        else:
            self._nothing_to("close")

    def action_scale_out(self) -> None:
        """Close a part of the selected trade, or of the position."""
        selection = self.selection()
        if selection.means_position(self.store) and selection.trades(self.store):
            instrument = selection.instrument(self.store)
            form = forms.PositionPartForm(self._desk.form_context(), instrument)
            self._app.push_screen(form, self._desk.carry_out)
        else:
            self._on_trade(forms.ScaleOutForm, "close a part of")

    def action_break_even(self) -> None:
        """Move the selected trade's stop to break-even."""
        self._on_trade(forms.BreakEvenForm, "move to break-even")

    def action_protect(self) -> None:
        """Add the template's stop and target to the selected trade."""
        self._on_trade(forms.ProtectForm, "protect")

    def action_trailing(self) -> None:
        """Set a trailing stop on the selected trade."""
        self._on_trade(forms.TrailingForm, "trail")

    def action_modify(self) -> None:
        """Move stop and target of the selected trade, or the selected order itself."""
        selection, pointed = self.selection(), self._pointed_at()
        line = None if pointed is None else nearest_line(self.store, *pointed)
        if line is not None:
            self._modify_line(line)
            return
        order = selection.order(self.store) if selection.pane == "orders" else None
        if order is None:
            self._on_trade(forms.ProtectionForm, "modify")
        elif order.trade_id is None:
            self.ask(forms.MoveForm(self._desk.form_context(), order.id))
        else:
            self.ask(forms.ProtectionForm(self._desk.form_context(), order.trade_id))

    def _modify_line(self, line: OwnLine) -> None:
        """Move the line nearest to the crosshair: an entry order, or a level of a trade."""
        context = self._desk.form_context()
        if line.trade_id is None or line.name is None:
            self.ask(forms.MoveForm(context, line.order_id))
            return
        form = forms.ProtectionForm(context, line.trade_id)
        form.subject = f"the {line.name} nearest to the crosshair"
        form.start_on(line.name)
        self.ask(form)

    def _on_trade(
        self, form: type[forms.ScaleOutForm | forms.BreakEvenForm | forms.ProtectionForm], verb: str
    ) -> None:
        selection = self.selection()
        trade, held = selection.trade(self.store), selection.trades(self.store)
        if trade is not None:
            opened = form(self._desk.form_context(), trade.id)
            if selection.pane == "positions":
                opened.subject = "the only trade of the position"
            self._app.push_screen(opened, self._desk.carry_out)
        elif held:
            opened = form(self._desk.form_context(), held[0].id)
            opened.choose_among([each.id for each in held])
            self._app.push_screen(opened, self._desk.carry_out)
        else:
            self._nothing_to(verb)

    def _nothing_to(self, verb: str) -> None:
        instrument = self.selection().instrument(self.store)
        self._desk.tell("info", f"Nothing to {verb}: no open trade in {pair(instrument)}")

    def action_cancel_order(self) -> None:
        """Cancel the selected order."""
        order = self.selection().order(self.store)
        if order is not None:
            self.ask(forms.CancelForm(self._desk.form_context(), order.id))
        else:
            orders = self.keymap.name("go-orders")
            self._desk.tell("info", f"Nothing to cancel: select an order with {orders}")

    def action_cancel_entries(self) -> None:
        """Cancel entry orders, of the instrument or of all."""
        self.ask(
            forms.CancelEntriesForm(
                self._desk.form_context(), self.selection().instrument(self.store)
            )
        )

    def action_reverse(self) -> None:
        """Turn the position round."""
        instrument = self.selection().instrument(self.store)
        if self.screen.is_too_small:
            self._say_too_small()
            return
        if instrument in self.store.positions:
            self.ask(forms.ReverseForm(self._desk.form_context(), instrument))
        else:
            self._nothing_to("reverse")

    def action_flatten(self) -> None:
        """Close everything, or everything in the instrument."""
        self.ask(
            forms.FlattenForm(self._desk.form_context(), self.selection().instrument(self.store))
        )

    def action_arm(self) -> None:
        """Disarm at once, or ask for what arms."""
        if self.store.arming.level == "ARMED":
            self._desk.disarm(Cause.BY_HAND)
        elif self.lock.is_on:
            self._desk.tell(
                "warn", "Locked from another login. Take it off: keydesk lock --release"
            )
        elif self.store.loss_lock.is_on:
            form = forms.UnlockForm(self._desk.form_context())
            self._app.push_screen(form, self._desk.unlock_early)
        else:
            self._app.push_screen(forms.ArmForm(self._desk.form_context()), self._arm_if_confirmed)

    def _arm_if_confirmed(self, yes: bool | None) -> None:
        if yes and not self.lock.is_on and not self.store.loss_lock.is_on:
            self.store.arming = armed_by_hand(self.store.arming)
            self._desk.record("arm", self.store.arming.reason)
            self.store.mark(Topic.ARMING)

    # Looking.

    def action_preset(self, number: int) -> None:
        """Make a size preset the active one."""
        self.preset = number
        self.show_preset()

    def show_preset(self) -> None:
        """Show the active size preset where B and S are explained."""
        shown = preset_shown(self.template, self.preset)
        self.screen.deal.take(shown)
        for chart in self.screen.query(Chart):
            chart.preset_units = shown.units
        self.screen.query_one(InstrumentLine).take(shown.words)

    def dock_columns(self) -> int:
        """Return the columns beside chart and watchlist that a form may cover."""
        return self.screen.dock_columns

    def show_plan(self, instrument: str, lines: Sequence[PriceLine]) -> None:
        """Draw the prices of an open form on the charts of its instrument."""
        for screen in self._app.screen_stack:
            for chart in screen.query(Chart):
                chart.plan(lines if instrument == chart.shown[0] else ())

    def action_find(self) -> None:
        """Find an instrument by some of its letters."""
        self._app.push_screen(forms.FindForm(self.store), self._turn_to)

    def _turn_to(self, instrument: str | None) -> None:
        if instrument:
            self.store.set_focus(instrument)

    def action_timeframes(self) -> None:
        """Choose among all timeframes."""
        self._app.push_screen(forms.TimeframeForm(self.store.granularity), self._show_timeframe)

    def _show_timeframe(self, granularity: str | None) -> None:
        if granularity:
            self.store.set_granularity(granularity)

    def action_indicators(self) -> None:
        """Choose the indicators of the instrument in the chart."""
        if self.store.focus:
            form = forms.IndicatorForm(self.store, self.keymap)
            self._app.push_screen(form, self._desk.keep_indicators)

    def show_page(self, name: PageName) -> None:
        """Show a page by its name on the command line."""
        match name:
            case "limits":
                self.action_limits()
            case "sessions":
                self.action_sessions()
            case "audit":
                self._desk.show_audit()

    def action_sessions(self) -> None:
        """Show the market hours."""
        context = self._desk.form_context()
        self._app.push_screen(forms.SessionsForm(self.store, context.wall_ns))

    def action_limits(self) -> None:
        """Show the trader's limits, and change them."""
        form = forms.LimitsForm(self._desk.form_context())
        self._app.push_screen(form, self._desk.keep_limits)

    def action_command_line(self, text: str = "") -> None:
        """Open the command line, with the beginning of a command."""
        self._app.push_screen(forms.CommandForm(self.store, text), self._run_command)

    def action_replay(self, name: str) -> None:
        """Carry out the command of a key on the practice market, or open the command line for it."""
        command = self._desk.replay.key(name)
        if isinstance(command, str):
            self.action_command_line(command)
        elif command is not None:
            self._replay(command)

    def _replay(self, command: ReplayCommand) -> None:
        if command == STATUS:
            from keydesk.forms.account.pages import LivePage  # noqa: PLC0415 - with the first form
            from keydesk.forms.market.replay import market_rows  # noqa: PLC0415

            rows = lambda: market_rows(self.store, monotonic())  # noqa: E731
            self._app.push_screen(LivePage("The practice market", rows))
        else:
            self._desk.replay.carry_out(command, self._app)

    def _run_command(self, command: ParsedCommand | None) -> None:
        from keydesk.calc.command_parser import (  # noqa: PLC0415
            OpenTicket,
            QuitDesk,
            ShowHelp,
            ShowInstrument,
            ShowMessage,
            ShowMessages,
            ShowPage,
        )

        match command:
            case QuitDesk():
                self.leave()
            case ShowHelp():
                self.action_help()
            case ShowMessages():
                self._show_messages()
            case ShowPage(name):
                self.show_page(name)
            case ShowInstrument(instrument):
                self._turn_to(instrument)
            case OpenTicket(side, instrument, fields):
                self._turn_to(instrument)  # the chart beside a ticket is its own
                self._ticket(side, instrument, fields)
            case ShowMessage(level, words):
                self._desk.tell(level, words)
            case ReplayCommand():
                self._replay(command)
            case None:
                pass
            case _:
                self._show_view(command)

    def _show_view(self, command: ViewCommand) -> None:
        """Change what chart and panes show."""
        from keydesk.calc.command_parser import (  # noqa: PLC0415
            ChooseIndicators,
            GoToDate,
            ShowGranularity,
            UseLayout,
        )

        match command:
            case ShowGranularity(granularity):
                self.screen.show_granularity(granularity)
            case UseLayout(verb, name):
                self._desk.use_layout(verb, name)
            case GoToDate(date):
                self.screen.chart.go_to_date(date)
            case ChooseIndicators(specs):
                self._desk.keep_indicators(IndicatorChoice(self.store.focus, specs))

    def leave(self) -> None:
        """Leave the desk; open trades without a stop ask once."""
        if naked_trades(self.store):
            self._app.push_screen(forms.LeaveForm(self.store), self._leave_if_sure)
        else:
            self._desk.leave()

    def _leave_if_sure(self, yes: bool | None) -> None:
        if yes:
            self._desk.leave()

    def _show_messages(self) -> None:
        from keydesk.forms.info_form import (  # noqa: PLC0415 - with the first form
            notice_rows,
        )

        self._app.push_screen(forms.DetailsForm("Messages", notice_rows(self.store)))

    def action_help(self) -> None:
        """Show the keys of the focused pane."""

        def left_out(id_: str) -> bool:
            return id_.startswith(REPLAY_KEYS) and self.store.market is None

        self._app.push_screen(forms.HelpForm(self.keymap, self._desk.key_context(), left_out))

    def action_account_page(self) -> None:
        """Show the account in full, and what else the broker says of it once that is read."""
        from keydesk.forms.account.pages import LivePage, account_rows  # noqa: PLC0415 - with the first form

        page = LivePage("Account", lambda: account_rows(self.store, monotonic()))
        self._app.push_screen(page)
        self._desk.read_summary(page.take_more)

    def action_exposure_page(self) -> None:
        """Show the exposure by currency."""
        from keydesk.forms.account.pages import LivePage, exposure_rows  # noqa: PLC0415 - with the first form

        rows = lambda: exposure_rows(self.store, monotonic())  # noqa: E731
        self._app.push_screen(LivePage("Exposure by currency", rows))

    def action_instrument_page(self) -> None:
        """Show the price and the terms of the instrument that the keys act on."""
        from keydesk.forms.account.pages import (  # noqa: PLC0415 - with the first form
            LivePage,
            instrument_page_rows,
        )

        name, size = self.selection().instrument(self.store), self.template.sizes.get(self.preset)
        if name:
            rows = lambda: instrument_page_rows(name, self.store, monotonic(), size)  # noqa: E731
            self._app.push_screen(LivePage("Instrument", rows))

    def action_details(self) -> None:
        """Show everything that is known of the selected row."""
        title, rows = self._details()
        self._app.push_screen(forms.DetailsForm(title, rows))

    def _details(self) -> tuple[Printable, Rows]:
        from keydesk.forms.info_form import (  # noqa: PLC0415 - with the first form
            instrument_rows,
            log_line_rows,
            order_rows,
            position_rows,
            trade_rows,
        )

        store, selection = self.store, self.selection()
        row = self._row_of(selection.pane) if selection.pane in _LISTS else None
        if selection.pane in _OF_INSTRUMENTS and (chosen := selection.instrument(store)):
            store.set_focus(chosen)
        match selection.pane:
            case "trades" if trade := store.trades.get(row or ""):
                return safe(f"Trade #{clean_name(trade.id)}"), trade_rows(trade, store)
            case "orders" if order := store.orders.get(row or ""):
                return safe(f"Order #{clean_name(order.id)}"), order_rows(order, store)
            case "positions" if position := store.positions.get(row or ""):
                return "Position", position_rows(position, store)
            case "log" if row is not None and int(row) < len(store.log):
                return "Transaction", log_line_rows(store.log[int(row)], store)
            case _:
                return "Instrument", instrument_rows(store.focus, store)

    def action_step_back(self) -> None:
        """Go one step back: the crosshair goes, else what waited to be seen was seen, else all panes are shown again."""
        chart = self._app.focused
        if isinstance(chart, Chart) and chart.crosshair_price is not None:
            chart.turn_crosshair_off()
        elif not self.store.see_notices(time_ns() - TO_READ_NS):
            self.screen.show_all()
