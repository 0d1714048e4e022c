"""The name of a price level, typed into a field of a price: @ begins it, Enter or Tab puts the price there."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.calc.market.price_levels import MAX_NAME_LENGTH, PriceLevel
from keydesk.calc.orders.field_draft import Entry
from keydesk.forms.text_fields import edited_text
from keydesk.keys.keymap import KeyMap
from keydesk.parse.price_levels import SIGN, UnknownLevelError, price_of_level
from keydesk.text.sanitize import SafeText, safe

TAKES = frozenset(("enter", "tab"))
ENDS_NAME = "Enter takes the level; after that it can be sent"
NO_LEVELS = "There are no price levels here: {} at the crosshair names one"


class LevelName:
    """A name that is being typed: the text of its field is the sign and the name until the price takes its place."""

    def __init__(self, keymap: KeyMap) -> None:
        self._key = keymap.name("level-line")
        self._before: Entry | None = None  # what the field held
        self.hint = ""  # why a name was not taken

    @property
    def is_typed(self) -> bool:
        """Whether a name is being typed."""
        return self._before is not None

    def begin(self, entry: Entry, levels: Sequence[PriceLevel]) -> Entry:
        """Return the field in which a name begins; as it is where the instrument has no levels."""
        if not levels:
            self.hint = NO_LEVELS.format(self._key)
            return entry
        self._before = entry
        return Entry(SIGN, "price", fresh=False)

    def take(
        self, key: str, character: str | None, entry: Entry, levels: Sequence[PriceLevel]
    ) -> Entry:
        """Return the field after a key: Enter and Tab put the price of the level there, Esc what was there before."""
        before = self._before or entry
        if key == "escape" or (key == "backspace" and entry.text == SIGN):
            self._before = None
            return before
        if key in TAKES:
            return self._priced(entry, levels)
        letter, longest = (character or "").lower(), len(SIGN) + MAX_NAME_LENGTH
        return Entry(edited_text(entry.text, key, letter, longest), "price", fresh=False)

    def _priced(self, entry: Entry, levels: Sequence[PriceLevel]) -> Entry:
        try:
            price = _price(entry.text, levels)
        except UnknownLevelError as error:
            text = str(error)
            self.hint = f"{text[:1].upper()}{text[1:]}"
            return entry
        self._before = None
        return Entry(f"{price:f}", "price")

    def meaning(self, entry: Entry, levels: Sequence[PriceLevel]) -> SafeText:
        """Return the levels that the text may mean, each with its price."""
        found = [each for each in levels if each.name.startswith(entry.text[len(SIGN) :])]
        return safe("  ".join(f"{each.name} {each.price:f}" for each in found) or "no such level")


def _price(text: str, levels: Sequence[PriceLevel]) -> Decimal:
    """Return the price of the level of a name, or of the only one that begins with it."""
    name = text[len(SIGN) :]
    begun = [each for each in levels if each.name.startswith(name)]
    return price_of_level(begun[0].name if len(begun) == 1 else name, levels)
