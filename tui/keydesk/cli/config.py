"""`keydesk config`: where the files of settings are, what they set, whether they can be used; editing one."""

import os
import shlex
import subprocess
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from keydesk.cli.script_output import EXIT_CODES, Refusal
from keydesk.config.folders import find_folders
from keydesk.config.own_themes import FOLDER as THEMES
from keydesk.config.own_themes import load_own_themes
from keydesk.config.settings import load_settings
from keydesk.config.settings_files import FILES, Setting, SettingsFile, settings_of
from keydesk.settings.toml_text import BadSettings, first_line, table_in
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import clean, safe
from keydesk_client.auth.private_files import make_folders, replace_file

UNUSABLE = EXIT_CODES["invalid"]  # where a file cannot be used


def path(options: Namespace) -> int:
    """Print the files, or one of them, with their folder; return the exit code."""
    folder = find_folders(options.data, os.environ).config
    for name in [options.file] if options.file else (*FILES, THEMES):
        print_lines(safe(clean(str(folder / name))))
    return 0


def check(options: Namespace) -> int:
    """Check every file as the desk does; return 2 if one cannot be used."""
    folder = find_folders(options.data, os.environ).config
    code = 0
    for name, file in FILES.items():
        why = file.trouble(folder)
        state = "ok" if (folder / name).exists() else "ok, not there: everything is as usual"
        print_lines(safe(clean(f"{name}: {why or state}")))
        code = UNUSABLE if why else code
    troubles = _theme_troubles(folder)
    for name, why in troubles.items():
        print_lines(safe(clean(f"{name}: {why or 'ok'}")))
    return UNUSABLE if any(troubles.values()) else code


def _theme_troubles(folder: Path) -> dict[str, str]:
    """Return for each theme of the user, and for one that is chosen and missing, why it cannot be used; "" if it can."""
    own = load_own_themes(folder)
    found = {
        f"{THEMES}/{name}.toml": own.troubles.get(name, "") for name in (*own.themes, *own.troubles)
    }
    found = dict(sorted(found.items()))
    with suppress(BadSettings):  # which was said
        chosen = load_settings(folder).theme
        if chosen not in own.troubles and (why := own.trouble_with(chosen, folder)):
            found["theme"] = why
    return found


def show(options: Namespace) -> int:
    """Print every key of the files: what is set, and as a comment what is not; return the exit code."""
    folder = find_folders(options.data, os.environ).config
    for name, file in FILES.items():
        if options.file in (None, name):
            _show(folder / name, file)
    return 0


def _show(path: Path, file: SettingsFile) -> None:
    file.load(path.parent)
    own = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    print_lines(
        safe(clean(f"# {path}: {file.about}")), *(safe(clean(line)) for line in own.splitlines())
    )
    set_here = table_in(path)
    for setting in settings_of(file.declaration()):
        if not _is_set(set_here, setting):
            words = " · ".join(part for part in (setting.about, setting.must) if part)
            print_lines(safe(clean(f"# {setting.name} = {setting.default or '...'}  {words}")))
    print_lines(safe(""))


def _is_set(table: object, setting: Setting) -> bool:
    for part in setting.name.split("."):
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return True


def edit(options: Namespace) -> int:
    """Open a file in the user's editor and check it then; return the exit code.

    Raises:
        Refusal: there is no editor, or it failed.
    """
    folder = find_folders(options.data, os.environ).config
    file = FILES[options.file]
    path = folder / file.name
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise Refusal(f"set VISUAL or EDITOR to your editor, or edit {clean(str(path))} by hand")
    if not path.exists():
        make_folders(folder)
        replace_file(path, f"{first_line(file.name)}\n# {file.about}\n".encode())
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode  # noqa: S603 - the user's own
    except (OSError, ValueError) as error:
        raise Refusal(f"the editor {clean(editor)} cannot be started: {error}") from error
    if code:
        raise Refusal(f"the editor ended with {code}")
    why = file.trouble(folder)
    print_lines(safe(clean(why or f"{file.name}: ok; a desk that is open reads it within seconds")))
    return UNUSABLE if why else 0
