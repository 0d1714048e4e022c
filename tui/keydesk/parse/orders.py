"""Parse an order of the command line, such as `b eurusd 50k @1.0830 sl 20p tp 2r gtd 4h`.

The order only fills a ticket, which asks for its own confirmation. Fields that are missing come from the template. An
error names the field and shows how to write it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from decimal import Decimal

from keydesk.calc.orders.expiry_time import HOW, expiry_ns
from keydesk.calc.orders.ticket_draft import (
    KIND_WORDS,
    MARKET_EXPIRIES,
    PENDING_EXPIRIES,
    TYPED_EXPIRY,
    Draft,
    Entry,
    Kind,
)

MAX_DECIMALS = 7
NUMBER = re.compile(
    rf"\d{{1,12}}(\.\d{{1,{MAX_DECIMALS}}})?|\.\d{{1,10}}", re.ASCII
)  # no longer than a field
TOO_FINE = re.compile(rf"-?\d{{0,12}}\.\d{{{MAX_DECIMALS + 1},}}[kmpar%]?", re.ASCII)
DATED = re.compile(r"\d{4}-\d\d-\d\d[ t]\d\d?:\d\d", re.ASCII)
THOUSANDS = {"k": Decimal(1_000), "m": Decimal(1_000_000)}
KINDS: dict[str, Kind] = {
    "market": "MARKET",
    "limit": "LIMIT",
    "stop": "STOP",
    "touch": "MARKET_IF_TOUCHED",
}
ALONE: dict[str, tuple[str, Entry | str]] = {  # words without a value after them
    "nostop": ("stop", Entry("", "pips")),
    "notarget": ("target", Entry("", "R")),
    **{word: ("kind", kind) for word, kind in KINDS.items()},
    **{word: ("expiry", word.upper()) for word in ("gtc", "gfd", "fok", "ioc")},
}
KEYWORDS = ("sl", "tp", "tr", "bound", *ALONE, "gtd")
NONE = "none"


class OrderSyntaxError(Exception):
    """Raised for a word that cannot be read; the text names the field and shows how to write it."""


@dataclass(frozen=True, slots=True)
class ParsedOrder:
    """The fields that were typed; None means the template's value."""

    size: Entry | None = None
    kind: Kind | None = None
    price: Entry | None = None
    stop: Entry | None = None
    target: Entry | None = None
    trail: Entry | None = None
    bound: Entry | None = None
    expiry: str = ""
    until: str = ""  # of a typed expiry

    def on(self, ticket: Draft, now_ns: int = 0) -> Draft:
        """Return the ticket with these fields set; a time of day that was typed is the next one after `now_ns`."""
        kind = self.kind or ticket.kind
        usual = MARKET_EXPIRIES[0] if kind == "MARKET" else PENDING_EXPIRIES[0]
        stop, target = self.stop or ticket.stop, self.target or ticket.target
        if not stop.text and self.target is None and target.unit == "R":
            target = Entry("", "R")  # without a stop there is no R to measure it by
        members = ticket.members
        if self.until:
            members = members.put_text("until", self.until, now_ns)
        return replace(
            ticket,
            members=members,
            kind=kind,
            expiry=TYPED_EXPIRY if self.until else self.expiry or usual,
            size=self.size or ticket.size,
            price=self.price or ticket.price,
            stop=stop,
            target=target,
            trail=self.trail or ticket.trail,
            bound=self.bound or ticket.bound,
            active="size" if kind == "MARKET" else "price",
        )

    @property
    def text(self) -> str:
        """Return the parsed fields in words."""
        parts = [
            "" if self.kind is None else KIND_WORDS[self.kind],
            _field_text("at", self.price),
            _field_text("stop", self.stop),
            _field_text("target", self.target),
            _field_text("trail", self.trail),
            _field_text("bound", self.bound),
            self.expiry or (f"GTD {self.until}" if self.until else ""),
        ]
        return ", ".join(part for part in parts if part)

    @property
    def size_text(self) -> str:
        """Return the size in words: 50,000, or risk 1 %."""
        size = None if self.size is None else self.size.value
        if self.size is None or not isinstance(size, Decimal):
            return ""
        return f"risk {self.size.text} %" if self.size.unit == "risk %" else f"{size:,f}"


def parse_order(words: Sequence[str]) -> ParsedOrder:
    """Parse the words after side and instrument, in any order.

    Raises:
        OrderSyntaxError: one of them cannot be read, is given twice, or excludes another one.
    """
    order = ParsedOrder()
    left = list(words)
    while left:
        word = left.pop(0)
        name, value = _field(word, left)
        if _is_set(order, name):
            raise OrderSyntaxError(f"{name}: given twice ({word})")
        order = replace(order, **{name: value})  # type: ignore[arg-type]  # _field names its own
    return _agreeing(order)


def _field(word: str, left: list[str]) -> tuple[str, Entry | str]:
    """Parse one field and remove its value from `left`."""
    following: dict[str, tuple[str, Callable[[str], Entry]]] = {
        "sl": ("stop", _stop),
        "tp": ("target", _target),
        "tr": ("trail", _trail),
        "bound": ("bound", lambda text: _pips("bound", text, "bound 2p")),
    }
    if word in following:
        name, read = following[word]
        return name, read(left.pop(0) if left else "")
    if word in ALONE:
        return ALONE[word]
    if word == "gtd":
        return _expiry(left)
    if word.startswith("@"):
        return "price", _price(word[1:] or (left.pop(0) if left else ""))
    if word[0].isdigit() or word[0] == ".":
        return "size", _size(word)
    raise OrderSyntaxError(
        f"{word} is not a field: a size such as 50k or 1%, @price, {', '.join(KEYWORDS)}"
    )


def _agreeing(order: ParsedOrder) -> ParsedOrder:
    """Make a price alone a limit order; raise OrderSyntaxError for fields that exclude each other."""
    if order.price is not None and order.kind is None:
        order = replace(order, kind="LIMIT")
    pending = order.kind not in {None, "MARKET"}
    if order.price is not None and not pending:
        raise OrderSyntaxError("price: a market order takes none; leave @ or market out")
    if pending and order.price is None:
        raise OrderSyntaxError(
            f"price: {KIND_WORDS[order.kind or 'LIMIT']} needs one, such as @1.0830"
        )
    if order.bound is not None and pending:
        raise OrderSyntaxError("bound: only a market order has one; leave it out")
    if order.until and not pending:
        raise OrderSyntaxError("expiry: a market order does not rest; leave gtd out")
    choices = PENDING_EXPIRIES if pending else MARKET_EXPIRIES
    if order.expiry and order.expiry not in choices:
        kind = KIND_WORDS[order.kind or "MARKET"]
        raise OrderSyntaxError(
            f"expiry: a {kind} order takes {', '.join(choices)}, not {order.expiry}"
        )
    return order


def _is_set(order: ParsedOrder, name: str) -> bool:
    return getattr(order, name) not in {None, ""}


def _unreadable(name: str, text: str, right: str) -> OrderSyntaxError:
    """Return the error of a value: what is wrong with it, and how to write it."""
    if not text:
        wrong = "the value is missing"
    elif TOO_FINE.fullmatch(text):
        wrong = f"{text} has more than {MAX_DECIMALS} decimals"
    else:
        wrong = f"{text} is not valid"
    return OrderSyntaxError(f"{name}: {wrong}; write {right}")


def _size(text: str) -> Entry:
    if text.endswith("%") and NUMBER.fullmatch(text[:-1]):
        return Entry(text[:-1], "risk %")
    factor = THOUSANDS.get(text[-1], Decimal(1))
    digits = text[:-1] if text[-1] in THOUSANDS else text
    if not NUMBER.fullmatch(digits) or not Decimal(digits):
        raise _unreadable("size", text, "50000, 50k, 1.5m or, of NAV at risk, 1%")
    units = (Decimal(digits) * factor).normalize()
    return Entry(f"{units:f}", "units")


def _price(text: str) -> Entry:
    """Parse a price, or its distance from the market in pips."""
    under = text.startswith("-")
    digits = text.removeprefix("-").removesuffix("p")
    if not NUMBER.fullmatch(digits) or (under and not text.endswith("p")):
        right = "@1.0830, @15p for 15 pips away, @-15p for 15 under"
        raise _unreadable("price", text, right)
    if under:
        return Entry(f"-{digits}", "price")  # as a ticket's price field takes it
    return Entry(digits, "pips" if text.endswith("p") else "price")


def _stop(text: str) -> Entry:
    if text == NONE:
        return Entry("", "pips")
    return _level("stop", text, "sl 20p, sl 1.5a, sl 1.0810 or nostop")


def _target(text: str) -> Entry:
    if text == NONE:
        return Entry("", "R")
    if text.endswith("r") and NUMBER.fullmatch(text[:-1]):
        return Entry(text[:-1], "R")
    return _level("target", text, "tp 2r, tp 40p, tp 3a, tp 1.0900 or notarget")


def _trail(text: str) -> Entry:
    in_ranges = _in_ranges(text)
    return in_ranges or _pips("trail", text, "tr 15p or tr 1.5a")


def _in_ranges(text: str) -> Entry | None:
    """Return a distance in average true ranges, such as 1.5a; None for any other text."""
    digits = text.removesuffix("a")
    return Entry(digits, "ATR") if digits != text and NUMBER.fullmatch(digits) else None


def _level(name: str, text: str, right: str) -> Entry:
    if in_ranges := _in_ranges(text):
        return in_ranges
    digits = text.removesuffix("p")
    if not NUMBER.fullmatch(digits):
        raise _unreadable(name, text, right)
    return Entry(digits, "pips" if text.endswith("p") else "price")


def _pips(name: str, text: str, right: str) -> Entry:
    digits = text.removesuffix("p")
    if not NUMBER.fullmatch(digits):
        raise _unreadable(name, text, right)
    return Entry(digits, "pips")


def _expiry(left: list[str]) -> tuple[str, str]:
    """Parse the words after `gtd`: one of the usual hours, or a time that the ticket reads; remove them from `left`."""
    text = left.pop(0) if left else ""
    if f"GTD {text}" in PENDING_EXPIRIES:
        return "expiry", f"GTD {text}"
    if text.count("-") == len("--") and left and ":" in left[0]:
        text = f"{text} {left.pop(0)}"
    if not isinstance(expiry_ns(text, 0, 0, UTC), int) and not DATED.fullmatch(text):
        wrong = f"gtd {text} is not valid" if text else "gtd has no time after it"
        raise OrderSyntaxError(f"expiry: {wrong}; {HOW}")
    return "until", text


def _field_text(name: str, entry: Entry | None) -> str:
    if entry is None:
        return ""
    if not entry.text:
        return f"no {name}"
    unit = "" if entry.unit == "price" else f" {entry.unit}"
    return f"{name} {entry.text}{unit}"
