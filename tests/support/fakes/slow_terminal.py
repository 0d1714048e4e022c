"""A terminal at the end of a slow line: it takes so many bytes a second, and replies when it has read a request."""

import os
import re
import select
import time

from support.terminal import UNREAD, Terminal

ATTRIBUTES, STATUS = b"\x1b[c", b"\x1b[5n"  # DA1 and DSR
REPLIES = {ATTRIBUTES: b"\x1b[?62;22c", STATUS: b"\x1b[0n"}
REQUESTS = re.compile(b"|".join(map(re.escape, REPLIES)))
SLICE = 0.02  # seconds


class SlowTerminal(Terminal):
    """Reads at a pace."""

    bytes_a_second: float = float("inf")
    replies_to: frozenset[bytes] = frozenset(REPLIES)
    _since = 0.0
    _credit = 0.0
    _answered = 0

    def _read(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            if self._take():
                return True
            if time.monotonic() >= end:
                return False
            select.select([], [], [], min(SLICE, max(0.0, end - time.monotonic())))

    def _take(self) -> bool:
        now = time.monotonic()
        earned = min(1.0, (now - self._since) * self.bytes_a_second / 65536)
        self._credit = min(self._credit + earned * 65536, self.bytes_a_second * 2 * SLICE)
        self._since = now
        size = int(min(65536, self._credit))
        if self._tty < 0 or size < 1 or not select.select([self._tty], [], [], 0)[0]:
            return False
        try:
            data = os.read(self._tty, size)
        except OSError:  # the program has closed its side
            return False
        self._credit -= len(data)
        self.raw += data
        self._stream.feed(UNREAD.sub(b"", data))
        for request in REQUESTS.finditer(self.raw, self._answered):
            self._answered = request.end()
            if request[0] in self.replies_to:
                self.write(REPLIES[request[0]])
        return bool(data)
