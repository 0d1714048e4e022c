"""What every form is given: the store to read, the trader's template and limits, the clocks, the letters."""

from collections.abc import Callable
from dataclasses import dataclass, field

from keydesk.calc.template import Limits, Template
from keydesk.keys.confirm import Letters
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.store.store import Store

AskPrice = Callable[[str], None]
QuoteTrouble = Callable[[str], str]  # instrument -> why its old price could not be read again
SentLikeThis = Callable[[str, str, str], float | None]  # instrument, type, side -> seconds ago


def _never(_instrument: str, _kind: str, _side: str) -> float | None:
    return None


def _nobody(_instrument: str) -> None:
    return None


def _none(_instrument: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a form reads; it writes nothing of it."""

    store: Store
    letters: Letters
    clock: Callable[[], float]  # monotonic seconds
    wall_ns: Callable[[], int]
    template: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)
    preset: int = 3
    no_orders: str = ""  # why only exits leave
    sent_like_this: SentLikeThis = _never
    ask_price: AskPrice = _nobody  # have the price of an instrument read again
    quote_trouble: QuoteTrouble = _none
    keymap: KeyMap = KEYMAP
