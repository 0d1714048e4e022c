"""HTTP errors that are answered before the engine is asked, and the messages of the engine's reject reasons.

An `HttpError` writes nothing to the ledger. A command that the engine rejects is not an `HttpError`: it makes a reject
transaction, and the endpoint answers with that.
"""

import logging
import re
from collections.abc import Mapping

from keydesk_practice.errors import (
    LedgerFull,
    LedgerUnreachable,
    LedgerWriteFailed,
    OutcomeUnknown,
)

log = logging.getLogger("keydesk.practice")
_INSTRUMENT_NAME = re.compile(r"[A-Z0-9]+_[A-Z0-9]+")
_REJECT_MESSAGES = {
    "CLIENT_CONFIGURE_DATA_MISSING": "Neither an alias nor a margin rate was given",
    "CLIENT_EXTENSIONS_DATA_MISSING": "No client extensions were given",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "The client order ID is already used by a pending order",
    "CLIENT_TRADE_ID_ALREADY_EXISTS": "The client trade ID is already used by an open trade",
    "CLOSEOUT_POSITION_DOESNT_EXIST": "The position to close does not exist",
    "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION": "The request closes neither side of the position",
    "CLOSEOUT_POSITION_REJECT": "The other side of the position could not be closed",
    "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE": "The units to close exceed the position",
    "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE": "The units to close exceed the trade",
    "INSTRUMENT_NOT_TRADEABLE": "The instrument is not tradeable on this account",
    "INSTRUMENT_PRICE_UNKNOWN": "There is no price for the instrument",
    "INSTRUMENT_UNKNOWN": "The instrument is not known",
    "INSUFFICIENT_MARGIN": "The account does not have enough margin available",
    "MARGIN_RATE_INVALID": "The margin rate is not valid",
    "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT": "The margin rate would trigger a margin closeout",
    "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL": "The margin rate would trigger a margin call",
    "ORDER_DOESNT_EXIST": "The order specified does not exist or is not pending",
    "PRICE_BOUND_INVALID": "The price bound is not valid",
    "PRICE_BOUND_PRECISION_EXCEEDED": "The price bound has more decimals than the instrument allows",
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": "The price distance is above the instrument's maximum",
    "PRICE_DISTANCE_MINIMUM_NOT_MET": "The price distance is below the instrument's minimum",
    "PRICE_DISTANCE_MISSING": "The price distance is missing",
    "PRICE_INVALID": "The price is not valid",
    "PRICE_MISSING": "The price is missing",
    "PRICE_PRECISION_EXCEEDED": "The price has more decimals than the instrument allows",
    "REPLACING_ORDER_INVALID": "The replacement is of another type than the order",
    "REPLACING_TRADE_ID_INVALID": "The replacement is for another trade than the order",
    "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST": "The good-till time lies in the past",
    "TIME_IN_FORCE_GTD_TIMESTAMP_MISSING": "The good-till time is missing",
    "TIME_IN_FORCE_INVALID": "The time in force is not allowed for this type of order",
    "TRADE_DOESNT_EXIST": "The trade specified does not exist",
    "UNITS_INVALID": "The units are not valid",
    "UNITS_LIMIT_EXCEEDED": "The units are above the instrument's maximum for an order",
    "UNITS_MINIMUM_NOT_MET": "The units are below the instrument's minimum",
    "UNITS_PRECISION_EXCEEDED": "The units have more decimals than the instrument allows",
}

SECONDS_WITHOUT_SPACE = 5  # until a client may send again
NO_SUCH_ACCOUNT = "NO_SUCH_ACCOUNT"  # the error code for an account that is not known


class HttpError(Exception):
    """A request that is answered with an error status; the middleware turns it into the response."""

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
        code = {} if self.code is None else {"errorCode": self.code}
        return {**self.members, **code, "errorMessage": str(self)}


def reject_message(reason: str) -> str:
    """Return the error message of a reject reason; the reason in lower case when it has none of its own."""
    return _REJECT_MESSAGES.get(reason) or reason.replace("_", " ").capitalize()


def invalid_value(name: str, detail: str = "") -> HttpError:
    """Return the 400 for a malformed member or parameter, named by its path."""
    return HttpError(400, f"Invalid value specified for '{name}'{detail}")


def missing_value(name: str) -> HttpError:
    """Return the 400 for a required member or parameter that is missing."""
    return HttpError(400, f"The request was missing required data: '{name}'")


def unauthorized() -> HttpError:
    """Return the 401 for a missing or unknown token."""
    return HttpError(
        401,
        "Insufficient authorization to perform request.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def forbidden() -> HttpError:
    """Return the 403 for a valid token on an account of another token."""
    return HttpError(403, "The provided request was forbidden.")


def not_found(kind: str, code: str, last_transaction_id: str | None = None) -> HttpError:
    """Return the 404 for an object that does not exist."""
    members = {} if last_transaction_id is None else {"lastTransactionID": last_transaction_id}
    return HttpError(404, f"The {kind} specified does not exist", code, members=members)


def unknown_instrument(instrument: str) -> HttpError:
    """Return the error for an instrument in a path: 404 for a well-formed name, else 400."""
    if _INSTRUMENT_NAME.fullmatch(instrument):
        return HttpError(404, "The instrument specified does not exist")
    return invalid_value("instrument")


def unknown_path() -> HttpError:
    """Return the 404 for a path that has no endpoint."""
    return HttpError(404, "The path specified is not part of this interface")


def method_not_allowed(methods: str) -> HttpError:
    """Return the 405 for a method that the path does not support; `methods` becomes `Allow`."""
    return HttpError(405, "The method is not allowed on this path", headers={"Allow": methods})


def range_not_satisfiable(message: str) -> HttpError:
    """Return the 416 for an id outside the account's transactions."""
    return HttpError(416, message)


def unavailable(reason: object, seconds: int = 1) -> HttpError:
    """Return the 503 for a request that was certainly not executed, and may be sent again after some seconds."""
    return HttpError(503, f"Nothing was executed: {reason}", headers={"Retry-After": str(seconds)})


def not_stored(error: LedgerUnreachable | LedgerWriteFailed) -> HttpError:
    """Return the error for a request whose transactions are not in the ledger, or perhaps are: 504."""
    match error:
        case OutcomeUnknown():
            hint = "Read the transactions before you send it again"
            return HttpError(504, f"It is not known whether this was executed: {error}. {hint}")
        case LedgerUnreachable():
            return unavailable(error)
        case LedgerFull():
            return unavailable(error, SECONDS_WITHOUT_SPACE)
        case _:
            log.critical("%s", error)
            return HttpError(503, f"The practice broker is stopping: {error}")


def too_many_requests(seconds: int) -> HttpError:
    """Return the 429 for a request above the rate limit."""
    return HttpError(
        429, "The request rate limit was exceeded", headers={"Retry-After": str(seconds)}
    )
