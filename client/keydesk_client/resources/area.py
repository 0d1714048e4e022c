"""What the areas of a client share: the caller, the default account, the form of times."""

from collections.abc import Mapping
from dataclasses import dataclass

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.calls import Caller
from keydesk_client.http.paths import TimeForm, header_text, moment, path
from keydesk_client.models._core.times import Moment


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a call uses when it is not told otherwise."""

    account_id: str | None = None
    datetime_format: TimeForm = "RFC3339"


class Area:
    """One resource of the interface."""

    def __init__(self, caller: Caller, defaults: Defaults) -> None:
        self._caller = caller
        self._defaults = defaults

    def __repr__(self) -> str:
        calls = (name for name in dir(type(self)) if not name.startswith("_"))
        return f"<{type(self).__name__}: {', '.join(calls)}>"

    def _account(self, account_id: str | None, *rest: tuple[str, str] | str) -> str:
        chosen = account_id or self._defaults.account_id
        if not chosen:
            raise InvalidRequest(
                "account_id: name one in the call, or give the client one: Client(account_id=...)",
                field="account_id",
            )
        return path("accounts", ("account_id", chosen), *rest)

    def _headers(self, client_request_id: str | None = None) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        if self._defaults.datetime_format != "RFC3339":
            headers["Accept-Datetime-Format"] = self._defaults.datetime_format
        if client_request_id is not None:
            headers["ClientRequestID"] = header_text("client_request_id", client_request_id)
        return headers

    def _moment(self, field: str, value: Moment) -> str:
        return moment(field, value, self._defaults.datetime_format)
