"""Stands before a practice broker and says its answers twice: the copy crosses the next write on that connection.

relay = DoublingRelay(practice)
async with talking_server(relay.talk) as rest_url:
    relay.doubles = True        # the next write is met by the answer to the write before it, or to the failed read
"""

import asyncio
from dataclasses import dataclass, field

from support.broker import PracticeServer


@dataclass
class DoublingRelay:
    """Keeps the last answer to a write, or refusal, and says it again before the answer to the next write."""

    practice: PracticeServer
    doubles: bool = False
    crossed: list[str] = field(default_factory=list)
    """The targets of the writes that were met by another's answer."""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one connection; for `talking_server`."""
        before = b""
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target = head.split(" ", 2)[:2]
            sizes = (line for line in head.lower().split("\r\n") if "content-length:" in line)
            body = await reader.readexactly(int(next(sizes, ":0").partition(":")[2]))
            answer = await self.practice.http.request(method, target, content=body)
            said = self._encoded(answer.status_code, answer.content, answer.headers["RequestID"])
            if method != "GET" and self.doubles and before:
                self.crossed.append(target)
                writer.write(before)
            if method != "GET" or answer.is_error:
                before = said
            writer.write(said)

    def _encoded(self, status: int, content: bytes, request_id: str) -> bytes:
        head = (
            f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nRequestID: {request_id}\r\n"
        )
        return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
