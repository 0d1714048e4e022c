"""`templates.toml`: read; templates exported and imported; the indicators of the charts written when the trader chooses others.

tomlkit, which keeps the comments, is imported by what writes.
"""

from decimal import Decimal
from pathlib import Path

from keydesk.calc.market.indicator_specs import EVERY_INSTRUMENT, IndicatorChoice
from keydesk.calc.orders.ticket_settings import Template
from keydesk.config.file_edit import change_file
from keydesk.config.folders import TEMPLATES_FILE
from keydesk.settings.toml_text import BadSettings, table_in, text_in
from keydesk.settings.values import OwnTemplates
from keydesk_client.errors import UnsafeFile

TEMPLATES_TABLE, INDICATORS_TABLE = "templates", "indicators"


def load_templates(folder: Path) -> OwnTemplates:
    """Read `templates.toml` in the folder; a missing file means the defaults.

    Raises:
        BadSettings: a key or value is wrong.
    """
    path = folder / TEMPLATES_FILE
    text = text_in(path)
    if not text:
        return OwnTemplates()
    from keydesk.settings.templates_file import read_templates  # noqa: PLC0415 - for a file only

    return read_templates(path, text)


def export_templates(
    folder: Path, names: tuple[str, ...] = (), standard: Template | None = None
) -> str:
    """Return the tables of the named templates, or of all, as TOML; `standard` has what they leave out.

    Raises:
        BadSettings: the file cannot be read, or there is no such template.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.settings.templates_file import read_templates  # noqa: PLC0415 - for a file only

    path = folder / TEMPLATES_FILE
    read_templates(path, text_in(path), standard)
    tables = table_in(path).get(TEMPLATES_TABLE, {})
    missing = [name for name in names if name not in tables]
    if missing:
        known = ", ".join(tables) or "none yet"
        raise BadSettings(f"{path}: there is no template {missing[0]!r} (known: {known})")
    document = tomlkit.document()
    kept = tomlkit.table(is_super_table=True)
    for name in names or tuple(tables):
        kept[name] = {key: _plain(value) for key, value in tables[name].items()}
    document[TEMPLATES_TABLE] = kept
    return tomlkit.dumps(document)


def import_templates(
    folder: Path, source: Path, standard: Template | None = None
) -> tuple[str, ...]:
    """Write the templates of a file into the trader's, replacing those of the same name; return their names.

    `standard` is the trader's own, which has what they leave out: they must agree with it.

    Raises:
        BadSettings: one of the files cannot be read; nothing is written then.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.settings.templates_file import read_templates  # noqa: PLC0415 - for a file only

    named = read_templates(source, text_in(source), standard or Template()).named.named
    tables = table_in(source).get(TEMPLATES_TABLE, {})
    names = tuple(named)
    if not names:
        raise BadSettings(f"{source} has no template: it needs a table such as [templates.scalp]")

    def change(document: "tomlkit.TOMLDocument") -> None:
        own = document.setdefault(TEMPLATES_TABLE, tomlkit.table(is_super_table=True))
        if not isinstance(own, dict):
            raise BadSettings(f"{folder / TEMPLATES_FILE}: {TEMPLATES_TABLE} must be a table")
        for name in names:
            own[name] = {key: _plain(value) for key, value in tables[name].items()}

    change_file(folder, TEMPLATES_FILE, change)
    return names


def _plain(value: object) -> object:
    """Return a value that tomlkit writes as it was read: Decimals are its floats."""
    import tomlkit  # noqa: PLC0415 - needed for writing only

    if not isinstance(value, Decimal):
        return value
    return tomlkit.parse(f"value = {value:f}" if "." in f"{value:f}" else f"value = {value:f}.0")[
        "value"
    ]


def save_indicators(folder: Path, choice: IndicatorChoice) -> None:
    """Write the chosen indicators; everything else in the file stays as it is, comments too.

    Raises:
        BadSettings: the file is not TOML, or `indicators` is not a table in it; nothing is written then.
        OSError: the file cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    def change(document: "tomlkit.TOMLDocument") -> None:
        table = document.setdefault(INDICATORS_TABLE, tomlkit.table())
        if not isinstance(table, dict):
            raise BadSettings(
                f"{folder / TEMPLATES_FILE}: {INDICATORS_TABLE} must be a table, [{INDICATORS_TABLE}]; fix it, then try again"
            )
        name = EVERY_INSTRUMENT if choice.everywhere else choice.instrument
        if choice.everywhere:
            table.pop(choice.instrument, None)
        table[name] = [each.text for each in choice.specs]

    change_file(folder, TEMPLATES_FILE, change)


def try_to_save_indicators(folder: Path, choice: IndicatorChoice) -> str:
    """Write the chosen indicators; return why that failed, "" if it did not."""
    try:
        save_indicators(folder, choice)
    except (BadSettings, UnsafeFile, OSError) as error:
        return str(error)
    return ""
