"""The times inside a body, in the form that the call's header announces."""

from keydesk_client.http.paths import TimeForm
from keydesk_client.models._core.json_values import JsonValue
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.times import DateTime


def in_form(members: Wire, form: TimeForm) -> Wire:
    """The body with its expiry times in seconds since 1970 when that is the form; else as it is."""
    if form != "UNIX":
        return members
    return {name: _in_unix(name, value) for name, value in members.items()}


def _in_unix(name: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return in_form(value, "UNIX")
    return DateTime(value).unix_text if name == "gtdTime" and isinstance(value, str) else value
