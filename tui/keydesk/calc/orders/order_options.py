"""The members of an order that are rarely changed, each declared once: its key, its words, and where the request has it.

A member that the request holds as it is, is one row of `OPTIONS` and one member of `OrderOptions` of the same name: its
key, its line in the ticket, its help, the limit of its length and the request follow.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.fields import Field
from keydesk.calc.orders.lifetime import TILL_CANCELLED, LifetimeDraft

Fill = Literal["DEFAULT", "OPEN_ONLY", "REDUCE_FIRST", "REDUCE_ONLY"]
Trigger = Literal["DEFAULT", "INVERSE", "BID", "ASK", "MID"]
DependentName = Literal["stop", "target", "trail"]
OptionName = Literal["trigger", "fill", "tag", "comment", "trade_id"]
TextName = Literal["until", "ends", "scale"] | OptionName

LEVELS: tuple[DependentName, ...] = ("stop", "target", "trail")
MAX_TEXT = 128  # characters of a tag, a comment or an id that the broker takes
FILL_WORDS: Mapping[str, str] = {
    "DEFAULT": "as the account does",
    "OPEN_ONLY": "opens only",
    "REDUCE_FIRST": "reduces first, then opens",
    "REDUCE_ONLY": "reduces only",
}
TRIGGERS: tuple[Trigger, ...] = ("DEFAULT", "INVERSE", "BID", "ASK", "MID")
TRIGGER_WORDS: Mapping[str, str] = {
    "DEFAULT": "usual: ask for buys, bid for sells",
    "INVERSE": "inverse: bid for buys, ask for sells",
    "BID": "the bid",
    "ASK": "the ask",
    "MID": "the mid price",
}


class Option(NamedTuple):
    """A member of an order that is chosen or typed."""

    field: Field
    """Its key, label and help."""
    member: str = ""
    """Of the request, which holds it as it is; "": it is sent in a way of its own."""
    words: Mapping[str, str] = {}
    """Of each choice, the usual one first; none: it is a text that is typed."""
    rests: bool = False
    """Whether only an order that rests has it."""
    opens: bool = False
    """Whether only an order that may open a trade has it."""


OPTIONS: Mapping[OptionName, Option] = {
    "trigger": Option(
        Field("trigger", "i", "trigger", "Trigger: bid, ask or mid"),
        "trigger_condition",
        TRIGGER_WORDS,
        rests=True,
    ),
    "fill": Option(
        Field("fill", "l", "fills", "Opens or reduces only"), "position_fill", FILL_WORDS
    ),
    "tag": Option(Field("tag", "k", "tag", "Write a tag")),
    "comment": Option(Field("comment", "j", "comment", "Write a comment")),
    "trade_id": Option(
        Field("ticket-trade-id", "#", "trade id", "Write the trade's id"), opens=True
    ),
}
"""In the order of the help and of the ticket, where choices come before texts."""

TICKET_TEXTS: Mapping[TextName, Field] = {
    "until": Field("until", "g", "until", "Type the order's expiry: 4h"),
    "ends": Field("ticket-ends", ":", "ends", "Type expiry of stop, target"),
    "scale": Field("ticket-scale", "/", "scale", "Scale-out: 33/33/34 1r 2r"),
    **{name: option.field for name, option in OPTIONS.items() if not option.words},
}
"""The texts of a ticket."""


class OrderOptions(Struct, frozen=True):
    """The members of an order that are rarely changed, as chosen and typed."""

    guaranteed: bool = False  # the stop is a guaranteed one
    stop_from_fill: bool = False  # of a market order: the broker counts it from the fill
    fill: Fill = "DEFAULT"
    trigger: Trigger = "DEFAULT"  # of a pending order
    gtd_text: str = ""  # the expiry as typed
    gtd_typed_ns: int = 0  # when; a time of day is the next one after it
    stop_lifetime: LifetimeDraft = TILL_CANCELLED  # of the stop that the fill sets
    target_lifetime: LifetimeDraft = TILL_CANCELLED
    trail_lifetime: LifetimeDraft = TILL_CANCELLED
    tag: str = ""
    comment: str = ""
    trade_id: str = ""  # client id of the trade that it opens; that of the order is the desk's
    scale: str = ""  # the scale-out as typed: 33/33/34 1r 2r

    def cycled(self, name: OptionName) -> "OrderOptions":
        """Select the next choice of an option."""
        choices = list(OPTIONS[name].words)
        at = choices.index(self.text(name)) + 1
        return replace(self, **{name: choices[at % len(choices)]})

    def text(self, name: TextName, level: DependentName = "stop") -> str:
        """Return what is chosen of an option, or the text of a field; an end is that of a level."""
        match name:
            case "until":
                return self.gtd_text
            case "ends":
                return self.lifetime(level).text
            case _:
                return str(getattr(self, name))

    def put_text(
        self, name: TextName, text: str, now_ns: int, level: DependentName = "stop"
    ) -> "OrderOptions":
        """Return the members with other text in a field; one character beyond the limit stays, to be refused."""
        text = text[: MAX_TEXT + 1]
        match name:
            case "until":
                return replace(self, gtd_text=text, gtd_typed_ns=now_ns)
            case "ends":
                return self.with_lifetime(level, self.lifetime(level).with_text(text, now_ns))
            case _:
                return replace(self, **{name: text})

    def lifetime(self, level: DependentName) -> LifetimeDraft:
        """Return how long a level lives that the fill sets."""
        lives = {
            "stop": self.stop_lifetime,
            "target": self.target_lifetime,
            "trail": self.trail_lifetime,
        }
        return lives[level]

    def with_lifetime(self, level: DependentName, lifetime: LifetimeDraft) -> "OrderOptions":
        """Return the members with another lifetime of a level."""
        match level:
            case "stop":
                return replace(self, stop_lifetime=lifetime)
            case "target":
                return replace(self, target_lifetime=lifetime)
            case "trail":
                return replace(self, trail_lifetime=lifetime)
