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

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keydesk.config.folders import FILE
from keydesk.settings.toml_text import BadSettings, text_in
from keydesk.settings.values import AlertSettings, Channel, EventKind


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


def save_channels(folder: Path, kind: EventKind, channels: Sequence[Channel]) -> None:
    """Write the channels of a kind of event; everything else in the file stays as it is, comments too.

    Raises:
        BadSettings: the file is not TOML, or `alerts` is not a table in it; nothing is written then.
        OSError: the file cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.config.file_edit import change_file  # noqa: PLC0415 - loads tomlkit

    def change(document: Any) -> None:  # noqa: ANN401 - tomlkit's document
        alerts = document.setdefault("alerts", tomlkit.table())
        kinds = alerts.setdefault("kinds", tomlkit.table()) if isinstance(alerts, dict) else None
        if not isinstance(kinds, dict):
            raise BadSettings(
                f"{folder / FILE}: alerts must be a table, [alerts.kinds]; fix it first"
            )
        kinds[kind] = list(channels)

    change_file(folder, FILE, change)
