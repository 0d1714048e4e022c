"""Actions that show a page to read: account, instrument, details of a row, market hours, limits, messages, help; and alerts."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from keydesk.app.availability import REPLAY_KEYS
from keydesk.tables.log import Log
from keydesk.text.sanitize import Printable, clean_name, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keydesk.app.accounts.sign_in import SignIn
    from keydesk.app.desk import TradingDesk
    from keydesk.app.settings.settings_page import SettingsPage
    from keydesk.forms.details_form import Rows

_OF_INSTRUMENTS = frozenset(("trades", "orders", "positions"))  # Enter chooses the row's


class PageActions:
    """Opens the pages over the desk."""

    def __init__(self, desk: TradingDesk, sign_in: SignIn, settings: SettingsPage) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store
        self._sign_in, self._settings = sign_in, settings

    def action_accounts(self) -> None:
        self._sign_in.show_accounts()

    def action_audit(self) -> None:
        self._desk.pages.show_audit()

    def action_settings(self) -> None:
        """Show how the desk looks and notifies, and change it."""
        self._settings.show()

    def action_statistics(self, view: int = 1) -> None:
        self._desk.statistics.show(view)

    def action_day_page(self) -> None:
        self._desk.statistics.show_day()

    def action_week(self) -> None:
        self._desk.statistics.show_day(week=True)

    def action_sessions(self) -> None:
        from keydesk.forms.account.sessions import SessionsForm  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(SessionsForm(self._store, lambda: self._store.now_ns))

    def action_outcomes(self) -> None:
        """Show what became of the orders."""
        self._desk.pages.show_outcomes()

    def action_journal(self) -> None:
        """Show the trades of the account, and what was written about them."""
        self._desk.journal.show()

    def action_limits(self) -> None:
        """Show the trader's limits, and change them."""
        from keydesk.forms.account.limits import LimitsForm  # noqa: PLC0415 - with the first form

        form = LimitsForm(self._desk.form_context())
        self._window.app.push_screen(form, self._desk.settings.apply_limits)

    def show_messages(self) -> None:
        """Show the latest messages."""
        from keydesk.forms.account.messages import MessagesPage  # noqa: PLC0415 - with the first form

        self._window.app.push_screen(MessagesPage(self._store))

    def action_help(self) -> None:
        from keydesk.forms.info_form import HelpForm  # noqa: PLC0415 - with the first form

        def left_out(id_: str) -> bool:
            return id_.startswith(REPLAY_KEYS) and self._store.market is None

        self._window.app.push_screen(
            HelpForm(self._window.keymap, self._desk.guarded_keys.key_context(), left_out)
        )

    def action_account_page(self) -> None:
        """Show the account in full, and what else the broker says of it once that is read."""
        from keydesk.forms.account.account_page import AccountPage  # noqa: PLC0415 - with the first form

        def read(page: AccountPage) -> None:
            self._desk.pages.read_bookings(page.show_bookings)

        page = AccountPage(self._store, monotonic, read)
        self._window.app.push_screen(page)
        self._desk.pages.read_summary(page.show_more)

    def action_configure(self) -> None:
        """Change name and margin rate of the account."""
        from keydesk.forms.account.configure import ConfigureForm  # noqa: PLC0415 - with the first form

        self._desk.ask(ConfigureForm(self._desk.form_context()))

    def action_exposure_page(self) -> None:
        """Show the exposure by currency, and the risk of what is held together."""
        from keydesk.forms.account.exposure import ExposurePage  # noqa: PLC0415 - with the first form

        def read(page: ExposurePage, names: Sequence[str]) -> None:
            self._desk.pages.read_closes(names, page.show_closes)

        self._window.app.push_screen(ExposurePage(self._store, monotonic, read))

    def action_instrument_page(self) -> None:
        """Show the price and the terms of the instrument that the keys act on."""
        self.show_instrument(self._instrument())

    def _instrument(self) -> str:
        return self._window.selection().instrument(self._store)

    def show_instrument(self, name: str) -> None:
        """Show the price and the terms of an instrument."""
        from keydesk.forms.account.instrument_page import InstrumentPage  # noqa: PLC0415 - same

        given = self._desk.form_context()
        size = given.template_of(name).sizes.get(given.preset)
        if name:
            self._window.app.push_screen(InstrumentPage(name, self._store, monotonic, size))

    def action_details(self) -> None:
        """Show everything that is known of the selected row."""
        from keydesk.forms.details_form import DetailsForm  # noqa: PLC0415 - with the first form

        log = self._window.app.focused
        if isinstance(log, Log) and (line := log.line(log.selected)) is not None:
            self._desk.transactions.show(line)
            return
        title, rows = self._details()
        self._window.app.push_screen(DetailsForm(title, rows))

    def _details(self) -> tuple[Printable, Rows]:
        from keydesk.forms.detail_rows import (  # noqa: PLC0415 - with the first form
            instrument_rows,
            order_rows,
            position_rows,
            trade_rows,
        )

        store, selection = self._store, self._window.selection()
        row = self._window.row_of(selection.pane) if selection.pane in _OF_INSTRUMENTS else None
        if selection.pane in _OF_INSTRUMENTS and (chosen := selection.instrument(store)):
            store.set_focus(chosen)
        match selection.pane:
            case "trades" if trade := store.trades.get(row or ""):
                return safe(f"Trade #{clean_name(trade.id)}"), trade_rows(trade, store)
            case "orders" if order := store.orders.get(row or ""):
                return safe(f"Order #{clean_name(order.id)}"), order_rows(order, store)
            case "positions" if position := store.positions.get(row or ""):
                return "Position", position_rows(position, store)
            case _:
                return "Instrument", instrument_rows(store.focus, store)


class AlertActions:
    """Makes and shows alerts.

    Args:
        desk: Has the alerts.
    """

    def __init__(self, desk: TradingDesk) -> None:
        self._desk, self._window = desk, desk.window

    def action_new_alert(self) -> None:
        """Show a new alert: at the crosshair, of the selected trade, or on the instrument."""
        from keydesk.app.alerts.account_alerts import here, no_price  # noqa: PLC0415 - with the first form

        selection, store = self._window.selection(), self._window.store
        trade = store.trades.get(selection.trade_row or "") if selection.pane == "trades" else None
        instrument = selection.instrument(store)
        found = here(
            store, self._window.pointed_at(), "" if trade is None else trade.id, instrument
        )
        if found is None:
            store.notify("info", no_price(instrument) if instrument else "No instrument yet")
        else:
            self._desk.alerts.new(found)

    def action_alerts(self) -> None:
        self._desk.alerts.show_page(self._desk.pages.read_candles)

    def action_mute(self) -> None:
        """Mute bell and notifications, or end that."""
        self._desk.alerts.toggle_mute()
