"""Fault profiles by name or from a file, and the control requests that switch them on and off."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keydesk_practice.control.context import Control
from keydesk_practice.control.records import Nothing, State
from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import wire_name
from keydesk_practice.errors import FaultFileError
from keydesk_practice.http.errors import HttpError, invalid_value
from keydesk_practice.http.faults import NO_FAULTS, PROFILES, FaultProfile


def read_profile(text: str) -> FaultProfile:
    """Return a profile by its name, or from a TOML file; raise `FaultFileError` when it is neither."""
    if text in PROFILES:
        return PROFILES[text]
    file = Path(text).expanduser()
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
        body = {wire_name(name.replace("-", "_")): value for name, value in table.items()}
        profile = read_record(FaultProfile, body)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, HttpError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        names = ", ".join(PROFILES)
        raise FaultFileError(f"{text}: {reason} (or use one of {names})") from None
    if problem := profile.problem():
        raise FaultFileError(f"{text}: invalid value for {problem}")
    return profile


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFaults:
    """A profile by name, or one of your own; members that are left out are off."""

    name: str | None = None
    profile: FaultProfile | None = None


async def set_faults(control: Control, request: SetFaults) -> State:
    """Switch faults on, in place of those that were on."""
    use_faults(control, chosen_profile(request))
    return control.state()


def chosen_profile(request: SetFaults) -> FaultProfile:
    """Return the profile that a request chooses; raise a 400 `HttpError` when it chooses none, or an invalid one."""
    profile = request.profile
    if (request.name is None) == (profile is None):
        raise HttpError(400, "Give exactly one of 'name' and 'profile'")
    if request.name is not None:
        profile = PROFILES.get(request.name)
    if profile is None:
        raise invalid_value("name", f": use one of {', '.join(PROFILES)}")
    if problem := profile.problem():
        raise HttpError(400, f"Invalid value specified for {problem}")
    return profile


async def clear_faults(control: Control, _: Nothing) -> State:
    """Switch every fault off."""
    use_faults(control, NO_FAULTS)
    return control.state()


def use_faults(control: Control, profile: FaultProfile) -> None:
    """Change the profile of the v20 interface; a plain one is the same as none."""
    control.interface.faults.use(NO_FAULTS if not profile.texts() else profile)
    control.broker.set_read_lag(profile.read_lag_ms / 1000)
