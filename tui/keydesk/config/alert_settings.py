"""How alerts reach the trader: the table `[alerts]` of `config.toml`.

    [alerts]
    notify = ["notify-send", "{title}", "{text}"]  # a program and its arguments, never a shell line
    notify_timeout = 10
    desktop = ["777"]                              # or "9", "99"; left out: what the terminal knows

    [alerts.kinds]
    alert = ["flash", "bell", "desktop", "command"]
    fill = ["bell"]
    disconnect = []

A line on the screen is always written.
"""

from pathlib import Path

from keydesk.config.folders import FILE
from keydesk.settings.toml_text import text_in
from keydesk.settings.values import AlertSettings


def load_alert_settings(folder: Path) -> AlertSettings:
    """Read the table in the folder's `config.toml`; a missing one means the defaults.

    Raises:
        BadSettings: a member of the file is not known, or has a wrong value.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return AlertSettings()
    from keydesk.settings.config_file import read_alert_settings  # noqa: PLC0415 - for a file only

    return read_alert_settings(path, text)
