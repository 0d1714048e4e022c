"""Limits of what is decoded: no answer may fill the memory or hold the event loop.

Measured with CPython 3.11 and pydantic 2: decoding costs up to 52 bytes of memory and 45 ns for each byte of JSON, most
for empty lists (100 bytes each) and objects with one member (320 bytes). Small bodies are harmless whatever they hold. In
larger ones the arrays, objects and values are counted before they are decoded.
"""

from dataclasses import dataclass
from typing import Final

from keydesk_client.errors import AnswerTooLarge


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The largest body that is decoded of one kind of answer, after decompression."""

    size: int
    """Bytes."""
    containers: int
    """JSON arrays and objects."""
    values: int
    """Elements of arrays and members of objects."""
    uncounted: int = 100_000
    """Bytes of a body whose containers and values are not counted: counting takes 1 ms for 1 MB."""

    def check(self, body: bytes | str, *, counted: bool = False) -> None:
        """Raise AnswerTooLarge when the body exceeds a limit; `counted`: count also in a small one."""
        if len(body) > self.size:
            raise too_large(self.size)
        if len(body) <= self.uncounted and not counted:
            return
        containers, commas = _counts(body)
        if containers > self.containers:
            raise AnswerTooLarge(f"the answer has more than {self.containers:,} arrays and objects")
        if commas + containers > self.values:
            raise AnswerTooLarge(f"the answer has more than {self.values:,} values")


SMALL: Final = BodyLimits(1_000_000, 20_000, 60_000)
"""One record, or a list that the service keeps short: accounts, a book."""
INSTRUMENTS: Final = BodyLimits(2_500_000, 40_000, 120_000, uncounted=250_000)
"""1,000 instruments with all their terms are 1.1 MB, their prices with four levels a side 1.0 MB."""
WRITE: Final = BodyLimits(4_000_000, 50_000, 200_000)
"""The answer to an order: closing 5,000 trades at once is 1.3 MB a side."""
CANDLES: Final = BodyLimits(4_000_000, 40_000, 150_000, uncounted=800_000)
"""5,000 candles are 0.75 MB, of all three components 2.1 MB."""
LIST: Final = BodyLimits(6_000_000, 100_000, 300_000, uncounted=250_000)
"""5,000 open trades with a stop and a target each are 4.1 MB; 1,000 transactions, the most of a page, 3 MB."""
ERROR: Final = BodyLimits(256_000, 20_000, 60_000)
PRICE_LINE: Final = BodyLimits(64_000, 5_000, 20_000)
TRANSACTION_LINE: Final = BodyLimits(1024 * 1024, 20_000, 100_000)
"""Daily financing names every open trade."""


def _counts(body: bytes | str) -> tuple[int, int]:
    """Opening brackets and commas; those inside of text count as well, which errs on the safe side."""
    if isinstance(body, str):
        return body.count("[") + body.count("{"), body.count(",")
    return body.count(b"[") + body.count(b"{"), body.count(b",")


def too_large(most: int) -> AnswerTooLarge:
    """The error of a body with more bytes than its kind of answer may have."""
    return AnswerTooLarge(f"the answer is larger than {most} bytes")
