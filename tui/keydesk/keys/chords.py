"""Two keys that mean one thing: `g` and then where to go."""

from dataclasses import dataclass, field

from keydesk.keys.keymap import KeyMap

PATIENCE = 2.0  # seconds a first key waits for the second


@dataclass(slots=True)
class Chords:
    """Follows the first key of a chord until its second one, or until patience ends."""

    keymap: KeyMap
    first: str = field(default="", init=False)
    since: float = field(default=0.0, init=False)

    def key(self, key: str, time: float, context: str) -> str | None:
        """Return the action of a finished chord, "" when the key is eaten, None when it is no chord."""
        first, self.first = self.first, ""
        if first and time - self.since <= PATIENCE:
            return self.keymap.chord(context, first, key) or ""
        if key in self.keymap.prefixes(context):
            self.first, self.since = key, time
            return ""
        return None
