"""The control requests that switch fault profiles on and off."""

from msgspec import Struct

from keydesk_practice.control.bodies import NoMembers, State
from keydesk_practice.control.context import Control
from keydesk_practice.http.error_responses import HttpError, invalid_value
from keydesk_practice.http.faults import NO_FAULTS, PROFILES, FaultProfile


class SetFaults(Struct, frozen=True, kw_only=True):
    """A profile by name, or one of your own; members that are left out are off."""

    name: str | None = None
    profile: FaultProfile | None = None


async def set_faults(control: Control, request: SetFaults) -> State:
    """Switch faults on, in place of those that were on."""
    use_faults(control, _chosen_profile(request))
    return control.state()


def _chosen_profile(request: SetFaults) -> FaultProfile:
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


async def clear_faults(control: Control, _: NoMembers) -> State:
    """Switch every fault off."""
    use_faults(control, NO_FAULTS)
    return control.state()


def use_faults(control: Control, profile: FaultProfile) -> None:
    """Change the profile of the v20 interface; a plain one is the same as none."""
    control.interface.faults.use(NO_FAULTS if not profile.texts() else profile)
    control.broker.set_read_lag(profile.read_lag_ms / 1000)
