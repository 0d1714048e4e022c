"""Whether this machine and this terminal are fit for the desk."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from keydesk.cli.check import Check
from keydesk.cli.token_place import VAULT
from keydesk.config import config, paths
from keydesk.config.paths import Folders
from keydesk.terminal.character_set import ascii_locale
from keydesk.terminal.terminal_check import unusable
from keydesk.widgets.theme import colour_depth

SMALLEST = (80, 24)
MEGABYTE = 1_000_000
PLENTY, TOO_LITTLE = 100 * MEGABYTE, 5 * MEGABYTE


def check_terminal(size: os.terminal_size | None, environment: Mapping[str, str]) -> Check:
    """Judge the terminal; None when there is none."""
    if size is None:
        return Check("terminal", "warn", "none here: the desk needs one; over SSH ask with ssh -t")
    shown = f"{size.columns}x{size.lines}, TERM={environment.get('TERM') or 'not set'}"
    if why := unusable(environment):
        return Check("terminal", "bad", why)
    if size < SMALLEST or size.lines < SMALLEST[1]:
        return Check("terminal", "bad", f"{shown}: the desk needs 80x24 or more")
    return Check("terminal", "ok", shown)


def check_colours(environment: Mapping[str, str]) -> Check:
    """Judge how many colours the terminal says it has."""
    depth = colour_depth(environment)
    if depth == "mono":
        return Check("colours", "warn", "none: the desk tells by weight and words instead")
    hint = "" if depth == "truecolor" else "; if it has more, set COLORTERM=truecolor"
    return Check("colours", "ok", f"{depth}{hint}")


def check_locale(environment: Mapping[str, str], measured: str = "") -> Check:
    """Judge whether lines and arrows can be drawn, by the locale and by what was measured on the terminal."""
    asks_for_ascii = ascii_locale(environment)
    if measured and not asks_for_ascii:
        return Check("locale", "warn", f"the desk draws in ASCII: {measured}")
    if not asks_for_ascii:
        return Check("locale", "ok", "UTF-8; where lines and arrows come out wrong: --ascii")
    words = f"{asks_for_ascii}: the desk draws in ASCII; for lines and arrows use a UTF-8 locale"
    return Check("locale", "warn", f"{words}, such as LC_ALL=C.UTF-8")


def check_settings(folders: Folders) -> Check:
    """Judge the settings file."""
    try:
        found = config.load(folders.config)
    except config.BadSettings as error:
        return Check("settings", "bad", str(error))
    known = ", ".join(sorted(found.profiles)) or "none, the practice market needs none"
    return Check("settings", "ok", f"profiles: {known}")


def check_disk(folders: Folders) -> Check:
    """Judge whether the order journal can be kept."""
    try:
        folder = paths.make_private(folders.state)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"journal")
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except (OSError, paths.UnsafeFolder) as error:
        return Check("disk", "bad", f"{error}; without its journal no order is sent")
    words = f"{free // MEGABYTE:,} MB free in {folder}"
    if free < TOO_LITTLE:
        return Check("disk", "bad", f"{words}: too little for the order journal")
    return Check("disk", "ok" if free >= PLENTY else "warn", words)


def check_token_store(folders: Folders) -> Check:
    """Say where a token would be kept on this machine."""
    from keydesk_client.auth.native_store import unlocked_native_store  # noqa: PLC0415 - 60 ms

    native = unlocked_native_store()
    if native is not None:
        return Check("tokens", "ok", f"the desktop's own store: {type(native).__module__}")
    vault: Path = folders.state / "tokens" / VAULT
    there = "there already" if vault.exists() else "made at the first login"
    return Check("tokens", "ok", f"no unlocked desktop store; the encrypted vault, {there}")
