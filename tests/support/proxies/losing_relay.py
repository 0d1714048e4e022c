"""Stands before a practice broker, passes everything on, and loses the answers that a test tells it to lose.

relay = LosingRelay(practice)
async with talking_server(relay.talk) as rest_url:
    relay.loses = True          # the broker acts on the next write, and nobody hears of it
"""

import asyncio
import json
from dataclasses import dataclass, field

import httpx

from support.broker import PracticeServer


@dataclass
class LosingRelay:
    """Writes can lose their answers; the account list can say that an account is linked, or say nothing."""

    practice: PracticeServer
    loses: bool = False
    linked: bool = False
    knows_accounts: bool = True
    writes: list[str] = field(default_factory=list)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one connection; for `talking_server`."""
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target = head.split(" ", 2)[:2]
            sizes = (line for line in head.lower().split("\r\n") if "content-length:" in line)
            body = await reader.readexactly(int(next(sizes, ":0").partition(":")[2]))
            answer = await self.practice.http.request(method, target, content=body)
            if method != "GET":
                self.writes.append(body.decode())
                if self.loses:
                    return
            self._say(writer, target, answer)

    def _say(self, writer: asyncio.StreamWriter, target: str, answer: httpx.Response) -> None:
        status, content = answer.status_code, answer.content
        if target == "/v3/accounts":
            status, content = self._accounts(answer)
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)

    def _accounts(self, answer: httpx.Response) -> tuple[int, bytes]:
        if not self.knows_accounts:
            return 503, b""
        found = answer.json()
        for account in found["accounts"] if self.linked else []:
            account["mt4AccountID"] = 7001
        return 200, json.dumps(found).encode()
