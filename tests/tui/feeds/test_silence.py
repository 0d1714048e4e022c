"""A price stream that falls silent without closing: said, left, and opened again."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.conversions import watch_names
from keydesk.feeds.instruments import list_instruments
from keydesk.feeds.session import watch_health
from keydesk.store.store import Store
from keydesk_client.client import Client
from keydesk_client.following.feeds import stream_prices
from keydesk_client.streams.settings import StreamSettings
from support.data.account_history import instrument, price
from support.fakes.scripted_broker import running, until

STALL = 0.2  # seconds, for ten


@dataclass
class SilentServer:
    """Answers one request a connection; a stream gets one price and then nothing, for ever."""

    streams: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if b"/pricing/stream" in request:
            self.streams += 1
            sent = price("EUR_USD", "1.08490", f"1.085{self.streams:02}")
            line = json.dumps(sent.to_wire()).encode() + b"\n"
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            await reader.read()  # until the client leaves
        else:
            listed = [instrument("EUR_USD").to_wire()]
            body = json.dumps({"instruments": listed, "lastTransactionID": "3"}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


IMPATIENT = StreamSettings(stall_s=STALL, first_backoff_s=0.01, max_backoff_s=0.02)
"""A stream is tired of silence fifty times sooner."""


@contextlib.asynccontextmanager
async def desk_on(server: SilentServer, socket: Path) -> AsyncIterator[AccountFeed]:
    listening = await asyncio.start_unix_server(server.serve, socket)
    url = f"http+unix://{socket}"
    client = Client(token="t", rest_url=url, stream_url=url, account_id="101-001-1-001")
    feed = AccountFeed(client=client, store=Store())
    feed.follower.stream_settings = IMPATIENT
    try:
        async with running(feed, list_instruments, stream_prices, watch_names, watch_health):
            yield feed
    finally:
        listening.close()
        await listening.wait_closed()


async def test_a_silent_stream_is_left_and_opened_again(practice_folder: Path) -> None:
    server = SilentServer()
    async with desk_on(server, practice_folder / "s") as feed:
        await until(lambda: server.streams == 2)
        await until(lambda: str(feed.store.quotes["EUR_USD"].ask) == "1.08502")
        said = [line.text for line in feed.store.log]
        assert "The price stream was interrupted and is back" in said
        assert feed.store.health.prices == "OK"
