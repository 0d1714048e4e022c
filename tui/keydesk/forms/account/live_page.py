"""A page of names and values that is computed again with each frame, and the words its rows are made of."""

import re
from abc import abstractmethod
from decimal import Decimal

from keydesk.forms.details_form import DetailsForm, Rows
from keydesk.store.frame import Frame
from keydesk.text.format import EMPTY, money, percent
from keydesk.text.sanitize import Printable, clean

BAR = 10  # cells of a bar
WORDS = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")
DEEPEST = 3  # levels of a record in words
MAX_ITEMS = 20


class LivePage(DetailsForm):
    """A page whose rows follow prices and account; it opens at its top."""

    def __init__(self, title: Printable) -> None:
        super().__init__(title, ())
        self.rows = tuple(self.compute())

    @abstractmethod
    def compute(self) -> Rows:
        """Return the rows as they are now."""

    def on_frame(self, _frame: Frame) -> None:
        self.show_now()

    def show_now(self) -> None:
        """Compute the rows again and draw them."""
        self.rows = tuple(self.compute())
        self.redraw()


def bar(share: Decimal, cells: int = BAR) -> str:
    """Return a bar of blocks for a share from 0 to 1."""
    filled = int(min(max(share, Decimal(0)), Decimal(1)) * cells)
    return "█" * filled + "░" * (cells - filled)


def rate_text(rate: Decimal) -> str:
    """Return a margin rate and the leverage that it allows."""
    return f"{percent(rate)} %, {money(1 / rate, 0)} to 1" if rate else EMPTY


def name_text(member: str) -> str:
    """Return the name of a member on the wire as words, which wrap at spaces: guaranteed stop loss order mode."""
    parts = WORDS.findall(member)
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in parts)


def value_text(value: object, depth: int = 0) -> str:
    """Return a value of the wire in words: records and lists as their members, true and false as yes and no."""
    match value:
        case None | "":
            return EMPTY
        case bool():
            return "yes" if value else "no"
        case dict() if depth < DEEPEST:
            inner = list(value.items())[:MAX_ITEMS]
            phrases = ", ".join(f"{name_text(str(k))} {value_text(v, depth + 1)}" for k, v in inner)
            return phrases or EMPTY
        case list() | tuple() if depth < DEEPEST:
            phrases = ", ".join(value_text(each, depth + 1) for each in value[:MAX_ITEMS])
            more = f" and {len(value) - MAX_ITEMS} more" if len(value) > MAX_ITEMS else ""
            return f"{phrases}{more}" or EMPTY
        case dict() | list() | tuple():
            return "…"
        case _:
            return clean(f"{value}")
