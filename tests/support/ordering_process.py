"""A client process that sends orders until somebody kills it, or until it kills itself at a step that it was told.

`python ordering_process.py` with its settings as a line of JSON. At the start it resolves what an earlier one left
open, as every client of the order protocol does. It tells each step of each intent in a line, so that whoever reads
knows afterwards where it was killed.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Iterable
from enum import Enum

from keydesk_client.client import Client
from keydesk_client.http.limits import Limiter
from keydesk_client.http.retry import Retries
from keydesk_client.http.timing import Timeouts
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    Intent,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)
from keydesk_client.orders.sender import Sender
from support.order_flow import QUICK_PAUSES, Beliefs, trade, trade_alike

RECOVERED = b"recovered"
SAID = b"said "
"""Begins the line that tells an outcome; what follows is a JSON object."""
AT_ONCE = 3


class Step(Enum):
    """How far an intent has come."""

    MEANT = "meant, not in the journal"
    JOURNALLED = "in the journal"
    ON_ITS_WAY = "on its way"
    LOST = "its answer lost"
    LOOKED_UP = "looked up in vain"
    ANSWERED = "answered, not settled in the journal"
    UNCONFIRMED = "unconfirmed"
    SETTLED = "settled in the journal"


class Steps:
    """Tells each step, and kills the process at the one that was drawn."""

    def __init__(self, last: str, times: int) -> None:
        self._last, self._times = last, times

    def take(self, intent: Intent, step: Step) -> None:
        told = f"{intent.id} {intent.action.value} {step.name}\n"
        os.write(sys.stdout.fileno(), told.encode())
        if step.name == self._last:
            self._times -= 1
            if self._times == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def hear(self, progress: Progress) -> None:
        if isinstance(progress, Done | Rejected | NotSent | Ambiguous | Unconfirmed):
            self._say(progress)
        match progress:
            case Sending():
                self.take(progress.intent, Step.ON_ITS_WAY)
            case Unknown():
                self.take(progress.intent, Step.LOOKED_UP if progress.look_ups else Step.LOST)
            case Unconfirmed():
                self.take(progress.intent, Step.UNCONFIRMED)

    def _say(self, outcome: Outcome) -> None:
        ids = () if isinstance(outcome, NotSent | Unconfirmed) else outcome.related_transaction_ids
        said = {"intent": outcome.intent.id, "kind": type(outcome).__name__, "ids": list(ids)}
        line = json.dumps(said, separators=(",", ":")).encode()
        os.write(sys.stdout.fileno(), SAID + line + b"\n")


class ToldJournal(FileJournal):
    """A journal that tells of each line before and after it is written."""

    def __init__(self, path: str, steps: Steps) -> None:
        super().__init__(path, max_settled=1_000_000)
        self._steps = steps

    def write(self, intent: Intent) -> None:
        self._steps.take(intent, Step.MEANT)
        super().write(intent)
        self._steps.take(intent, Step.JOURNALLED)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        self._steps.take(intent, Step.ANSWERED)
        super().settle(intent, verdict, claimed, shared=shared)
        self._steps.take(intent, Step.SETTLED)


async def send_until_killed(settings: dict[str, str]) -> None:
    """Recover, say so, and send."""
    dice, beliefs = random.Random(settings["seed"]), Beliefs()
    steps = Steps(settings["last_step"], int(settings["times"]))
    async with Client(
        token=settings["token"],
        rest_url=settings["rest_url"],
        stream_url=settings["rest_url"],
        account_id=settings["account_id"],
        limiter=Limiter(rate=10_000),
        timeouts=Timeouts(connect=2.0, read=0.25, whole=3.0),
        retries=Retries(max_retries=9, first_backoff_s=0.02, max_backoff_s=0.1),
    ) as client:
        journal = ToldJournal(settings["journal"], steps)
        summary = await client.accounts.summary()
        beliefs.last_transaction_id = int(summary.last_transaction_id)
        sender = Sender(
            client,
            journal,
            lambda: beliefs.last_transaction_id,
            steps.hear,
            pauses=QUICK_PAUSES,
            client_ids=not settings["without_client_ids"],
        )
        await sender.recover()
        os.write(sys.stdout.fileno(), RECOVERED + b"\n")
        while settings["mode"] == "send":
            await asyncio.gather(*(trade(sender, beliefs, dice) for _ in range(AT_ONCE)))
        if settings["mode"] == "alike":
            await send_alike(sender, settings, beliefs, dice)


async def send_alike(
    sender: Sender, settings: dict[str, str], beliefs: Beliefs, dice: random.Random
) -> None:
    """Send what other processes send as well; what there is to close or cancel is asked of the broker itself."""
    async with Client(
        token=settings["token"],
        rest_url=settings["broker_url"],
        stream_url=settings["broker_url"],
        account_id=settings["account_id"],
        limiter=Limiter(rate=10_000),
    ) as client:
        while True:
            flows = (trade_alike(sender, beliefs, dice, client) for _ in range(AT_ONCE))
            await asyncio.gather(*flows)
            await check_unconfirmed(sender, client)


async def check_unconfirmed(sender: Sender, client: Client) -> None:
    """Compare what is Unconfirmed with the account's changes, as the desk does from time to time."""
    if intents := sender.unconfirmed():
        since = min(each.since for each in intents)
        answer = await client.accounts.changes(since)
        await sender.reconcile(answer.changes, since)


if __name__ == "__main__":
    asyncio.run(send_until_killed(json.loads(sys.stdin.readline())))
