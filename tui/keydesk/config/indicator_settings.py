"""The indicators of `templates.toml`: read at the start, and written when the trader chooses others.

The table has a list for each instrument, and one for those without their own:

    [indicators]
    default = ["ema 20", "ema 50"]
    EUR_USD = ["bb 20 2", "rsi 14"]
"""

from pathlib import Path

from keydesk.calc.market.indicator_specs import (
    EVERY_INSTRUMENT,
    IndicatorChoice,
)
from keydesk.config.folders import TEMPLATES_FILE
from keydesk.settings.toml_text import BadSettings
from keydesk_client.errors import UnsafeFile

TABLE = "indicators"


def save_indicators(folder: Path, choice: IndicatorChoice) -> None:
    """Write the chosen indicators; everything else in the file stays as it is, comments too.

    Raises:
        BadSettings: the file is not TOML, or `indicators` is not a table in it; nothing is written then.
        OSError: the file cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.config.file_edit import change_file  # noqa: PLC0415 - loads tomlkit

    def change(document: tomlkit.TOMLDocument) -> None:
        table = document.setdefault(TABLE, tomlkit.table())
        if not isinstance(table, dict):
            raise BadSettings(
                f"{folder / TEMPLATES_FILE}: {TABLE} must be a table, [{TABLE}]; fix it, then try again"
            )
        name = EVERY_INSTRUMENT if choice.everywhere else choice.instrument
        if choice.everywhere:
            table.pop(choice.instrument, None)
        table[name] = [each.text for each in choice.specs]

    change_file(folder, TEMPLATES_FILE, change)


def try_to_save(folder: Path, choice: IndicatorChoice) -> str:
    """Write the chosen indicators; return why that failed, "" if it did not."""
    try:
        save_indicators(folder, choice)
    except (BadSettings, UnsafeFile, OSError) as error:
        return str(error)
    return ""
