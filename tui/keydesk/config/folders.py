"""The folders of settings and state, the names of the files in them, and the options of the desk's command line.

XDG folders by default; `--data DIR` or `KEYDESK_HOME` puts both under one folder. The state folder holds journal,
practice ledger and token vault, so it is created 0700 and refused, except for exits, when others can read it. No file here holds a token.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from keydesk_client.auth.private_files import Warn, make_folders
from keydesk_client.auth.profiles import CONFIG_FILE, profile_folders

FILE = CONFIG_FILE
TEMPLATES_FILE = "templates.toml"
FRAMES = range(1, 31)  # a second


class UnsafeFolder(Exception):
    """Raised for a private folder that cannot be created, has another owner or is open to others."""


OWN_NAMES = frozenset({FILE, "practice", "orders", "tokens"})  # of which one is in a folder of ours


@dataclass(frozen=True, slots=True)
class Folders:
    """The settings and state folders of one installation."""

    config: Path
    state: Path
    warn: Warn | None = field(default=None, compare=False)
    """Called with a warning about a folder or file that others can read, for exits, which continue; None: it is refused."""

    data: str = field(default="", compare=False)  # as `--data` named them

    def login_command(self, profile: str) -> str:
        """Return the command that signs in to a profile again, as a shell takes it."""
        import shlex  # noqa: PLC0415 - rarely needed

        return f"keydesk login {profile}" + (
            f" --data {shlex.quote(self.data)}" if self.data else ""
        )

    @property
    def practice(self) -> Path:
        """The practice broker's ledger."""
        return self.state / "practice"

    def private(self, name: str) -> Path:
        """Return a folder under the state folder, created 0700."""
        make_private(self.state, self.warn)
        return make_private(self.state / name, self.warn)


def find_folders(data: str | None, environment: Mapping[str, str]) -> Folders:
    """Return the folders for `--data DIR` (or None) and the process's environment; an empty DIR is refused."""
    if data is not None and not data.strip():
        raise UnsafeFolder("--data is empty: name a folder, or leave it out for your own")
    return Folders(*profile_folders(data, environment), data=data or "")


def make_private(folder: Path, warn: Warn | None = None) -> Path:
    """Create the folder with mode 0700; an existing one must belong to the user alone.

    With `warn`, it is called instead of raising where others can read the folder, or a group can write to it.

    Raises:
        UnsafeFolder: it cannot be created, belongs to another user, or is accessible to others.
    """
    try:
        make_folders(folder)
        status = folder.stat()
    except OSError as error:
        why = error.strerror or str(error)
        raise UnsafeFolder(f"{folder} cannot be made: {why}; choose another with --data") from error
    if status.st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to another user; choose one of your own with --data")
    if stat.S_IMODE(status.st_mode) & 0o077:
        text = f"{folder} is open to others; {_way_to_privacy(folder, status.st_mode)}"
        if warn is None or status.st_mode & stat.S_IWOTH:
            raise UnsafeFolder(text)
        warn(text)
    return folder


def _way_to_privacy(folder: Path, mode: int) -> str:
    """Return the remedy for a folder that others can enter: closing one that they use would shut them out."""
    import shlex  # noqa: PLC0415 - rarely needed

    is_shared = mode & (stat.S_IWOTH | stat.S_ISVTX | stat.S_ISGID)
    names = {each.name for each in folder.iterdir()}
    if is_shared or (names and not names & OWN_NAMES):
        return f"others may use it: name a folder of your own, such as --data {shlex.quote(str(folder / 'keydesk'))}"
    return f"make it private: chmod 700 {shlex.quote(str(folder))}"


class DeskOptions(Struct, frozen=True):
    """Options of the desk; None means the value of the settings."""

    profile: str | None = None
    practice: bool = False
    fps: int | None = None
    theme: str | None = None
    read_only: bool = False
    ascii: bool = False
    mouse: bool = False
    data: str | None = None
    price_rate: int | None = None
    passphrase_fd: int | None = None
    passphrase_file: Path | None = None
