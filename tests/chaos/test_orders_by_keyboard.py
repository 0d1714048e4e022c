"""Orders, closes and edits by keyboard at the real desk behind a faulty link, the desk killed now and then.

    pytest -m soak -n0 -s tests/chaos/test_orders_by_keyboard.py      # 500 deals, 50 kills

Of each deal the last word on the screen is what the broker's ledger says, whatever was cut, delayed or lost, and after a
kill the next desk knows every one. Nothing is sent that no key asked for, and journal and ledger agree.
"""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.broker import PracticeServer, SharedPractice
from support.keyboard_trader import Deal, Trader
from support.order_evidence import (
    Transaction,
    decisions_in,
    disagreements,
    journal_in,
    unexplained,
)
from support.proxies.chaos_proxy import FAULTS, ChaosProxy, Fate, chaos_proxy
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZE = (100, 30)
FAULTY = 0.4  # of the exchanges
LOOKED_UP_WITHIN = (
    120.0  # seconds; the look-ups of a lost answer go on for 30 and are cut themselves
)
SHOWS_UP_WITHIN = 8.0  # seconds after the last late request; the account is polled every five
KILLED_WITHIN = 1.5  # seconds after a confirming key
QUICK = (Fate.RESET_UNANSWERED, Fate.RESET_HALF, Fate.CLOSED_HALF, Fate.GARBAGE, Fate.DELAYED)
"""Faults that are over at once: the broker acts, and the answer is lost."""
TRADERS = 10
FEW_FRAMES = ("--fps", "5")
DEALS = int(os.environ.get("KEYBOARD_DEALS", "500"))
KILLS = int(os.environ.get("KEYBOARD_KILLS", "50"))


@dataclass
class Story:
    """So many deals in so many lives of the desk, all but the last ended by a kill; at last the link is good again."""

    home: Home
    trader: Trader
    chaos: ChaosProxy
    deals: int
    kills: int
    killed: int = 0
    waits: list[float] = field(default_factory=list)  # seconds until a restarted desk knew all

    def run(self) -> None:
        """Trade until the deals are made; each kill falls a drawn time after a confirming key."""
        for life in range(self.kills + 1):
            with self._desk() as terminal:
                self.trader.sit_down(terminal)
                self._know_all(terminal)
                self._live(terminal, until=self.deals * (life + 1) // (self.kills + 1))
                if life == self.kills:
                    self._end(terminal)
                else:
                    self._deal_and_kill(terminal)

    def _live(self, terminal: Terminal, until: int) -> None:
        while len(self.trader.deals) < until:
            assert terminal.is_running, terminal.text
            self.trader.deal(self.trader.wait_for_text)

    def _deal_and_kill(self, terminal: Terminal) -> None:
        while terminal.is_running:
            self.trader.deal(lambda _: self._kill(terminal))

    def _kill(self, terminal: Terminal) -> None:
        self.trader.watch(self.trader.random.uniform(0.0, KILLED_WITHIN))
        terminal.signal(signal.SIGKILL)
        terminal.wait_for_exit()
        self.trader.watch(0.05)  # what it wrote last
        self.killed += 1

    def _end(self, terminal: Terminal) -> None:
        self.chaos.faulty = 0.0
        self.trader.watch(SHOWS_UP_WITHIN)
        self._know_all(terminal)
        self.trader.read_messages()

    def _desk(self) -> Terminal:
        return Terminal(
            keydesk(*FEW_FRAMES, "--profile", "main", *self.home.unlocked), SIZE, self.home.env
        )

    def _know_all(self, terminal: Terminal) -> None:
        """Wait until the screen said of each deal what became of it."""
        began = time.monotonic()
        missing = self.trader.wait_for_last_text(LOOKED_UP_WITHIN, self._was_never_sent)
        assert not missing, f"the screen says nothing of {missing}:\n{terminal.text}"
        self.waits.append(time.monotonic() - began)

    def _was_never_sent(self, deal: Deal) -> bool:
        """Whether the desk was killed before it wrote the deal down: then it was not sent."""
        journalled = journal_in(self.home.folder, {}).values()
        return not any(_is_of(deal, each.intent) for each in journalled)


ACTIONS = {
    "open": "create",
    "rest": "create",
    "close": "close_trade",
    "edit": "set_dependent_orders",
    "cancel": "cancel",
    "move": "replace",
}


def _is_of(deal: Deal, intent: Mapping[str, Any]) -> bool:
    if intent["action"] != ACTIONS[deal.kind]:
        return False
    if deal.target:
        return bool(intent["target"] == deal.target)
    return abs(Decimal(str(intent["body"]["units"]))) == deal.units


async def trade_by_keyboard(
    practice: PracticeServer,
    home: Home,
    *,
    seed: int,
    deals: int,
    kills: int,
    faults: tuple[Fate, ...] = FAULTS,
) -> Story:
    """Run a story behind the faulty link, and check that screen, ledger, journal, keys and decisions agree."""
    async with chaos_proxy(practice.rest_url, seed=seed, faulty=FAULTY, faults=faults) as chaos:
        home.signed_in("main", practice, rest_url=chaos.url, stream_url=chaos.url)
        trader = Trader(random.Random(seed), practice.account_id)
        story = Story(home, trader, chaos, deals, kills)
        try:
            await asyncio.to_thread(story.run)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        await chaos.everything_arrived()
    answer = await practice.get("{a}/transactions/sinceid", id="1")
    await practice.close()  # no process of its own: the client alone
    ledger: list[Transaction] = answer.json()["transactions"]
    found = trader.differences(ledger)
    found += disagreements(journal_in(home.folder, {}), ledger)[0]
    found += unexplained(decisions_in(home.folder), trader.shown)
    assert not found, "\n".join(found)
    assert len(trader.deals) >= deals
    assert story.killed == kills
    return story


async def test_some_orders_by_keyboard_and_a_kill(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    story = await trade_by_keyboard(
        desk_of_my_own, Home(tmp_path / "home"), seed=7, deals=5, kills=1, faults=QUICK
    )
    assert story.chaos.fates.total() - story.chaos.fates[Fate.FINE] > 0


@pytest.mark.soak
async def test_five_hundred_orders_by_keyboard_and_fifty_kills(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    began = time.monotonic()
    stories = await asyncio.gather(
        *(
            trade_by_keyboard(
                shared_practice.open_first_desk(),
                make_home(tmp_path / str(seed)),
                seed=seed,
                deals=DEALS // TRADERS,
                kills=KILLS // TRADERS,
            )
            for seed in range(TRADERS)
        ),
        return_exceptions=True,
    )
    broken = [each for each in stories if isinstance(each, BaseException)]
    assert not broken, "\n\n".join(map(str, broken))
    deals, dropped = Counter[str](), Counter[str]()
    fates, verdicts = Counter[Fate](), Counter[str]()
    told = [each for each in stories if isinstance(each, Story)]
    for story in told:
        deals.update(deal.kind for deal in story.trader.deals)
        dropped.update(story.trader.dropped)
        fates.update(story.chaos.fates)
        verdicts.update(each.verdict for each in journal_in(story.home.folder, {}).values())
    print(  # noqa: T201 - the figures of the run
        f"\n{deals.total()} deals {dict(deals)}, {sum(story.killed for story in told)} kills, "
        f"{fates.total()} exchanges, {fates.total() - fates[Fate.FINE]} faulty, "
        f"journal {dict(verdicts)}, forms dropped {dict(dropped)}, "
        f"{max(max(story.waits) for story in told):.0f} s at most until a desk knew all, "
        f"{time.monotonic() - began:.0f} s in all"
    )


def make_home(folder: Path) -> Home:
    folder.mkdir()
    return Home(folder / "home")
