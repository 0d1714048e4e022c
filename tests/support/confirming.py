"""What a person does at the bottom of a form: the send key, or the letter that it shows when the machine is slow."""

import re

from support.terminal import Terminal


def confirm(terminal: Terminal) -> None:
    """Read the form until its confirmation counts, then press what it asks for at that moment."""
    terminal.until(lambda: "y sends" in terminal.text or " to send" in terminal.text)
    terminal.pause()
    shown = re.search(r"type\s+(\w)\s+to send", terminal.text)
    terminal.press(shown.group(1) if shown else "y")
