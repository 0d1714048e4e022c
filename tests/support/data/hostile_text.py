"""Text that a broken or hostile service may put into any member: what a terminal, a spreadsheet or a reader acts upon.

Every escape sequence here has numbers that the desk itself never sends (777, 4242), so that one that came through is
told from the desk's own.
"""

import random
from collections.abc import Iterator
from typing import Final

FRAGMENTS: Final = (
    "\x1b]52;c;NDI0Mg==\x07",  # puts text on the clipboard
    "\x1b]52;c;?\x1b\\",
    "\x1b]0;4242\x07",  # the window's title
    "\x1b]2;4242\x1b\\",
    "\x1b]8;;http://4242.test\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]1337;File=4242\x07",
    "\x1b]4;1;rgb:42/42/42\x07",
    "\x1bP4242q\x1b\\",  # device control strings
    "\x1bP$q4242\x1b\\",
    "\x1bP+q4242\x1b\\",
    "\x1b_4242\x1b\\",  # application commands
    "\x1b_Ga=T,f=4242\x1b\\",
    "\x1b^4242\x1b\\",
    "\x1bX4242\x1b\\",
    "\x1bktitle\x1b\\",
    "\x1b[777;777H",
    "\x1b[2J\x1b[3J",
    "\x1b[5;777m",
    "\x1b[777C",
    "\x1b[6n",
    "\x1b[c",
    "\x1b[21t",
    "\x1b[?1049l",
    "\x1b[?1003h",
    "\x1b[?2004l",
    "\x1b[!p",
    "\x1b[4i",
    "\x1b[777b",
    "\x1b[1;777r",
    "\x1bc",
    "\x1b(0",
    "\x1b#8",
    "\x1b7\x1b8\x1bD\x1bM\x1bE",
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x9b777;777H",  # the same with eight bits
    "\x9d52;c;NDI0Mg==\x9c",
    "\x9d0;4242\x9c",
    "\x904242q\x9c",
    "\x9f4242\x9c",
    "\x9e4242\x9c",
    "\x984242\x9c",
    "\x84\x85\x88\x8d\x8e\x8f\x9a",
    "\x00",
    "\x07\x08\x0e\x0f\x05",
    "\x7f",
    "\x0b\x0c\r\n\t",
    "a\nb\rc",
    "\u2028\u2029\x85",
    "\u202e\u202d\u202a\u202b\u202c",  # right to left
    "\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e",
    "\U000e0001\U000e0041\U000e007f",  # tags
    "\ufe0e\ufe0f\U000e0100\u034f",
    "\ue000\uf8ff\U000f0000\U0010ffff\ufffe",
    "\ufff9\ufffa\ufffb\ufffc",
    "\ud800",
    "\udfff\ud800",
    "e" + "\u0301" * 40,
    "\u0301\u20dd\u0489",
    "漢字仮名",
    "\u1100\u1161\u11a8\u115f\u3164\uffa0",
    "👩\u200d👩\u200d👧🏽🇩🇪",
    "שלום",
    "مرحبا",
    "[bold red]4242[/]",
    "[@click=app.bell]4242[/]",
    "[/]",
    "\\[",
    "%s%n{0}{",
    "=cmd|'/c 4242'!A1",
    "+4242+",
    "-4242-",
    "@SUM(4242)",
    "\t=4242",
    "\r=4242",
    '"=4242',
    "\uff1d4242",
    "',\"; --",
    "",
    " ",
)
WORDS: Final = ("EUR", "stop", "Limit order", "101-001", "42")
LONG: Final = 10_000


def hostile_text(rng: random.Random) -> str:
    """Return one hostile value; now and then a very long one."""
    if rng.random() < 0.02:
        return rng.choice(FRAGMENTS) + rng.choice("x漢\u0301\x1b ") * LONG
    parts = [rng.choice(FRAGMENTS) for _ in range(rng.randint(1, 3))]
    return rng.choice(("", *WORDS)) + rng.choice(("", " ")).join(parts)


def hostile_texts(seed: int, count: int) -> Iterator[str]:
    """Return every fragment by itself, then mixtures."""
    rng = random.Random(seed)
    for number in range(count):
        yield FRAGMENTS[number] if number < len(FRAGMENTS) else hostile_text(rng)
