"""The confirmation that each action requires at each arming level, as one table.

Live accounts never require less than this table; practice accounts use the same one, so that habits carry over.
Reducing risk takes the send key, opening risk `y`, and dangerous actions a random letter that cannot have been typed in
advance. Only READ-ONLY refuses an exit.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Literal

from msgspec import Struct

from keydesk.keys.guard import CHALLENGE_LETTERS, SEND

Level = Literal["ARMED", "DISARMED", "READ-ONLY"]


class Step(Enum):
    """What an action requires before it is sent."""

    SEND_KEY = "y"
    CHALLENGE = "a letter shown at random"
    REFUSED = "refused"


class Action(Enum):
    """What a form does, as far as the confirmation depends on it."""

    CANCEL_ORDER = "cancel one order"
    CANCEL_ENTRIES = "cancel all entry orders"
    BREAK_EVEN = "move the stop to break-even"
    TIGHTEN = "tighten a stop"
    SCALE_OUT = "close a part"
    CLOSE = "close"
    ADD_PROTECTION = "add protection"
    MOVE_TARGET = "move a target"
    LOOSEN = "loosen or remove a stop"
    OPEN = "open"
    OPEN_AGAINST_WARNING = "open against a warning"
    REPLACE_ENTRY = "move an entry order"
    REVERSE = "reverse"
    FLATTEN = "flatten"
    CANCEL_PROTECTION = "cancel protective orders"
    OVER_LIMIT = "go over a hard limit, or trade on no price"
    CONFIGURE = "change the account's settings"
    LABEL = "change the tag or the comment of a trade or an order"


Y, LETTER, NO = Step.SEND_KEY, Step.CHALLENGE, Step.REFUSED

# The step while ARMED, then while DISARMED, which is also the level after the daily loss limit.
MATRIX: Mapping[Action, tuple[Step, Step]] = {
    Action.CANCEL_ORDER: (Y, Y),
    Action.CANCEL_ENTRIES: (Y, Y),
    Action.BREAK_EVEN: (Y, Y),
    Action.TIGHTEN: (Y, Y),
    Action.SCALE_OUT: (Y, Y),
    Action.CLOSE: (Y, Y),
    Action.ADD_PROTECTION: (Y, Y),
    Action.MOVE_TARGET: (Y, Y),
    Action.LOOSEN: (LETTER, NO),
    Action.OPEN: (Y, NO),
    Action.OPEN_AGAINST_WARNING: (LETTER, NO),
    Action.REPLACE_ENTRY: (Y, NO),
    Action.REVERSE: (LETTER, NO),
    Action.FLATTEN: (LETTER, LETTER),
    Action.CANCEL_PROTECTION: (LETTER, NO),
    Action.OVER_LIMIT: (NO, NO),
    Action.CONFIGURE: (LETTER, NO),
    Action.LABEL: (Y, Y),
}

# Exits: no guard, lock, limit or stale price refuses them; only the broker may.
EXITS = frozenset(
    {
        Action.CANCEL_ORDER,
        Action.CANCEL_ENTRIES,
        Action.BREAK_EVEN,
        Action.TIGHTEN,
        Action.SCALE_OUT,
        Action.CLOSE,
        Action.ADD_PROTECTION,
        Action.FLATTEN,
    }
)


def required_step(action: Action, level: Level) -> Step:
    """Return what the action asks for at this level."""
    if level == "READ-ONLY":
        return Step.REFUSED
    armed, disarmed = MATRIX[action]
    return armed if level == "ARMED" else disarmed


def is_refused_disarmed(action: Action) -> bool:
    """Return whether the action is no exit: a daily loss lock or a pause after losses refuses it, too."""
    return MATRIX[action][1] is Step.REFUSED


class Letters:
    """Source of challenge letters; two in a row differ."""

    def __init__(self, choose: Callable[[Sequence[str]], str]) -> None:
        self._choose = choose
        self._last = ""

    def draw(self) -> str:
        """Return the next letter to show."""
        self._last = self._choose([letter for letter in CHALLENGE_LETTERS if letter != self._last])
        return self._last


WRONG_LETTERS = 3  # of one challenge; the last of them closes the form


class Challenge:
    """The letter that an open form asks for; after a wrong one there is none until the form shows the next."""

    def __init__(self, letters: Letters) -> None:
        self._letters = letters
        self._letter = ""
        self._wrong = 0
        self._pauses = False

    def letter(self) -> str:
        """Return the letter that sends now; empty: another one comes."""
        if not self._letter and not self._pauses:
            self._letter = self._letters.draw()
        return self._letter

    @property
    def has_turned(self) -> bool:
        """Whether another letter was asked for before this one."""
        return self._wrong > 0

    def count_wrong(self) -> bool:
        """Count a wrong letter and withdraw the one that was asked for; return False when it was the last try."""
        self._wrong += 1
        self._letter, self._pauses = "", True
        return self._wrong < WRONG_LETTERS

    def end_pause(self) -> None:
        """Draw another letter at the next call.

        Only the form that shows it at once may call this: a key must not meet a letter that is not on the screen.
        """
        self._pauses = False


class KeyEffect(Enum):
    """What a key does to an open confirmation."""

    SENDS = "sends"
    WRONG = "wrong"  # sends nothing; a challenge continues with another letter
    NOTHING = "nothing"


class Confirmation(Struct, frozen=True):
    """What the open form requires now: the step, the letter of a challenge, the reason of a refusal.

    A challenge without a letter is between two letters: no key answers it.
    """

    step: Step
    letter: str = ""
    reason: str = ""
    is_of_draft: bool = (
        False  # the reason is in what the form holds, such as a field that is not filled yet
    )

    def answer(self, key: str) -> KeyEffect:
        """Return the effect of a key that belongs to no field; a wrong letter neither sends nor clears the form."""
        match self.step:
            case Step.SEND_KEY:
                wrong = key in CHALLENGE_LETTERS  # of a challenge that was asked for a moment ago
                return (
                    KeyEffect.SENDS
                    if key == SEND
                    else KeyEffect.WRONG
                    if wrong
                    else KeyEffect.NOTHING
                )
            case Step.CHALLENGE if not self.letter:
                return KeyEffect.NOTHING
            case Step.CHALLENGE if key == self.letter:
                return KeyEffect.SENDS
            case Step.CHALLENGE if len(key) == 1 and key.isalpha() and key.islower():
                return KeyEffect.WRONG
            case _:
                return KeyEffect.NOTHING
