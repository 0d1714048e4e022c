"""Bytes from the terminal become Textual messages; undecodable input is dropped and reported.

Undecodable are, for example, Latin-1 letters, 8-bit Alt and half a character. Textual's parser also raises on some ASCII
sequences (`ESC [ 1 : 2 u`, a key number beyond Unicode), after which its generator is exhausted; it is then replaced. A
partial key sequence interrupted by undecodable bytes is dropped with them, so that `ESC [`, garbage, `A` is not read
as the key Up.

Text is split into control sequences (ECMA-48) before Textual's parser sees it. That parser abandons a sequence after
100 ms or 32 characters and turns its characters into keys: the `c` that ends a device report would be a challenge
letter. So only complete CSI sequences are passed on, and one that is no key is dropped; OSC, DCS, APC, PM and SOS strings
are always dropped, also when their end comes late.

Input faster than a person and key repeat is dropped and reported once a second; otherwise the app would act on it a
minute later. Of focus reports only the last one counts, and the app styles its whole screen anew for each, so they are
passed on a few times a second and never reported as dropped.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from msgspec import Struct, field
from textual import events
from textual.message import Message

from keydesk.terminal.paste import START, PasteClosingParser

INCOMPLETE_SECONDS = 0.5  # the rest of a character or sequence comes within milliseconds
MAX_SEQUENCE_SECONDS = 2.0  # from its beginning, however often a piece of it comes
REST_SECONDS = 3.0  # the rest of a sequence that was given up may still come: a line lost a packet
ESCAPE_SECONDS = 0.1
ALT_AND_A_KEY = 2  # characters
MAX_STRING_LENGTH = 16 * 1024  # characters that are kept
MAX_KEY_LENGTH = 32  # characters; Textual's parser takes a longer sequence for keys
MAX_SIZE = 5000  # columns or rows that a terminal may say it has
AT_ONCE, PER_SECOND = (
    300,
    100,
)  # messages: a key repeats at 30 Hz, a slow line delivers seconds of that at once
OVERRUN_EVERY = 1.0  # seconds
# Python marks an undecodable byte b as the lone surrogate U+DC00 + b (error handler `surrogateescape`).
# An Esc directly before it was 8-bit Alt or Alt with such a character.
UNREADABLE = re.compile("\x1b?[\udc80-\udcff]+")
SURROGATE = re.compile("[\ud800-\udfff]")
ESC = "\x1b"
C1 = {code: ESC + chr(code - 0x40) for code in (0x90, 0x98, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F)}
CSI, STRING = ESC + "[", r"\][^\x07\x1b]*(?:\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\"
# In this order: Linux console F1 to F5, an X10 mouse report, rxvt keys that end in $, any other CSI sequence, strings.
COMPLETE = re.compile(
    rf"\x1b(?:\[\[[A-E]|\[M[^\x1b]{{3}}|\[[0-9]+\$|\[(?![\[M])[0-?]*[ -/]*[@-~]|{STRING})"
)
BEGUN = re.compile(
    r"\x1b(?:\[(?:\[|M[^\x1b]{0,2}|[0-?]*[ -/]*)|\][^\x07\x1b]*\x1b?|[P_^X][^\x1b]*\x1b?)?\Z"
)
MALFORMED = re.compile(r"\x1b(?:\[(?:\[|M[^\x1b]{0,2}|[0-?]*[ -/]*)|\][^\x07\x1b]*|[P_^X][^\x1b]*)")
REST_OF_CSI = re.compile(r"[0-?]*[ -/]*[@-~]?")
REST_OF_STRING = re.compile(r"\\|[^\x07\x1b]*(?:\x07|\x1b\\)")
ATTRIBUTES_REPLY, STATUS_REPLY = re.compile(r"\x1b\[\?[\d;]*c"), re.compile(r"\x1b\[[03]n")
REPLY = re.compile(r"\x1b\[(?:[<-?].*|.*[cnRt])", re.DOTALL)


class InputDropped(Message):
    """Input could not be read and was dropped; it never became keys."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    @property
    def text(self) -> str:
        """Return what was dropped, and the remedy."""
        if not self.data:
            return "Dropped a key sequence that could not be read. Nothing was pressed."
        shown = self.data[:4].hex(" ").upper() + (" …" if len(self.data) > 4 else "")  # noqa: PLR2004
        what = (
            f"a byte that is not UTF-8 ({shown})"
            if len(self.data) == 1
            else f"{len(self.data)} bytes that are not UTF-8 ({shown})"
        )
        return f"Dropped {what}: set the terminal's character encoding to UTF-8."


class TerminalAnswered(Message):
    """The terminal answered a request: for its attributes (DA1), or for its status (DSR)."""

    def __init__(self, *, status: bool) -> None:
        super().__init__()
        self.status = status


class InputOverrun(Message):
    """Keys came faster than a person types and were dropped."""


class MessageBudget(Struct):
    """How many messages may be passed on now: `AT_ONCE`, refilled by `PER_SECOND`."""

    clock: Callable[[], float]
    left: float = AT_ONCE
    refilled_at: float = 0.0

    def take(self) -> bool:
        """Return whether one more message may be passed on."""
        now = self.clock()
        self.left = min(AT_ONCE, self.left + PER_SECOND * (now - self.refilled_at))
        self.refilled_at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


FocusReport = events.AppFocus | events.AppBlur
FOCUS_EVERY = 0.2  # seconds


class FocusReports(Struct):
    """The focus reports that are not passed on yet: nothing, a loss, a gain, or a loss and the gain after it."""

    clock: Callable[[], float]
    _held: list[FocusReport] = field(default_factory=list)
    _passed_at: float = float("-inf")

    def take(self, report: FocusReport) -> None:
        """Hold a report in place of earlier ones; a loss stays when the focus came back, for it disarms the desk."""
        losses = [each for each in self._held if isinstance(each, events.AppBlur)]
        self._held = [report] if isinstance(report, events.AppBlur) else [*losses, report]

    def due(self) -> list[FocusReport]:
        """Return the reports to pass on now: the first one at once, later ones after a pause."""
        return self._pass_on() if self.clock() - self._passed_at >= FOCUS_EVERY else []

    def before_a_key(self) -> list[FocusReport]:
        """Return the reports to pass on before a key: the key must find the desk disarmed after a loss of focus."""
        return (
            self._pass_on() if any(isinstance(each, events.AppBlur) for each in self._held) else []
        )

    def _pass_on(self) -> list[FocusReport]:
        held, self._held = self._held, []
        if held:
            self._passed_at = self.clock()
        return held


class TerminalInput:
    """Decodes and parses what the terminal sends; `feed` and `tick` never raise."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")
        self._parser = PasteClosingParser()
        self._incomplete_since: float | None = None
        self._prefix = ""  # the beginning of a sequence
        self._prefix_since = self._prefix_at = 0.0  # when its first and its last characters came
        self._abandoned_introducer = (
            ""  # the introducer of a sequence whose rest did not come in time
        )
        self._abandoned_at = float("-inf")
        self._keys, self._others = (MessageBudget(clock, refilled_at=clock()) for _ in range(2))
        self._focus = FocusReports(clock)
        self._late: events.Resize | None = None  # the last size, which must not be lost
        self._overrun_at = float("-inf")

    def feed(self, data: bytes) -> Iterator[Message]:
        """Return the messages of the next bytes."""
        yield from self._limit(self._read(self._decoder.decode(data)))
        pending = bool(self._decoder.getstate()[0])
        self._incomplete_since = self._clock() if pending else None

    def tick(self) -> Iterator[Message]:
        """Return the messages that are due without further bytes: a lone Esc, the end of an endless paste."""
        yield from self._limit(self._due())

    def _due(self) -> Iterator[Message]:
        now = self._clock()
        if self._late is not None:
            late, self._late = self._late, None
            yield late
        if self._incomplete_since is not None and now - self._incomplete_since > INCOMPLETE_SECONDS:
            self._incomplete_since = None
            yield from self._read(self._decoder.decode(b"", final=True))
        yield from self._overdue(now)
        yield from self._catch_parser_errors(self._parser.tick)

    def _limit(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Drop messages beyond the allowance; the last size is kept for later, and the last reports of focus."""
        waiting = None
        for message in messages:
            if isinstance(message, TerminalAnswered):
                yield message
            elif isinstance(message, FocusReport):
                self._focus.take(message)
                yield from self._focus.due()
            elif self._allowance_for(message).take():
                if isinstance(message, events.Key | events.Paste):
                    yield from self._focus.before_a_key()
                yield message
            else:
                if isinstance(message, events.Resize):
                    waiting = message
                if self._clock() - self._overrun_at > OVERRUN_EVERY:
                    self._overrun_at = self._clock()
                    yield InputOverrun()
        self._late = waiting or self._late
        yield from self._focus.due()

    def _allowance_for(self, message: Message) -> MessageBudget:
        return self._keys if isinstance(message, events.Key) else self._others

    def _read(self, text: str) -> Iterator[Message]:
        dropped, at = "", 0
        for bad in UNREADABLE.finditer(text):
            yield from self._cut(text[at : bad.start()])
            self._interrupt()
            dropped += bad[0].removeprefix(ESC)
            at = bad.end()
        yield from self._cut(text[at:])
        if dropped:
            yield InputDropped(dropped.encode("utf-8", "surrogateescape"))

    def _cut(self, text: str) -> Iterator[Message]:
        """Cut text into sequences and keys; the beginning of a sequence waits for its rest."""
        if not text:
            return
        text, prefix, self._prefix = self._prefix + text, self._prefix, ""
        if not self._parser.in_paste:
            text = text.translate(C1)
            rest = self._rest(text)
            if rest:
                text = text[rest:]
                yield InputDropped(b"")
        at = 0
        while at < len(text):
            if self._parser.in_paste:
                end = self._parser.end_of_paste(text[at:])
                yield from self._parse(text[at : at + end])
                at += end
            elif text[at] != ESC:
                end = text.find(ESC, at)
                end = end if end >= 0 else len(text)
                yield from self._parse(text[at:end])
                at = end
            elif complete := COMPLETE.match(text, at):
                yield from self._sequence(complete[0])
                at = complete.end()
            elif waits := BEGUN.match(text, at):
                self._hold(waits[0], prefix)
                return
            elif malformed := MALFORMED.match(text, at):
                yield InputDropped(b"")
                at = malformed.end()
            else:  # Esc and a key: Alt, or the keypad's sequences
                end = at + 1 if text[at + 1] == ESC else at + ALT_AND_A_KEY
                yield from self._parse(text[at:end])
                at = end

    def _sequence(self, sequence: str) -> Iterator[Message]:
        """Take a complete sequence: a key, a mouse or size report; what is none of them never becomes keys."""
        if ATTRIBUTES_REPLY.fullmatch(sequence):
            yield TerminalAnswered(status=False)
        elif STATUS_REPLY.fullmatch(sequence):
            yield TerminalAnswered(status=True)
        elif not sequence.startswith(CSI):
            return
        elif len(sequence) > MAX_KEY_LENGTH:
            yield InputDropped(b"")
        else:
            yield from self._parse(sequence)
            if self._parser.in_sequence:
                self._parser = PasteClosingParser()
                if not REPLY.fullmatch(sequence):
                    yield InputDropped(b"")

    def _hold(self, text: str, prefix: str) -> None:
        """Keep the beginning of a sequence, of a very long one its introducer."""
        now = self._clock()
        if not prefix or not text.startswith(prefix):
            self._prefix_since = now
        self._prefix = text if len(text) <= MAX_STRING_LENGTH else text[: ALT_AND_A_KEY + 1]
        self._prefix_at = now

    def _rest(self, text: str) -> int:
        """Return how many characters are the rest of a sequence that was given up a moment ago."""
        introducer, self._abandoned_introducer = self._abandoned_introducer, ""
        if not introducer or self._clock() - self._abandoned_at > REST_SECONDS:
            return 0
        pattern = REST_OF_CSI if introducer == CSI else REST_OF_STRING
        rest = pattern.match(text)
        if rest is None:
            return 0
        if introducer == CSI and rest.end() == len(text) and not rest[0][-1:].isalpha():
            self._abandoned_introducer = introducer  # its end is still to come
        return rest.end()

    def _overdue(self, now: float) -> Iterator[Message]:
        """Abandon an incomplete sequence; Esc, or Alt and one key, are passed on as keys."""
        by_hand = len(self._prefix) <= ALT_AND_A_KEY and self._prefix != CSI
        limit = ESCAPE_SECONDS if by_hand else INCOMPLETE_SECONDS
        endless = now - self._prefix_since > MAX_SEQUENCE_SECONDS
        if not self._prefix or (now - self._prefix_at <= limit and not endless):
            return
        prefix, self._prefix = self._prefix, ""
        if by_hand:
            yield from self._parse(prefix)
            yield from self._catch_parser_errors(self._parser.end_sequence)
        else:
            self._abandoned_introducer, self._abandoned_at = prefix[:2], now
            yield InputDropped(b"")

    def _parse(self, text: str) -> Iterator[Message]:
        if text:  # an empty one means the end to Textual's parser
            yield from self._catch_parser_errors(lambda: self._parser.feed(text))

    def _catch_parser_errors(self, parse: Callable[[], Iterable[Message]]) -> Iterator[Message]:
        try:
            for message in parse():
                if _is_sound(message):
                    yield message
                else:
                    yield InputDropped(b"")
        except Exception:  # noqa: BLE001 - whatever the parser raises, later keys must still work
            in_paste, self._parser = self._parser.in_paste, PasteClosingParser()
            if in_paste:  # the rest of the paste must not become keys
                yield from self._parser.feed(START)
            yield InputDropped(b"")

    def _interrupt(self) -> None:
        """Drop a key sequence that is not complete; a paste goes on without the bytes."""
        self._prefix = self._abandoned_introducer = ""
        if self._parser.in_sequence and not self._parser.in_paste:
            self._parser = PasteClosingParser()


def _is_sound(message: Message) -> bool:
    """Return whether the message is valid: encodable text, a size that can be drawn."""
    match message:
        case events.Key():
            return not SURROGATE.search(f"{message.key}{message.character or ''}")
        case events.Resize():
            return all(1 <= side <= MAX_SIZE for side in message.size)
        case _:
            return True
