"""What the face refuses by itself, before the engine is asked: a status, a sentence, sometimes a code.

Nothing is written to the ledger for these. What the engine refuses is no error here: it is a transaction, and the
route that asked answers with it.
"""

import re
from collections.abc import Mapping

WELL_FORMED = re.compile(r"[A-Z0-9]+_[A-Z0-9]+")


class Refused(Exception):
    """A request that gets an error answer; raised by parsing, caught in one place."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.members = dict(members or {})

    def body(self) -> dict[str, object]:
        """Return the error body: `errorMessage` always, `errorCode` when there is one."""
        coded = {} if self.code is None else {"errorCode": self.code}
        return {**self.members, **coded, "errorMessage": str(self)}


def invalid(name: str, detail: str = "") -> Refused:
    """Return the refusal of a malformed member or parameter, named with its path."""
    return Refused(400, f"Invalid value specified for '{name}'{detail}")


def missing(name: str) -> Refused:
    """Return the refusal of a request that lacks something it needs."""
    return Refused(400, f"The request was missing required data: '{name}'")


def unauthorized() -> Refused:
    """Return the refusal of a missing or unknown token."""
    return Refused(
        401,
        "Insufficient authorization to perform request.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def forbidden() -> Refused:
    """Return the refusal of a known token on somebody else's account."""
    return Refused(403, "The provided request was forbidden.")


def absent(what: str, code: str, last_transaction_id: str | None = None) -> Refused:
    """Return the refusal of a read of something that does not exist."""
    members = {} if last_transaction_id is None else {"lastTransactionID": last_transaction_id}
    return Refused(404, f"The {what} specified does not exist", code, members=members)


def not_listed(instrument: str) -> Refused:
    """Return the refusal of an instrument in a path: 404 when it could be one, 400 when it is malformed."""
    if WELL_FORMED.fullmatch(instrument):
        return Refused(404, "The instrument specified does not exist")
    return invalid("instrument")


def no_such_path() -> Refused:
    """Return the refusal of an address that is no endpoint."""
    return Refused(404, "The path specified is not part of this interface")


def not_allowed(methods: str) -> Refused:
    """Return the refusal of a method that the path does not support."""
    return Refused(405, "The method is not allowed on this path", headers={"Allow": methods})


def out_of_range(message: str) -> Refused:
    """Return the refusal of an id beyond what the account has."""
    return Refused(416, message)


def too_many_requests(seconds: int) -> Refused:
    """Return the refusal of a request above the rate limit."""
    return Refused(
        429, "The request rate limit was exceeded", headers={"Retry-After": str(seconds)}
    )
