"""A server that answers every request with the body of its path at once: for timings, where the client should be the slow end.

    python -m support.fakes.fixed_server FOLDER          # FOLDER holds a file for each path, `/` written `+`

A file whose name ends with `stream` is poured again and again, each line a chunk of its own, as fast as it is taken.
It prints its port and ends when its standard input does.
"""

import asyncio
import itertools
import sys
from pathlib import Path
from typing import NoReturn


async def serve(folder: Path) -> None:
    """Answer until standard input ends."""
    bodies = {path.name.replace("+", "/"): path.read_bytes() for path in folder.iterdir()}

    request_ids = itertools.count(1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(_length(head))
                path = head.split(b" ", 2)[1].split(b"?")[0].decode()
                body = bodies[path]
                if path.endswith("stream"):
                    await _pour(writer, body)
                status = b"201 Created" if head.startswith(b"POST") else b"200 OK"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nRequestID: %d\r\n"
                    b"Content-Length: %d\r\n\r\n" % (status, next(request_ids), len(body)) + body
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    server.close()


async def _pour(writer: asyncio.StreamWriter, lines: bytes) -> NoReturn:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    many = b"".join(
        b"%x\r\n" % len(line) + line + b"\r\n" for line in lines.splitlines(keepends=True)
    )
    while True:
        writer.write(many)
        await writer.drain()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
