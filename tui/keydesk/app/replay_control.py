"""Control the practice market from the desk: the commands of the replay strip, and the market's state each two seconds.

A command changes a market that other desks may show, too. What one of them began is seen in the state: a ledger of
another number means that the market began anew, and then everything is read again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App

from keydesk.app.desk_account import DeskAccount
from keydesk.calc.market.market_state import ControlledMarket, MarketState, Replay
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.parse.replay import (
    NOT_OFFERED,
    REPLAYED,
    STATUS,
    ReplayCommand,
    ReplaySyntaxError,
    parse_replay,
    step_of,
    toggled_pause,
)
from keydesk.store.state import Notice, NoticeLevel
from keydesk.store.store import Store
from keydesk.text.format import date_and_time, money, pair
from keydesk.text.sanitize import clean, safe
from keydesk.words.log_line import LogLine

if TYPE_CHECKING:
    from keydesk.feeds.market_control import MarketControl

CHECK_INTERVAL = 2.0  # seconds
KEY_LINES = {  # keys whose command takes a word: the command line opens with its beginning
    "jump": "replay jump ",
    "scenario": "replay scenario ",
    "shock": "replay shock ",
    "faults": "replay faults ",
    "deposit": "replay deposit ",
    "withdraw": "replay withdraw ",
    "save": "replay save ",
    "restore": "replay restore ",
}


class MarketReplay:
    """The practice market of the desk, where it may be controlled.

    Args:
        app: Shows the question before it begins anew, and runs the workers.
        account: The open account, whose feeds read everything again then.
        store: Gets the market's state, messages and entries of the audit log.
        keymap: The keys, as messages name them.
    """

    def __init__(
        self,
        app: App[Any],
        account: DeskAccount,
        store: Store,
        keymap: KeyMap = KEYMAP,
    ) -> None:
        self._app, self._account, self._keymap = app, account, keymap
        self._store, self._tell, self._record = store, store.notify, store.audit.record
        self.control: MarketControl | None = None
        self._due = asyncio.Event()

    def start(self, folder: Path, rest_url: str) -> None:
        """Control the market from now on, if the account's broker runs on this data folder."""
        following = self._follow(folder, rest_url)
        self._app.run_worker(following, "practice market", group="feeds", exit_on_error=False)

    async def _follow(self, folder: Path, rest_url: str) -> None:
        from keydesk.feeds.market_control import (  # noqa: PLC0415 - the desk paints first
            MarketControl,
            control_in,
        )

        address = control_in(folder, rest_url)
        if address is not None:
            async with MarketControl(*address) as control:
                await self.follow(control)

    async def follow(self, control: MarketControl) -> None:
        """Follow the market's state until cancelled."""
        self.control = control
        while True:
            self._due.clear()
            await self.check()
            try:
                async with asyncio.timeout(CHECK_INTERVAL):
                    await self._due.wait()
            except TimeoutError:
                continue

    async def check(self) -> None:
        """Read the market's state once; without an answer the last one stays, and the strip says so."""
        from keydesk.feeds.market_control import ControlRefused  # noqa: PLC0415 - loads HTTP

        control, market = self.control, self._store.market
        if control is None:
            return
        try:
            state = await control.state()
            if market is None:
                market = ControlledMarket(
                    state, await control.scenarios(), await control.checkpoints()
                )
        except ControlRefused as error:
            if market is not None:  # a market that never answered is not offered
                self._change(trouble=str(error))
            return
        before = None if self._store.market is None else self._store.market.state
        self._store.set_market((self._store.market or market).with_state(state))
        if before is None and state.replay is not None:
            self._write(
                f"A replay is still running: {self._where(state.replay)}. {self._way_back()}",
                "info",
            )
        if before is not None and before.ledger_number != state.ledger_number:
            came_back = before.replay is not None and before.replay.home is not None
            await self._began_anew(state, came_back=came_back and state.replay is None)

    # Commands.

    def key(self, name: str) -> ReplayCommand | str | None:
        """Return the command of a key, or the beginning of a command line; None where there is nothing to control."""
        market = self._store.market
        if market is None:
            self._tell("info", NOT_OFFERED)
            return None
        if name == "faults" and market.state.faults:
            return self._parsed("faults off", market)
        if name in KEY_LINES:
            return KEY_LINES[name]
        if name == "pause":
            return toggled_pause(market)
        if name == "step":
            return step_of(self._store.granularity)
        return self._parsed(name, market)

    def _parsed(self, text: str, market: ControlledMarket) -> ReplayCommand | None:
        try:
            return parse_replay(text.split(), market, monotonic())
        except ReplaySyntaxError as error:
            self._tell("info", str(error))
            return None

    def execute(self, command: ReplayCommand) -> None:
        """Carry out a command; one that begins the market anew is asked about first."""
        from keydesk.forms.market.replay import StartReplayForm  # noqa: PLC0415 - with the first form

        if why := self._why_not(command):
            self._tell("warn", f"NOT DONE: {why}")
        elif command.begins_anew:

            def begin(yes: bool | None) -> None:
                if yes and (why := self._why_not(command)):
                    self._tell("warn", f"NOT DONE: {why}")
                elif yes:
                    self._start(command)

            self._app.push_screen(StartReplayForm(self._store, command, self._keymap), begin)
        elif command != STATUS:
            self._start(command)

    def _start(self, command: ReplayCommand) -> None:
        self._change(working=command.text)
        self._app.run_worker(self.send(command), "replay", group="replay", exit_on_error=False)

    def _why_not(self, command: ReplayCommand) -> str:
        """Return why a command cannot be sent now, "" if it can."""
        market = self._store.market
        if market is None or self.control is None:
            return NOT_OFFERED
        if market.working:
            return f"the command before it is still under way ({market.working})"
        if command.account_path and self._store.account is None:
            return "the account is not open yet"
        sent = [each for each in self._store.in_flight.values() if each.state != "unconfirmed"]
        if command.begins_anew and sent:
            return f"an order is under way ({sent[0].line}); wait for its outcome"
        return ""

    async def send(self, command: ReplayCommand) -> None:
        """Send a command, then show what the market does."""
        from keydesk.feeds.market_control import ControlRefused  # noqa: PLC0415 - loads HTTP

        control, account = self.control, self._store.account
        if control is None:
            return
        try:
            await control.send(command, "" if account is None else account.id)
            if not command.has_answer:
                self._change(checkpoints=await control.checkpoints())
        except ControlRefused as error:
            self._tell("warn", f"NOT DONE: {error}. The command that failed {command.text}")
            self._record("replay", f"refused: {command.text}: {error}")
        else:
            self._record("replay", command.text)
            await self.check()
            self._say_done(command)
        finally:
            self._change(working="")
            self._due.set()

    def _say_done(self, command: ReplayCommand) -> None:
        if command.finishes:
            market = self._store.market
            replay = None if market is None else market.state.replay
            if replay is not None:
                self._write(f"The replay was {self._where(replay)}{self._result()}", "good")
        elif not command.has_answer:
            self._tell("good", f"Done: {command.text}")

    @property
    def _key_of_present(self) -> str:
        return self._keymap.name("replay-present").replace(" ", "")

    def _way_back(self) -> str:
        return f"{self._key_of_present} goes back to your own account"

    async def _began_anew(self, state: MarketState, *, came_back: bool) -> None:
        """Read everything again after the ledger was replaced, by this desk or from outside."""
        from keydesk.feeds.instruments import restart_market  # noqa: PLC0415 - loads the models

        for each in self._store.in_flight.values():
            text = f"{each.line}. The market was replaced meanwhile: the outcome is in the account that was left"
            self._store.add_notice(Notice("bad", safe(text), self._store.wall_ns(), ledger=0))
        connection = self._account.connection
        if connection is not None:
            await restart_market(connection.feed, state.time_ns)
            if connection.feed.follower.ready.is_set():
                connection.exit_plans.restart_market()
        replay = state.replay
        if replay is not None and replay.instrument in self._store.instruments:
            self._store.set_focus(replay.instrument)
        if came_back:
            key = self._key_of_present
            what = (
                "the market has run on to the present"
                if state.running
                else f"the market is paused where you left it; {key} runs it on to the present"
            )
            self._write(f"Back in your own account: {what}", "info")
        elif replay is None:
            self._write("The practice market was started again, without a replay", "info")
        else:
            self._record(REPLAYED, self._where(replay))
            self._write(f"Replay started: {self._where(replay)}. {self._way_back()}", "info")

    def _where(self, replay: Replay) -> str:
        if replay.hides:
            return "blind, instrument and date are hidden until it is ended"
        zone = self._store.zone
        name = f"{replay.scenario}, " if replay.scenario else ""
        what = pair(replay.instrument) if replay.instrument else "all instruments"
        began, real = (date_and_time(each, zone) for each in (replay.began_ns, replay.real_ns))
        has_run = replay.real_ns > replay.began_ns and real != began
        return f"{name}{what} from {began}{f' to {real}' if has_run else ''}"

    def _result(self) -> str:
        account = self._store.account
        if account is None:
            return ""
        return f". NAV {money(account.nav)} {account.currency}"

    def _write(self, text: str, level: NoticeLevel) -> None:
        """Write a text to the audit log and to the desk's log."""
        self._record("replay", text)
        market = self._store.market
        time_ns = 0 if market is None else market.state.time_ns
        self._store.write_log(LogLine("", time_ns, "NOTE", "", clean(text)))
        self._tell(level, text)

    def _change(self, **members: Any) -> None:  # noqa: ANN401 - of the record
        if self._store.market is not None:
            self._store.set_market(replace(self._store.market, **members))
