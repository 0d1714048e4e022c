"""Parse an order of the command line, such as `b eurusd 50k @1.0830 sl 20p tp 2r gtd 4h`.

The order only fills a ticket, which asks for its own confirmation. Fields that are missing come from the template. An
error names the field and shows how to write it.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.fields import Unit
from keydesk.calc.orders.lifetime import HOW, PENDING_EXPIRIES, TYPED_EXPIRY, is_expiry
from keydesk.calc.orders.ticket_draft import KIND_WORDS, MARKET_EXPIRIES, Draft, Kind, expiries_of
from keydesk.parse.price_levels import UnknownLevelError, with_prices
from keydesk.text.typed import FIELD_DECIMALS, Quantity, quantity

UNITS: Mapping[str, Unit] = {"": "price", "p": "pips", "a": "ATR", "r": "R"}
"""The units of a level or distance by the letter after it."""
FACTORS = {"": Decimal(1), "k": Decimal(1_000), "m": Decimal(1_000_000)}
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
TAKE_A_PRICE = ("sl", "tp")


class OrderSyntaxError(Exception):
    """Raised for a word that cannot be read; the text names the field and shows how to write it."""


class ParsedOrder(Struct, frozen=True):
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
        stop, target, trail = (
            before if typed is None else replace(typed, by_hand=True)
            for typed, before in (
                (self.stop, ticket.stop),
                (self.target, ticket.target),
                (self.trail, ticket.trail),
            )
        )
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
            trail=trail,
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


def parse_order(words: Sequence[str], levels: Sequence[PriceLevel] = ()) -> ParsedOrder:
    """Parse the words after side and instrument, the tokens of a line, in any order.

    `levels` are the trader's price levels of the instrument: @ and a name is a price.

    Raises:
        OrderSyntaxError: one of them cannot be read, is given twice, or excludes another one.
    """
    order = ParsedOrder()
    left = _with_prices(words, levels)
    while left:
        word = left.pop(0)
        name, value = _field(word, left)
        if _is_set(order, name):
            raise OrderSyntaxError(f"{name}: given twice ({word})")
        order = replace(order, **{name: value})  # _field names its own
    return _agreeing(order)


def _with_prices(words: Sequence[str], levels: Sequence[PriceLevel]) -> list[str]:
    """Return the words with the price of each named level; `sl @1.0830` is `sl 1.0830`."""
    try:
        return with_prices(words, levels, TAKE_A_PRICE)
    except UnknownLevelError as error:
        raise OrderSyntaxError(f"price: {error}") from error


def _field(word: str, left: list[str]) -> tuple[str, Entry | str]:
    """Parse one field and remove its value from `left`."""
    if word in FOLLOWED:
        name, read = FOLLOWED[word]
        return name, read(left.pop(0) if left else "")
    if word in ALONE:
        return ALONE[word]
    if word == "gtd":
        return _expiry(left)
    if word == "@":
        return "price", _price(left.pop(0) if left else "")
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
    choices = expiries_of(order.kind or ("LIMIT" if pending else "MARKET"))
    if order.expiry and order.expiry not in choices:
        kind = KIND_WORDS[order.kind or "MARKET"]
        raise OrderSyntaxError(
            f"expiry: a {kind} order takes {', '.join(choices)}, not {order.expiry}"
        )
    return order


def _is_set(order: ParsedOrder, name: str) -> bool:
    return getattr(order, name) not in {None, ""}


def _number(text: str, units: str = "", signs: str = "") -> Quantity | None:
    return quantity(text, units, signs=signs, decimals=FIELD_DECIMALS)


def _unreadable(name: str, text: str, right: str) -> OrderSyntaxError:
    """Return the error of a value: what is wrong with it, and how to write it."""
    if not text:
        wrong = "the value is missing"
    elif (
        typed := quantity(text, "kmpar%", signs="-", decimals=len(text))
    ) and typed.decimals > FIELD_DECIMALS:
        wrong = f"{text} has more than {FIELD_DECIMALS} decimals"
    else:
        wrong = f"{text} is not valid"
    return OrderSyntaxError(f"{name}: {wrong}; write {right}")


def _size(text: str) -> Entry:
    typed = _number(text, "km%")
    if typed is not None and typed.unit == "%":
        return Entry(typed.text, "risk %")
    if typed is None or not typed.number:
        raise _unreadable("size", text, "50000, 50k, 1.5m or, of NAV at risk, 1%")
    units = (typed.number * FACTORS[typed.unit]).normalize()
    return Entry(f"{units:f}", "units")


def _price(text: str) -> Entry:
    """Parse a price, or its distance from the market in pips."""
    typed = _number(text, "p", "-")
    if typed is None or (typed.number.is_signed() and not typed.unit):
        right = "@1.0830, @15p for 15 pips away, @-15p for 15 under"
        raise _unreadable("price", text, right)
    if typed.number.is_signed():
        return Entry(typed.text, "price")  # as a ticket's price field takes it
    return Entry(typed.text, UNITS[typed.unit])


def _stop(text: str) -> Entry:
    if text == NONE:
        return Entry("", "pips")
    return _level("stop", text, "ap", "sl 20p, sl 1.5a, sl 1.0810 or nostop")


def _target(text: str) -> Entry:
    if text == NONE:
        return Entry("", "R")
    return _level("target", text, "apr", "tp 2r, tp 40p, tp 3a, tp 1.0900 or notarget")


def _trail(text: str) -> Entry:
    return _distance("trail", text, "ap", "tr 15p or tr 1.5a")


def _bound(text: str) -> Entry:
    return _distance("bound", text, "p", "bound 2p")


def _level(name: str, text: str, units: str, right: str) -> Entry:
    """Parse a price, or a distance with its unit."""
    typed = _number(text, units)
    if typed is None:
        raise _unreadable(name, text, right)
    return Entry(typed.text, UNITS[typed.unit])


def _distance(name: str, text: str, units: str, right: str) -> Entry:
    """Parse a distance; without a unit it is in pips."""
    entry = _level(name, text, units, right)
    return replace(entry, unit="pips") if entry.unit == "price" else entry


def _expiry(left: list[str]) -> tuple[str, str]:
    """Parse the words after `gtd`: one of the usual hours, or a time that the ticket reads; remove them from `left`."""
    text = left.pop(0) if left else ""
    if f"GTD {text}" in PENDING_EXPIRIES:
        return "expiry", f"GTD {text}"
    if text.count("-") == len("--") and left and ":" in left[0]:
        text = f"{text} {left.pop(0)}"
    if not is_expiry(text):
        wrong = f"gtd {text} is not valid" if text else "gtd has no time after it"
        raise OrderSyntaxError(f"expiry: {wrong}; {HOW}")
    return "until", text


FOLLOWED: Mapping[str, tuple[str, Callable[[str], Entry]]] = {  # words with a value after them
    "sl": ("stop", _stop),
    "tp": ("target", _target),
    "tr": ("trail", _trail),
    "bound": ("bound", _bound),
}


def _field_text(name: str, entry: Entry | None) -> str:
    if entry is None:
        return ""
    if not entry.text:
        return f"no {name}"
    unit = "" if entry.unit == "price" else f" {entry.unit}"
    return f"{name} {entry.text}{unit}"
