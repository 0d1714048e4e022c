"""`keydesk history`: write the candles of any period to a CSV file, prices digit for digit.

The columns are those of the client's `candles.columns`, and so of its data frames; a file of mid prices is one that
`keydesk practice serve --candles` replays. Candles go to the disk as they come: a long period takes no more memory than
a short one, and a run that was killed goes on where it stopped.
"""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

from msgspec import Meta, Struct

from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.arguments.options import STDOUT
from keydesk.cli.candle_file import CandleWriter, PartialFile, day_of
from keydesk.cli.csv_output import refuse_existing, say_written
from keydesk.cli.option_values import instrument_of, read_period
from keydesk.cli.script_output import (
    AccountDocument,
    Instant,
    Refusal,
    UsageError,
    print_document,
    refusal_of,
)
from keydesk.terminal.output import print_error
from keydesk.text.sanitize import safe
from keydesk_client import DateTime
from keydesk_client.errors import Refused

PROGRESS_EVERY = 50_000  # candles


class MissingCandles(Struct, frozen=True):
    """Candles that are not in the series; of days and longer none is counted."""

    market_closed: Annotated[int, Meta(description="the market was closed when they began")]
    no_ticks: Annotated[int, Meta(description="it was open, and no price came")]


class HistoryDocument(AccountDocument, frozen=True, tag="history"):
    """`keydesk history ... --csv FILE --json`: what was written."""

    instrument: str
    granularity: str
    file: str
    candles: int
    first: Instant | None
    last: Instant | None
    missing: MissingCandles


def history(options: Namespace) -> int:
    """Write the file; return the exit code."""
    read_period(options)
    if options.from_ > DateTime.now():
        raise UsageError("--from is in the future")
    path = None if options.csv == STDOUT else options.csv
    if path is None and options.json:
        raise UsageError("--json reports about a file; name one with --csv")
    if path is not None:
        refuse_existing(path, overwrite=options.force)
    is_stream = path is None or (path.exists() and not path.is_file())
    return asyncio.run(_history(options, path, is_stream=is_stream))


async def _history(options: Namespace, path: Path | None, *, is_stream: bool) -> int:
    async with open_account(options) as account:
        options.instrument = await instrument_of(account, options.instrument)
        if path is None or is_stream:
            with _open_stream(path) as file:
                writer = CandleWriter(file, options.granularity)
                await _write(account, options, writer, options.to)
                file.flush()
        else:
            writer = await _write_file(account, options, path)
        if options.json:
            _say_report(account, options, writer)
            return 0
    say_written(writer.count, "candle", path)
    if writer.missing.text:
        print_error(safe(f"missing: {writer.missing.text}"))
    return 0


@contextmanager
def _open_stream(path: Path | None) -> Iterator[BinaryIO]:
    """Open a pipe or a device, or standard output."""
    if path is None:
        yield sys.stdout.buffer
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as file:
        yield file


async def _write_file(account: OpenAccount, options: Namespace, path: Path) -> CandleWriter:
    """Write the file, from where an earlier run of the same command stopped."""
    order = {
        "account": account.target.account_id,
        "instrument": options.instrument,
        "granularity": options.granularity,
        "price": options.price,
        "from": str(options.from_),
        "to": None if options.to is None else str(options.to),
        "now": str(DateTime.now()),
    }
    part = PartialFile(path, order)
    try:
        if part.resumes:
            print_error(safe(f"going on after {part.writer.count:,} candles of an earlier run"))
        end = DateTime(part.order["to"] or part.order["now"] or "")
        await _write(account, options, part.writer, end)
        part.complete()
    finally:
        part.close()
    return part.writer


async def _write(
    account: OpenAccount, options: Namespace, writer: CandleWriter, end: DateTime | None
) -> None:
    begin = options.from_ if writer.last_ns is None else DateTime.from_ns(writer.last_ns + 1)
    candles = account.client.candles.iterate(
        options.instrument,
        granularity=options.granularity,
        price=options.price,
        from_=begin,
        to=end,
    )
    try:
        async for candle in candles:
            if candle.complete and (writer.last_ns is None or candle.time.ns > writer.last_ns):
                writer.add(candle)
                if not writer.count % PROGRESS_EVERY and sys.stderr.isatty():
                    text = f"{writer.count:,} candles, to {day_of(candle.time.ns)}"
                    print_error(safe(text))
    except Refused as error:
        raise refusal_of(error, f"no candles of {options.instrument}", "invalid") from error
    if not writer.count:
        raise Refusal(
            f"{options.instrument} has no complete {options.granularity} candles there", "invalid"
        )


def _say_report(account: OpenAccount, options: Namespace, writer: CandleWriter) -> None:
    ends = (writer.first_ns, writer.last_ns)
    first, last = (None if each is None else str(DateTime.from_ns(each)) for each in ends)
    document = HistoryDocument(
        **account.head,
        instrument=options.instrument,
        granularity=options.granularity,
        file=str(options.csv),
        candles=writer.count,
        first=first,
        last=last,
        missing=MissingCandles(writer.missing.closed, writer.missing.no_ticks),
    )
    print_document(document)
