"""What became of an order, each case in its own words: a case left out is told by the type checker, not by a trade."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import assert_never, assert_type

from keydesk_client import (
    Ambiguous,
    Client,
    Done,
    FileJournal,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Sender,
    Unconfirmed,
)
from keydesk_client.models import MarketOrderRequest, Transaction
from keydesk_client.orders.outcome import Intent, Progress


def words(outcome: Outcome) -> str:
    assert_type(outcome.intent, Intent)
    match outcome:
        case Done():
            assert_type(outcome.transactions, tuple[Transaction, ...])
            assert_type(outcome.trade_id, str | None)
            return done(outcome.result)
        case Rejected():
            assert_type(outcome.reject_reason, str | None)
            return f"refused with {outcome.status}: {outcome.message}"
        case NotSent(retry_after=retry_after):
            assert_type(retry_after, float | None)
            return f"wait {retry_after or 0} s"
        case Ambiguous(findings=findings):
            assert_type(findings, tuple[Done | Rejected, ...])
            return f"one of {outcome.requests} like requests"
        case Unconfirmed(message=message):
            assert_type(message, str)
            return message
        case _:
            assert_never(outcome)


def done(became: OrderResult) -> str:
    match became:
        case OrderResult.FILLED:
            return "filled"
        case OrderResult.RESTING:
            return "rests"
        case OrderResult.CANCELLED:
            return "cancelled at once"
        case OrderResult.APPLIED:
            return "applied"
        case _:
            assert_never(became)


async def main(folder: Path) -> None:
    rest_url, stream_url, token, account_id = sys.stdin.read().split()
    steps: list[Progress] = []
    async with Client(
        rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id
    ) as client:
        sender = Sender(client, FileJournal(folder / "orders.jsonl"), lambda: 1, steps.append)
        assert_type(await sender.recover(), tuple[Outcome, ...])
        filled = await sender.create(MarketOrderRequest(instrument="EUR_USD", units=10))
        assert_type(filled, Outcome)
        assert words(filled) == "filled"
        assert words(await sender.close_position("EUR_USD", long_units="ALL")) == "filled"
        assert words(await sender.cancel("99999999")).startswith("refused with 404")
    assert len(steps) == 6


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder)))
