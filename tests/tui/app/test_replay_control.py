"""The desk and its practice market: what is asked first, refused, said and recorded; two desks at one market."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from keydesk.app.desk_account import DeskAccount
from keydesk.app.replay_control import MarketReplay
from keydesk.feeds.market_control import MarketControl
from keydesk.forms.market.replay import StartReplayForm
from keydesk.parse.replay import NOT_OFFERED, ReplayCommand, parse_replay
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.values import Command
from keydesk_client.auth.secret import Secret
from support.controlled_broker import CONTROL_TOKEN, ControlledBroker, controlled_broker
from support.data.desk_data import desk_store
from support.walks import sampled_rows


@dataclass
class Shell:
    """Answers questions and keeps the workers, which a test awaits."""

    yes: bool = True
    asked: list[Any] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    working: list[Coroutine[Any, Any, None]] = field(default_factory=list)

    def push_screen(self, form: StartReplayForm, callback: Callable[[bool], None]) -> None:
        self.asked.append(form)
        self.words.append(" ".join(form.consequences()))
        callback(self.yes)

    def run_worker(self, work: Coroutine[Any, Any, None], *_: object, **__: object) -> None:
        self.working.append(work)


@dataclass
class OneDesk:
    """A desk's replay, without a screen."""

    replay: MarketReplay
    store: Store
    shell: Shell
    recorded: list[tuple[str, str]]

    async def do(self, line: str) -> None:
        market = self.store.market
        assert market is not None
        self.replay.execute(parse_replay(line.split(), market))
        await self.finish()

    async def finish(self) -> None:
        while self.shell.working:
            await self.shell.working.pop(0)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(each.level, str(each.text)) for each in self.store.notices]

    @property
    def text(self) -> str:
        return " | ".join(text for _, text in self.told)


class NoAccount:
    """An account that is not open: there are no feeds to begin anew."""

    connection = None


def desk_at(market: ControlledBroker) -> OneDesk:
    transport = httpx.ASGITransport(market.application, client=("127.0.0.1", 1))
    control = MarketControl("http://localhost", Secret(CONTROL_TOKEN), transport)
    store, shell = desk_store(3), Shell()
    store.notices.clear()
    recorded: list[tuple[str, str]] = []
    store.audit.listen(lambda what, text: recorded.append((what, text)))
    replay = MarketReplay(cast("Any", shell), cast("DeskAccount", NoAccount()), store)
    replay.control = control
    assert store.account is not None
    store.account.id = "101-001-1000001-001"
    return OneDesk(replay, store, shell, recorded)


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[tuple[OneDesk, ControlledBroker]]:
    async with controlled_broker(folder) as market:
        found = desk_at(market)
        await found.replay.check()
        yield found, market


async def test_a_blind_replay_is_asked_about_recorded_and_shown_at_its_end(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, market):
        await one.do("blind franc")
        assert len(one.shell.asked) == 1
        assert "Replay started: blind" in one.text
        assert "EUR_CHF" not in " ".join(line.text for line in one.store.log[-1:])
        await one.do("step 3 m5")
        await one.do("finish")
        assert "The replay was franc, EUR/CHF from 2015-01-15 09:00:00 UTC" in one.text
        assert "09:15:00" in one.text
        assert one.store.log[-1].kind == "NOTE"
        assert any("franc, EUR/CHF" in text for what, text in one.recorded if what == "replay")
        assert market.broker.clock.running is False


async def test_what_is_not_confirmed_does_not_begin(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, market):
        one.shell.yes = False
        await one.do("random")
        assert market.broker.ledger_number == 0


async def test_a_replay_waits_for_an_order_in_flight(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, market):
        order = Command("BUY 10,000 EUR/USD", id="kd-1", instrument="EUR_USD")
        one.store.set_in_flight(order)
        await one.do("franc")
        assert market.broker.ledger_number == 0
        assert "NOT DONE: an order is under way (BUY 10,000 EUR/USD: sent)" in one.text
        one.store.settle("kd-1")
        await one.do("franc")
        assert market.broker.ledger_number == 1


async def test_an_order_sent_while_the_question_stood_keeps_the_market_as_it_is(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as (one, market):
        order = Command("BUY 10,000 EUR/USD", id="kd-1", instrument="EUR_USD", state="unknown")
        answer = one.shell.push_screen

        def late(form: StartReplayForm, callback: Callable[[bool], None]) -> None:
            one.store.set_in_flight(order)
            answer(form, callback)

        one.shell.push_screen = late  # type: ignore[method-assign]
        await one.do("franc")
        assert market.broker.ledger_number == 0
        assert "NOT DONE" in one.text


async def test_two_desks_see_each_others_market_and_what_became_of_an_order_is_said(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as (one, market):
        other = desk_at(market)
        await other.replay.check()
        await one.do("faster")
        await other.replay.check()
        assert other.store.market is not None
        assert other.store.market.state.speed == 2

        in_flight = Command("BUY 5,000 EUR/USD", id="kd-2", instrument="EUR_USD", state="unknown")
        other.store.set_in_flight(in_flight)
        await one.do("franc")
        await other.replay.check()
        assert "Replay started: franc, EUR/CHF" in other.text
        assert "the outcome is in the account that was left" in other.text
        assert dict(other.told).get("bad")


async def test_one_command_at_a_time_and_a_refusal_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, _):
        market = one.store.market
        assert market is not None
        one.replay.execute(parse_replay(["step"], market))
        one.replay.execute(parse_replay(["pause"], market))
        assert "still under way (pauses, and goes on to the end of the M1 candle)" in one.text
        await one.finish()
        await one.do("jump 2001-01-01")
        assert "does not go back" in one.text
        assert one.store.market is not None
        assert one.store.market.working == ""


async def test_what_the_market_refuses_begins_with_its_reason(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, _):
        await one.do("jump 1990-01-01")
        assert one.told[-1][1].startswith("NOT DONE: The market is at")
        too_large = {"kind": "spike", "instrument": "EUR_USD", "size": "60"}
        one.replay.execute(ReplayCommand("makes a spike", "POST", "/shocks", too_large))
        await one.finish()
        assert one.told[-1][1] == (
            "NOT DONE: A spike cannot have the size 60: use -0.5 to 1, a fraction of the price "
            "(0.01 is 1 %). The command that failed makes a spike"
        )


async def test_a_market_that_is_gone_is_said_and_comes_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as (one, _):
        there, one.replay.control = one.replay.control, cast("MarketControl", Gone())
        await one.replay.check()
        assert one.store.market is not None
        assert "gone" in one.store.market.trouble
        await one.do("pause")
        assert "NOT DONE" in one.text
        one.replay.control = there
        await one.replay.check()
        assert one.store.market.trouble == ""


class Gone:
    """A control interface that answers nothing."""

    async def _no(self) -> Any:  # noqa: ANN401
        from keydesk.feeds.market_control import ControlRefused  # noqa: PLC0415

        raise ControlRefused("the broker is gone")

    async def state(self) -> Any:  # noqa: ANN401
        return await self._no()

    scenarios = checkpoints = state

    async def send(self, command: ReplayCommand, account_id: str) -> None:  # noqa: ARG002
        await self._no()


async def test_a_desk_without_such_a_market_says_so_at_every_key(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        one = desk_at(market)  # never looked
        assert [one.replay.key(name) for name in ("pause", "jump", "blind")] == [None] * 3
        assert {text for _, text in one.told} == {NOT_OFFERED}


@pytest.mark.parametrize(
    ("key", "path"),
    sampled_rows(
        [("pause", "/clock/play"), ("step", "/clock/step"), ("faster", "/clock/speed")], 1
    ),
)
async def test_a_key_is_a_command(tmp_path: Path, key: str, path: str) -> None:
    async with desk(tmp_path) as (one, _):
        command = one.replay.key(key)
        assert isinstance(command, ReplayCommand)
        assert command.path == path
        assert one.replay.key("jump") == "replay jump "


async def test_the_state_is_read_again_and_again(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        one = desk_at(market)
        control = one.replay.control
        assert control is not None
        keeping = asyncio.create_task(one.replay.follow(control))
        await one.store.wait_for(lambda: one.store.market is not None, Topic.MARKET, timeout_s=30)
        assert one.store.market is not None
        keeping.cancel()


async def test_the_question_before_the_way_back_says_what_becomes_of_both_accounts(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as (one, market):
        await market.buy("EUR_USD")
        await one.do("start 2016-06-23 20:00")
        assert ";g goes back to it. Its market then catches up" in one.shell.words[-1]
        assert ";g goes back to your own account" in one.text

        await one.do("present")
        asked = one.shell.words[-1]
        assert "Your own account, left at 2019-06-05 10:00" in asked
        assert "with 100,000.00 USD, 1 open trade and 0 orders. Its market then catches up" in asked
        assert "keydesk practice ledgers, typed in a shell, lists it and opens it again" in asked
        assert "Back in your own account" in one.text
        assert one.store.market is not None
        assert one.store.market.state.replay is None


async def test_a_market_that_was_opened_as_it_was_left_is_not_said_to_have_caught_up(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as (one, market):
        await one.do("start 2016-06-23 20:00")
        await market.control("POST", "/ledgers/open", name="home")
        await one.replay.check()
        assert "the market is paused where you left it; ;g runs it on to the present" in one.text
        await one.do("present")
        assert one.store.market is not None
        assert one.store.market.state.running


async def test_a_desk_that_opens_within_a_replay_says_so_and_names_the_way_back(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", scenario="franc")
        one = desk_at(market)
        await one.replay.check()
        assert "A replay is still running: franc, EUR/CHF from 2015-01-15 09:00" in one.text
        assert ";g goes back to your own account" in one.text


async def test_without_a_replay_the_way_to_the_present_asks_nothing(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        one = desk_at(market)
        await one.replay.check()
        await one.do("present")
        assert one.shell.asked == []
        assert one.store.market is not None
        assert one.store.market.state.running


async def test_a_replay_that_stands_at_its_beginning_has_one_time(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", start="2015-01-16T08:00:00Z")
        market.broker.clock.set(market.broker.now() + 1)  # as a started broker steps past it
        one = desk_at(market)
        await one.replay.check()
        assert "running: all instruments from 2015-01-16 08:00:00 UTC. " in one.text
