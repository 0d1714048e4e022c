"""Read a fault profile by its name or from a file, in a command to a broker or for one that starts."""

import tomllib
from pathlib import Path
from typing import Any

from keydesk_practice.control.schema import read_record
from keydesk_practice.engine.wire_form import wire_name
from keydesk_practice.errors import FaultFileError
from keydesk_practice.http.error_responses import HttpError
from keydesk_practice.http.faults import PROFILES, FaultProfile


def read_profile(text: str) -> FaultProfile:
    """Return a profile by its name, or from a TOML file; raise `FaultFileError` when it is neither."""
    if text in PROFILES:
        return PROFILES[text]
    file = Path(text).expanduser()
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text("utf-8-sig"))
        body = {wire_name(name.replace("-", "_")): value for name, value in table.items()}
        profile = read_record(FaultProfile, body)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, HttpError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        names = ", ".join(PROFILES)
        raise FaultFileError(f"{text}: {reason} (or use one of {names})") from None
    if problem := profile.problem():
        raise FaultFileError(f"{text}: invalid value for {problem}")
    return profile
