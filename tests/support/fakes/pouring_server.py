"""A server that pours prices as fast as they are taken, in a process of its own: prints its address."""

import asyncio
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from support.fakes.scripted_stream import price
from support.fakes.talking_server import talking_server

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(content: bytes) -> bytes:
    """A piece of a chunked answer."""
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Prices without end, each in a chunk of its own."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(HEAD)
    many = chunk(price()) * 200
    while True:
        writer.write(many)
        await writer.drain()


async def main() -> None:
    """Serve until the process is ended."""
    async with talking_server(pour) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
