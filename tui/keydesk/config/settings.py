"""The settings file `config.toml`, its time zone, the folders of settings and state, and the options of the command line.

XDG folders by default; `--data DIR` or `KEYDESK_HOME` puts both under one folder. The state folder holds journal,
practice ledger and token vault, so it is created 0700 and refused, except for exits, when others can read it. No file here holds a token.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import Warn
from keydesk_client.auth.profiles import (
    CONFIG_FILE,
    ENVIRONMENTS,
    Environment,
    Profile,
    TokenPlace,
    profile_folders,
    read_profile,
)
from keydesk_client.errors import InvalidSettings

MAX_ZONE_LENGTH = 64  # characters of a name


class UnknownZone(ValueError):
    """Raised for a name that no time zone has."""


class SystemZone(tzinfo):
    """The zone that the system is set to, by `TZ` or its clock settings."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the local offset."""
        return _local(moment).utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:  # noqa: ARG002 - what tzinfo names
        """Return None: the system tells the whole offset only."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Return the local name, such as CET or CEST."""
        return _local(moment).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """Return the local time; `fold` distinguishes the hour that occurs twice."""
        instant = moment.replace(tzinfo=UTC)
        try:
            local = instant.astimezone().replace(tzinfo=None)
            is_second = local.astimezone(UTC) != instant
        except (OverflowError, ValueError, OSError):  # at the first and last day of the calendar
            return moment
        return local.replace(tzinfo=self, fold=int(is_second))


def _local(moment: datetime | None) -> datetime:
    if moment is None:
        return datetime.now(UTC).astimezone()
    try:
        return moment.replace(tzinfo=None).astimezone()
    except (OverflowError, ValueError, OSError):
        return moment.replace(tzinfo=UTC)


def time_zone(name: str) -> tzinfo:
    """Return the zone of a name such as Europe/Berlin; "" is the system's.

    Raises:
        UnknownZone: there is none of this name.
    """
    if not name:
        return SystemZone()
    try:
        if len(name) > MAX_ZONE_LENGTH:
            raise UnknownZone
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise UnknownZone(name[:MAX_ZONE_LENGTH]) from error


__all__ = [
    "ENVIRONMENTS",
    "BadSettings",
    "DeskOptions",
    "Environment",
    "Folders",
    "Profile",
    "Reconciliation",
    "Settings",
    "TokenPlace",
    "UnsafeFolder",
    "find_folders",
    "load_settings",
    "make_private",
    "profile_named",
    "profile_to_open",
    "table_in",
]

FILE = CONFIG_FILE
TEMPLATES_FILE = "templates.toml"
MAX_BYTES = 4_000_000  # of a file of settings; more would delay the start by seconds
FRAMES = range(1, 31)  # a second
PRACTICE_MARKET = "practice-market"  # the desk's own broker; no account, no token
RECONCILIATION: dict[str, tuple[int, int, str]] = {
    "check_after": (0, 600, "seconds"),
    "check_every": (1, 3600, "seconds"),
    "look_back": (1, 10_080, "minutes"),
}
"""The lowest and the highest value of each setting, and its unit."""


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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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


@dataclass(frozen=True, slots=True)
class DeskOptions:
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


class BadSettings(Exception):
    """Raised for a settings file that cannot be used; the text names file, field and remedy."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """When UNCONFIRMED commands are compared with the account's changes: the table `[reconciliation]`."""

    check_after: int = 5  # seconds since it was sent
    check_every: int = 10  # seconds
    look_back: int = 60  # minutes; older requests are watched for, not looked up


@dataclass(frozen=True, slots=True)
class Settings:
    """The content of `config.toml`; every member has a default."""

    last_profile: str = PRACTICE_MARKET
    theme: str = "dark"
    frames_per_second: int | None = None  # None: ten, fewer on a slow link
    profiles: dict[str, Profile] = field(default_factory=dict)
    reconciliation: Reconciliation = Reconciliation()
    zone: tzinfo = field(default_factory=SystemZone)  # `timezone`, in which times are shown


def load_settings(folder: Path) -> Settings:
    """Read `config.toml` in the folder; a missing file means the defaults.

    Raises:
        BadSettings: the file is not TOML, or a field has the wrong type or value.
    """
    path = folder / FILE
    data = table_in(path)
    return _settings(data, path)


def part_of(table: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    """Return a table within a table, {} if it is missing; raise `BadSettings` when it is not a table."""
    part = table.get(name, {})
    if not isinstance(part, dict):
        raise BadSettings(f"{path}: {name} must be a table, [{name}]")
    return part


def table_in(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file with exact decimals, {} if it is missing.

    Raises:
        BadSettings: it cannot be read, or is not TOML.
    """
    text = _text_in(path)
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError as error:
        raise BadSettings(f"{path} is nested too deeply; fix or remove it") from error
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise BadSettings(f"{path} is not valid TOML: {error}; fix or remove it") from error


def _text_in(path: Path) -> str:
    """Return the text of a settings file, "" if it is missing; raise `BadSettings` with the remedy."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BadSettings(f"{path} is a folder; move it away: a file is expected there")
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # to read a pipe waits for its writer
            raise BadSettings(f"{path} is a pipe or a socket; put a file there, or remove it")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if path.is_symlink():  # the trader's own limits may be in it
            raise BadSettings(
                f"{path} is a link to a file that is missing; put the file there, or remove the link"
            ) from None
        return ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(f"{path} cannot be read: {reason}; fix or remove it") from error
    if len(content) > MAX_BYTES:
        most = MAX_BYTES // 1_000_000
        raise BadSettings(f"{path} has more than {most} MB; fix or remove it")
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadSettings(f"{path} is not UTF-8 at line {line}; save the file as UTF-8") from error


def _settings(data: dict[str, Any], path: Path) -> Settings:
    profiles = data.get("profiles", {})
    if not isinstance(profiles, dict):
        raise BadSettings(f"{path}: profiles must be tables like [profiles.name]")
    return Settings(
        last_profile=_text(data, "last_profile", path, PRACTICE_MARKET),
        theme=_text(data, "theme", path, "dark"),
        frames_per_second=_frames(data.get("fps"), path),
        profiles={name: _profile(name, table, path) for name, table in profiles.items()},
        reconciliation=_reconciliation(data.get("reconciliation", {}), path),
        zone=_zone(_text(data, "timezone", path, ""), path),
    )


def _zone(name: str, path: Path) -> tzinfo:
    try:
        return time_zone(name)
    except UnknownZone as error:
        raise BadSettings(
            f'{path}: timezone "{clean(str(error))}" is not known; name one such as'
            ' timezone = "Europe/Berlin", or remove the line for the system\'s own'
        ) from error


def _reconciliation(table: object, path: Path) -> Reconciliation:
    if not isinstance(table, dict):
        raise BadSettings(f"{path}: reconciliation must be a table, [reconciliation]")
    seconds: dict[str, int] = {}
    for name, value in table.items():
        if name not in RECONCILIATION:
            known = ", ".join(RECONCILIATION)
            raise BadSettings(f"{path}: reconciliation.{name} is not known; there are: {known}")
        low, high, unit = RECONCILIATION[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            usual = getattr(Reconciliation(), name)
            raise BadSettings(
                f"{path}: reconciliation.{name} must be a whole number of {unit} from {low} to {high},"
                f" such as {name} = {usual}"
            )
        seconds[name] = value
    return Reconciliation(**seconds)


def _profile(name: str, table: object, path: Path) -> Profile:
    try:
        return read_profile(name, table, path)
    except InvalidSettings as error:
        raise BadSettings(str(error)) from None


def _text(table: dict[str, Any], key: str, path: Path, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise BadSettings(f'{path}: {key} must be text in quotes, such as {key} = "..."')
    return value


def _frames(value: object, path: Path) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value not in FRAMES:
        raise BadSettings(f"{path}: fps must be a whole number from 1 to 30")
    return value


def profile_named(name: str, settings: Settings) -> Profile:
    """Return the profile of this name.

    Raises:
        BadSettings: there is none.
    """
    if name not in settings.profiles:
        known = ", ".join(sorted(settings.profiles)) or "none yet"
        raise BadSettings(
            f"there is no profile {name!r} (known: {known}); sign in with keydesk login, "
            "or use the practice market with --practice"
        )
    return settings.profiles[name]


def profile_to_open(name: str | None, settings: Settings, *, practice: bool) -> Profile | None:
    """Return the named profile, else the last one used; None is the practice market."""
    if name is not None and not name.strip():
        raise BadSettings("--profile is empty: name a profile, or leave it out for the last one")
    name = name or settings.last_profile
    if practice or name == PRACTICE_MARKET:
        return None
    return profile_named(name, settings)
