"""The alerts of the desk: they are watched once the account is open, shown, delivered, and changed by forms.

Before the market's week ends, the trades that have no stop over the weekend are named.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import partial
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.calc.market.sessions import is_friday_evening, week_at
from keydesk.keys.keymap import KeyMap
from keydesk.settings.values import AlertSettings
from keydesk.store.risk import unprotected_trades
from keydesk.store.state import Notice, Topic
from keydesk.store.store import Store
from keydesk.text.format import duration, pair
from keydesk.text.sanitize import clean, safe
from keydesk.words.log_line import LogLine
from keydesk_client.arithmetic.constants import SECOND

if TYPE_CHECKING:
    from keydesk.alerts.delivery import Delivery, EventSources
    from keydesk.alerts.watch import AlertWatch
    from keydesk.app.account_connection import Connection
    from keydesk.calc.alerts.alert import Alert, AlertLine, FiringRecord
    from keydesk.calc.alerts.condition_base import Direction
    from keydesk.calc.alerts.fact_conditions import TradeResult
    from keydesk.calc.alerts.price_conditions import PriceCross
    from keydesk.forms.market.alert_chart import ReadFor
    from keydesk.forms.market.new_alert import AlertChoice
    from keydesk.forms.requests import AlertAction
    from keydesk.records.desk_records import DeskRecords
    from keydesk.settings.values import EventKind


FLASH = 1.5  # seconds
BEGINS_AT = 10  # pips above the price, where nothing points at a level
NOT_OPEN = "Alerts are watched once the account is open"


class AccountAlerts:
    """Watches the alerts of the open account.

    Args:
        app: Runs the workers and shows the forms.
        store: The state of account and market.
        settings: Which channels each kind of event has.
        write: Sends text to the terminal as it is.
        keymap: The keys, as messages name them.
    """

    def __init__(
        self,
        app: App[int],
        store: Store,
        settings: AlertSettings,
        *,
        write: Callable[[str], None],
        keymap: KeyMap,
    ) -> None:
        self._app, self._store, self._settings = app, store, settings
        self._write, self._keymap = write, keymap
        self.watch: AlertWatch | None = None
        self._delivery: Delivery | None = None
        self._events: EventSources | None = None
        self._account = ""

    def open(self, records: DeskRecords, connection: Connection, account: str) -> None:
        """Read the alerts of the account and watch them until the desk is left."""
        from keydesk.alerts.alert_records import AlertRecords  # noqa: PLC0415 - after the first paint
        from keydesk.alerts.delivery import Delivery, EventSources  # noqa: PLC0415
        from keydesk.alerts.notify_command import CommandRunner  # noqa: PLC0415
        from keydesk.alerts.watch import AlertWatch  # noqa: PLC0415

        settings, self._account = self._settings, account
        report = partial(self._store.notify, "warn")
        commands = CommandRunner(settings.notify, settings.notify_timeout, report)
        self._delivery = Delivery(settings, self._write, os.environ, commands, self._flash)
        self._events = EventSources(self._store, account, self._delivery.deliver)
        connection.feed.follower.gate.listen(self._events.on_transaction)
        kept = AlertRecords(records)
        self.watch = AlertWatch(self._store, kept, self._show_firing, self._store.notify)
        connection.feed.alerts = self.watch
        self._store.audit.listen(self._on_audit_entry)
        self._app.run_worker(self.watch.run(), "alerts", group="feeds", exit_on_error=False)

    @property
    def settings(self) -> AlertSettings:
        """How events are delivered now."""
        return self._settings

    def take(self, settings: AlertSettings) -> bool:
        """Deliver by other settings from now on; return whether they differ."""
        if settings == self._settings:
            return False
        self._settings = settings
        if self._delivery is not None:
            self._delivery.settings = settings
            commands = self._delivery.commands
            commands.template, commands.timeout_s = settings.notify, settings.notify_timeout
        return True

    def check(self, now: float) -> None:
        """Evaluate the alerts that do not watch prices, and check the connection; called with each frame."""
        if self.watch is not None and self._events is not None:
            self.watch.check(now)
            self._events.check(now)

    def _on_audit_entry(self, what: str, text: str) -> None:
        """Deliver an entry of the audit log about a limit."""
        if what == "limit":
            self._deliver("limit", text)

    def close(self) -> None:
        """Write up to when prices were watched."""
        if self.watch is not None:
            with suppress(OSError):
                self.watch.close(monotonic())

    def _flash(self, _kind: EventKind) -> None:
        self._store.flash_until = monotonic() + FLASH
        self._store.mark(Topic.NOTICES)

    def _deliver(self, kind: EventKind, text: str) -> None:
        from keydesk.alerts.delivery import Event  # noqa: PLC0415 - see `open`

        if self._delivery is not None:
            self._delivery.deliver(Event(kind, text, time_ns(), self._account))

    def _show_firing(self, fired: FiringRecord, mine: bool) -> None:
        """Show a firing, and deliver it if this desk claimed it."""
        from keydesk.alerts.delivery import Event, alert_text  # noqa: PLC0415 - see `open`

        text = alert_text(fired, self._store.zone)
        self._store.add_notice(Notice("warn", safe(text), time_ns(), asks=True))
        self._store.write_log(LogLine("", fired.time_ns, "NOTE", "", clean(text)))
        if mine and self._delivery is not None:
            data = {"alert": fired.alert_id, "value": fired.value, "late": fired.late}
            self._delivery.deliver(Event("alert", text, fired.time_ns, self._account, data))

    # Making and changing.

    def new(self, condition: PriceCross | TradeResult) -> None:
        """Show a new alert, to be made or changed."""
        from keydesk.forms.market.new_alert import NewAlertForm  # noqa: PLC0415 - with the first form

        form = NewAlertForm(self._store, condition, self._keymap)
        self._app.push_screen(form, self._chosen)

    def _chosen(self, choice: AlertChoice | None) -> None:
        from keydesk.calc.alerts.alert import Alert  # noqa: PLC0415 - see `open`
        from keydesk.forms.market.new_alert import EditAsText, TakeAlert  # noqa: PLC0415

        match choice:
            case TakeAlert(line):
                self.make(line)
            case EditAsText(line):
                unmade = Alert("", line.condition, repeat_s=line.repeat_s, note=line.note)
                self.type_line(unmade.line(self._store.zone))
            case None:
                pass

    def type_line(self, before: str = "", changed: Alert | None = None) -> None:
        """Ask for the line of a new alert, or of one that is changed."""
        from keydesk.forms.market.new_alert import AlertLineForm  # noqa: PLC0415

        title = "Alert" if changed is None else "Edit the alert"
        form = AlertLineForm(self._store, before, title)
        self._app.push_screen(form, lambda line: self.make(line, changed))

    def make(self, line: AlertLine | None, changed: Alert | None = None) -> None:
        """Make an alert, or give an alert another condition."""
        from keydesk.alerts.alert_list import add_alert, replace_alert  # noqa: PLC0415 - see `open`
        from keydesk.alerts.readings import make_now, standing_hint  # noqa: PLC0415
        from keydesk.calc.alerts.condition_base import AlertSyntaxError  # noqa: PLC0415

        if line is None:
            return
        if self.watch is None:
            self._store.notify("warn", NOT_OPEN)
            return
        try:
            made = make_now(self._store, line, "" if changed is None else changed.id)
        except AlertSyntaxError as error:
            self._store.notify("warn", str(error))
            return
        hint = standing_hint(self._store, made.condition)
        text = f"Alert {made.repeat_text}: {made.text}{f'; {hint}' if hint else ''}"
        if changed is None:
            self.watch.change(add_alert(made), lambda why: self._done(why, text))
        else:
            self.watch.change(replace_alert(made), lambda why: self._done(why, text))

    def _done(self, why: str, text: str) -> None:
        if why:
            self._store.notify("warn", f"alert: {why}")
        else:
            self._store.notify("good", text)

    # The page.

    def show_page(self, read: ReadFor | None = None) -> None:
        """Show the alerts; `read` reads candles that no chart shows."""
        from keydesk.forms.market.alerts import AlertsForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(AlertsForm(self._store, self._keymap, self._settings, read))

    def carry_out(self, action: AlertAction) -> None:
        """Do what the page of alerts asks for."""
        from keydesk.alerts.alert_list import delete_alerts, set_alert_state  # noqa: PLC0415 - see `open`

        alert = action.alert
        if self.watch is None:
            self._store.notify("warn", NOT_OPEN)
            return
        match action.verb:
            case "new":
                self.type_line()
            case "mute":
                self.toggle_mute()
            case "clear":
                over = (each for each in self._store.alerts.values())
                self.watch.change(
                    delete_alerts(each.id for each in over if each.state in ("done", "expired"))
                )
            case "delete" if alert is not None:
                self.watch.change(delete_alerts([alert.id]))
            case "edit" if alert is not None:
                self.type_line(alert.line(self._store.zone), alert)
            case "pause" if alert is not None:
                pauses = alert.state == "on"
                self.watch.change(set_alert_state(alert.id, "paused" if pauses else "on"))
            case _:
                pass

    # Muting.

    def toggle_mute(self) -> None:
        """Mute bell and desktop notifications, or end that; lines, flash and the trader's command go on."""
        if self._delivery is None:
            self._store.notify("warn", NOT_OPEN)
            return
        self._delivery.muted = self._store.muted = not self._delivery.muted
        key = self._keymap.name("mute")
        if self._delivery.muted:
            self._store.notify(
                "info", f"Muted until you leave: bell and notifications. {key} ends that"
            )
        else:
            self._store.notify("info", "Bell and notifications are on")


def here(
    store: Store, pointed: tuple[str, Decimal] | None, trade_id: str, instrument: str
) -> PriceCross | TradeResult | None:
    """Return the alert that a new one begins with: at the crosshair, of a trade, else at the price of an instrument."""
    from keydesk.calc.alerts.fact_conditions import TradeResult  # noqa: PLC0415 - with the first form
    from keydesk.calc.alerts.price_conditions import PriceCross  # noqa: PLC0415

    if pointed is None and trade_id:
        return TradeResult(trade_id=trade_id, unit="R", level=Decimal(1))
    name = instrument if pointed is None else pointed[0]
    quote = store.quotes.get(name)
    if quote is None:
        return None
    mid = (quote.bid + quote.ask) / 2
    level = mid if pointed is None else pointed[1]
    known = store.instruments.get(name)
    if pointed is None and known is not None:
        level = round(mid, known.display_precision) + BEGINS_AT * known.pip
    direction: Direction = "up" if level >= mid else "down"
    return PriceCross(instrument=name, direction=direction, level=level)


def no_price(instrument: str) -> str:
    """Return why no alert can be made on an instrument."""
    return f"Waiting for a price of {pair(instrument)}"


WEEK_END_LOOK_EVERY = 10.0  # seconds
MAX_NAMED = 3


class WeekEndReminder:
    """Looks, some hours before the week ends, for trades without a stop.

    Args:
        store: The state of account and market; its clock is the broker's. Shows messages.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._checked_at = float("-inf")
        self._announced_ns = 0  # the end of the week of the last reminder

    def check(self, now: float) -> None:
        """Name the trades without a stop, once a week."""
        now_ns = self._store.clock_ns
        if now - self._checked_at < WEEK_END_LOOK_EVERY or not now_ns:
            return
        self._checked_at = now
        ends_ns = week_at(now_ns).changes_ns
        unprotected = unprotected_trades(self._store)
        if ends_ns == self._announced_ns or not unprotected or not is_friday_evening(now_ns):
            return
        self._announced_ns = ends_ns
        count = "1 trade has" if len(unprotected) == 1 else f"{len(unprotected)} trades have"
        named = ", ".join(f"{pair(each.instrument)} #{each.id}" for each in unprotected[:MAX_NAMED])
        more = ", …" if len(unprotected) > MAX_NAMED else ""
        left = duration((ends_ns - now_ns) / SECOND)
        text = f"The week ends in {left}: {count} no stop over the weekend: {named}{more}"
        self._store.notify("bad", text)
