"""Where Keydesk keeps its files: settings in the config folder, everything it writes by itself in the state folder.

XDG folders by default; `--data DIR` or `KEYDESK_HOME` puts both under one folder. The state folder holds the journal,
the practice ledger and the token vault, so it is created 0700 and refused when others may read it.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class UnsafeFolder(Exception):
    """A private folder that cannot be made, belongs to someone else, or that others may enter."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The two folders of one installation."""

    config: Path
    state: Path

    @property
    def practice(self) -> Path:
        """The practice broker's ledger."""
        return self.state / "practice"

    def private(self, name: str) -> Path:
        """Return a folder under the state folder, created 0700."""
        make_private(self.state)
        return make_private(self.state / name)


def find(data: str | None, environment: Mapping[str, str]) -> Folders:
    """Return the folders for `--data DIR` (or None) and the process's environment."""
    home = data or environment.get("KEYDESK_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(root, root)
    user = Path(environment.get("HOME") or Path.home())
    config = _xdg(environment, "XDG_CONFIG_HOME", user / ".config")
    state = _xdg(environment, "XDG_STATE_HOME", user / ".local" / "state")
    return Folders(config / "keydesk", state / "keydesk")


def _xdg(environment: Mapping[str, str], name: str, default: Path) -> Path:
    value = environment.get(name, "")
    return Path(value) if value.startswith("/") else default  # relative ones are to be ignored


def make_private(folder: Path) -> Path:
    """Create the folder 0700; an existing one must be ours alone.

    Raises:
        UnsafeFolder: it cannot be made, belongs to another user, or lets others in.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        why = error.strerror or str(error)
        raise UnsafeFolder(f"{folder} cannot be made: {why}; choose another with --data") from error
    if found.st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to another user; choose one of your own with --data")
    if stat.S_IMODE(found.st_mode) & 0o077:
        import shlex  # noqa: PLC0415 - rarely needed

        mend = f"chmod 700 {shlex.quote(str(folder))}"
        raise UnsafeFolder(f"{folder} is open to others; make it private: {mend}")
    return folder
