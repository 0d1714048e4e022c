"""Which profile is meant."""

from keydesk.config.config import PRACTICE_MARKET, BadSettings, Profile, Settings


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
    """Return the profile that was asked for, or else the last; None is the practice market."""
    name = name or settings.last_profile
    if practice or name == PRACTICE_MARKET:
        return None
    return profile_named(name, settings)
