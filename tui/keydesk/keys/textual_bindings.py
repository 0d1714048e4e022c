"""Turn the table of keys into Textual's bindings; the table itself is also read by commands that draw nothing."""

from textual.binding import Binding, BindingType

from keydesk.keys.keymap import KEYMAP, KeyMap, textual_name


def bindings_of(context: str, keymap: KeyMap = KEYMAP) -> list[BindingType]:
    """Return the bindings of the context's own single keys; `KeyMap.chord` handles chords."""
    return [
        Binding(textual_name(key), entry.action.format(key=key), entry.hint, id=entry.id)
        for entry in keymap.own(context)
        for key in entry.keys
        if " " not in key
    ]
