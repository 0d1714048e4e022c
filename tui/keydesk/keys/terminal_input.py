"""Bytes from the terminal become messages for the app; what cannot be read is dropped and counted, and ends nothing.

Undecodable are: a Latin-1 terminal's letters, 8-bit Alt, half a character. Textual's parser also raises on some
sequences of plain ASCII (`ESC [ 1 : 2 u`, or a key number beyond Unicode), and its generator is dead then: it is
replaced by a new one. A partial key sequence that unreadable bytes interrupt is dropped with them, so that
`ESC [`, garbage, `A` is not read as the key Up.

Replies to the query of `keydesk.widgets.terminal_query` may come after its time limit. While they are expected they
are removed from the input, so that no part of them counts as a key.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from textual import events
from textual.message import Message

from keydesk.keys.paste_limit import START, PasteClosingParser

INCOMPLETE_SECONDS = 0.5  # the rest of a character comes within milliseconds
ESCAPE_SECONDS = 0.1
ALT_AND_A_KEY = 2  # characters
REPLIES_SECONDS = 10.0  # after this, what looks like a reply is from somewhere else
LARGEST_REPLY = 16 * 1024  # characters
LARGEST_SIZE = 5000  # columns or rows that a terminal may say it has
# Python marks an undecodable byte b as the lone surrogate U+DC00 + b (error handler `surrogateescape`).
# An Esc directly before it was 8-bit Alt or Alt with such a character.
UNREADABLE = re.compile("\x1b?[\udc80-\udcff]+")
SURROGATE = re.compile("[\ud800-\udfff]")
REPLY = re.compile(
    r"\x1b\[[?>=][0-9;:]*[a-xz]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\"
)
LAST_REPLY = re.compile(r"\x1b\[\?[\d;]*c")
REPLY_BEGUN = re.compile(r"\x1b(?:\[(?:[?>=][0-9;:]*)?|\][^\x07\x1b]*\x1b?|[P_^X][^\x1b]*\x1b?)?\Z")


class InputDropped(Message):
    """Input could not be read and was dropped; it never became keys."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    @property
    def words(self) -> str:
        """What was dropped, and the remedy."""
        if not self.data:
            return "Dropped a key sequence that could not be read. Nothing was pressed."
        shown = self.data[:4].hex(" ").upper() + (" …" if len(self.data) > 4 else "")  # noqa: PLR2004
        what = (
            f"a byte that is no UTF-8 ({shown})"
            if len(self.data) == 1
            else f"{len(self.data)} bytes that are no UTF-8 ({shown})"
        )
        return f"Dropped {what}: set the terminal's character encoding to UTF-8."


class TerminalInput:
    """Decodes and parses what the terminal sends; `feed` and `tick` never raise."""

    def __init__(
        self, *, replies_expected: bool = False, clock: Callable[[], float] = monotonic
    ) -> None:
        self._clock = clock
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")
        self._parser = PasteClosingParser()
        self._incomplete_since: float | None = None
        self._replies_until = clock() + REPLIES_SECONDS if replies_expected else float("-inf")
        self._reply = ""  # the beginning of one
        self._reply_since = 0.0

    def feed(self, data: bytes) -> Iterator[Message]:
        """Return the messages of the next bytes."""
        yield from self._read(self._decoder.decode(data))
        pending = bool(self._decoder.getstate()[0])
        self._incomplete_since = self._clock() if pending else None

    def tick(self) -> Iterator[Message]:
        """Return the messages that are due without further bytes: a lone Esc, the end of an endless paste."""
        now = self._clock()
        if self._incomplete_since is not None and now - self._incomplete_since > INCOMPLETE_SECONDS:
            self._incomplete_since = None
            yield from self._read(self._decoder.decode(b"", final=True))
        yield from self._overdue_reply(now)
        yield from self._guarded(self._parser.tick)

    def _read(self, text: str) -> Iterator[Message]:
        if self._clock() < self._replies_until or self._reply:
            text = self._without_replies(text)
        dropped, at = "", 0
        for bad in UNREADABLE.finditer(text):
            yield from self._parsed(text[at : bad.start()])
            self._interrupt()
            dropped += bad[0].removeprefix("\x1b")
            at = bad.end()
        yield from self._parsed(text[at:])
        if dropped:
            yield InputDropped(dropped.encode("utf-8", "surrogateescape"))

    def _without_replies(self, text: str) -> str:
        """Remove replies; the beginning of one waits for its rest."""
        text, self._reply = self._reply + text, ""
        if LAST_REPLY.search(text):
            self._replies_until = float("-inf")
        text = REPLY.sub("", text)
        begun = REPLY_BEGUN.search(text)
        if begun is None or self._clock() >= self._replies_until:
            return text
        if len(begun[0]) <= LARGEST_REPLY:
            self._reply, self._reply_since = begun[0], self._clock()
        return text[: begun.start()]

    def _overdue_reply(self, now: float) -> Iterator[Message]:
        """Give up on a reply: what is as short as Esc, or Alt and one key, was pressed by a person."""
        by_hand = len(self._reply) <= ALT_AND_A_KEY
        limit = ESCAPE_SECONDS if by_hand else INCOMPLETE_SECONDS
        if self._reply and now - self._reply_since > limit:
            begun, self._reply = self._reply, ""
            if by_hand:
                yield from self._parsed(begun)

    def _parsed(self, text: str) -> Iterator[Message]:
        if text:  # an empty one means the end to Textual's parser
            yield from self._guarded(lambda: self._parser.feed(text))

    def _guarded(self, parse: Callable[[], Iterable[Message]]) -> Iterator[Message]:
        try:
            for message in parse():
                if _is_sound(message):
                    yield message
                else:
                    yield InputDropped(b"")
        except Exception:  # noqa: BLE001 - whatever the parser makes of it, the keyboard goes on
            in_paste, self._parser = self._parser.in_paste, PasteClosingParser()
            if in_paste:  # its rest must not become keys
                yield from self._parser.feed(START)
            yield InputDropped(b"")

    def _interrupt(self) -> None:
        """Drop a key sequence that is not complete; a paste goes on without the bytes."""
        if not self._parser.in_paste:
            self._parser = PasteClosingParser()


def _is_sound(message: Message) -> bool:
    """Whether the app can work with it: text that can be encoded, a size that can be drawn."""
    match message:
        case events.Key():
            return not SURROGATE.search(f"{message.key}{message.character or ''}")
        case events.Resize():
            return all(1 <= side <= LARGEST_SIZE for side in message.size)
        case _:
            return True
