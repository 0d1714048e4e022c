"""`keydesk watch --alerts`: watch the account's alerts without the desk, until it is ended."""

import asyncio
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from datetime import tzinfo
from time import monotonic
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta

from keydesk.alerts.alert_records import AlertRecords
from keydesk.alerts.delivery import Delivery, Event, EventSources, alert_text
from keydesk.alerts.notify_command import CommandRunner
from keydesk.alerts.watch import AlertWatch
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.calc.market.watchlists import DEFAULT_WATCHLIST, Watchlist, Watchlists
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.script_output import AccountDocument, Instant, Refusal
from keydesk.config.folders import find_folders, make_private
from keydesk.config.settings import load_alert_settings
from keydesk.feeds import session
from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import Feed
from keydesk.records.desk_records import DeskRecords
from keydesk.settings.values import AlertSettings
from keydesk.store.store import Store
from keydesk.store.valuation import revalue
from keydesk.terminal.output import print_error, print_json_line, print_lines
from keydesk.text.format import clock, counted
from keydesk.text.sanitize import SafeText, clean, safe
from keydesk.words.outages import Broker
from keydesk_client.models import DateTime

CHECK_INTERVAL = 0.25  # seconds
INTERRUPTED = 130
FEEDS: Mapping[str, Feed] = {
    name: session.FEEDS[name]
    for name in (
        *("instruments", "instrument changes", "transaction stream", "account", "price stream"),
        *(
            "watched instruments",
            "conversions",
            "changes",
            "gaps",
            "days",
            "history",
            "alerts",
            "health",
        ),
    )
}
"""What alerts need: no charts, no books of the focus, no day lines."""
ONLY_ALERTS = Watchlists((DEFAULT_WATCHLIST, Watchlist("alerts")))


class WatchDocument(AccountDocument, frozen=True, tag="watch"):
    """A line of `keydesk watch --alerts --json`."""

    event: Annotated[
        str,
        Meta(
            description="watching, prices, alert, fill, stop, reject, margin, limit, disconnect, or reconnect after it"
        ),
    ]
    time: Instant | None
    text: str
    data: dict[str, str | int | bool | None]


def watch(options: Namespace) -> int:
    """Watch until a signal ends it; return the exit code."""
    return asyncio.run(_watch(options))


async def _watch(options: Namespace) -> int:
    settings = load_alert_settings(find_folders(options.data, os.environ).config)
    async with open_account(options) as account:
        make_private(account.folder)
        watcher = Watcher(account, settings, as_json=options.json)
        return await watcher.run()


class Watcher:
    """Feeds, alerts and delivery of one account, without a screen.

    Args:
        reach: The open account.
        settings: Which channels each kind of event has.
        as_json: Whether each event is a line of JSON.
    """

    def __init__(
        self, account: OpenAccount, settings: AlertSettings, *, as_json: bool = False
    ) -> None:
        self._as_json = as_json
        self._head = account.head
        self.store = Store()
        self.store.zone = account.zone
        self.store.health.environment = account.environment
        self.store.lists, self.store.list_name = ONLY_ALERTS, "alerts"
        self._name, self._ended, self._code = account.name, asyncio.Event(), 0
        commands = CommandRunner(
            settings.notify, settings.notify_timeout, lambda text: print_error(safe(text))
        )
        self._delivery = Delivery(settings, _write, os.environ, commands, lambda _: None)
        self._profile = account.target.profile
        kept = AlertRecords(DeskRecords.of(account.folder, account.target.shared_records))
        self.watch = AlertWatch(self.store, kept, self._report_firing, self._tell)
        self.feed = AccountFeed(
            client=account.client,
            store=self.store,
            alerts=self.watch,
            broker=Broker(account.target.rest_url, account.target.login),
        )
        self._events = EventSources(self.store, self._profile, self._event)
        self.feed.follower.gate.listen(self._events.on_transaction)

    async def run(self) -> int:
        """Watch until a signal; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self._end, number)
        tasks = [
            asyncio.create_task(session.supervise(self.feed, name, feed), name=name)
            for name, feed in FEEDS.items()
        ]
        tasks += [asyncio.create_task(self.watch.run()), asyncio.create_task(self._look())]
        await self.watch.settled()
        count = sum(each.state == "on" for each in self.store.alerts.values())
        self._say(
            "watching", safe(f"Watching {counted(count, 'alert')} of {self._name}; Ctrl-C ends it")
        )
        tasks.insert(0, asyncio.create_task(self._say_priced()))
        ending = asyncio.create_task(self._ended.wait())
        done, _ = await asyncio.wait([ending, *tasks[-2:]], return_when=asyncio.FIRST_COMPLETED)
        for task in (ending, *tasks):
            task.cancel()
        await asyncio.gather(ending, *tasks, return_exceptions=True)
        with suppress(OSError):
            self.watch.close(monotonic())
        await self._delivery.commands.finish()
        failed = next((each.exception() for each in done - {ending} if not each.cancelled()), None)
        if failed is not None:
            raise Refusal(f"watching ended because of an internal error: {failed!r}")
        return self._code

    def _end(self, number: signal.Signals) -> None:
        self._code = INTERRUPTED if number == signal.SIGINT else 0
        self._ended.set()

    async def _say_priced(self) -> None:
        await self.feed.priced.wait()
        self._say("prices", safe("Prices are arriving"), self.store.clock_ns or None)

    async def _look(self) -> None:
        """Revalue the account and evaluate the alerts that do not watch prices, four times a second."""
        while True:
            now = monotonic()
            revalue(self.store, now)
            self.store.pop_dirty()
            self.watch.check(now)
            self._events.check(now)
            await asyncio.sleep(CHECK_INTERVAL)

    def _report_firing(self, fired: FiringRecord, mine: bool) -> None:
        text = alert_text(fired, self.store.zone)
        data = {"alert": fired.alert_id, "value": fired.value, "late": fired.late}
        self._say("alert", safe(text), fired.time_ns, data)
        if mine:
            self._delivery.deliver(Event("alert", text, fired.time_ns, self._profile, data))

    def _event(self, event: Event) -> None:
        if self._as_json:
            self._say(event.name or event.kind, safe(event.text), event.time_ns, event.data)
        else:
            print_lines(_line(event, self.store.zone))
        self._delivery.deliver(event)

    def _say(
        self,
        event: str,
        text: SafeText,
        time_ns: int | None = None,
        data: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Print a line, or the same as one line of JSON by the schema `watch`."""
        if not self._as_json:
            print_lines(text)
            return
        time = None if time_ns is None else str(DateTime.from_ns(time_ns))
        document = WatchDocument(**self._head, event=event, time=time, text=text, data=_plain(data))
        print_json_line(document.members)

    def _tell(self, _level: str, text: str) -> None:
        print_error(safe(text))


def _plain(data: Mapping[str, object]) -> dict[str, str | int | bool | None]:
    """Return data as JSON has it; amounts are text."""
    return {
        name: value if isinstance(value, str | int | None) else str(value)
        for name, value in data.items()
    }


def _line(event: Event, zone: tzinfo) -> SafeText:
    return safe(f"{event.title} {clock(event.time_ns, zone)} {clean(event.text)}")


def _write(text: str) -> None:
    """Send a bell or a notification, to a terminal only."""
    if sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
