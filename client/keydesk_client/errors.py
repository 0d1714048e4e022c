"""The exceptions of this package, as one tree.

KeydeskClientError
├── InvalidRequest            an argument is invalid; nothing was sent
├── InvalidSettings           a token or an address is invalid; nothing was sent
├── ClientClosed              the client is closed; nothing was sent
├── WrongEventLoop            the client is used in another event loop than before; nothing was sent
├── StreamNotOpen             a stream is read outside its block, or entered twice
├── Unreachable               no connection could be made; nothing was sent
├── ConnectionLost            the connection broke; the request may have been executed
├── TimedOut                  a phase took too long; `sent`: whether the request may have been executed
├── UnreadableAnswer          the response is not v20 JSON: a web page, an incomplete or endless body
│   └── AnswerTooLarge        it exceeds a limit of bytes, values or malformed records
├── UnsafeFile                a file with secrets or orders is accessible to others
├── TokenStoreError           a token cannot be stored or loaded
│   ├── NoTokenStore          no native store is unlocked, and no vault was requested
│   ├── StoreLocked           no passphrase was given
│   ├── WrongPassphrase       the passphrase does not open the vault
│   └── StoreDamaged          the vault was changed since it was written
├── InvalidTime               a time does not exist: the 30th of February
├── MissingMember             a member is read that the service did not send, or sent malformed
└── HttpStatusError           the service responded with an error status
    ├── Refused               4xx: with errorCode, reject reason and reject transaction where the service gives them
    │   ├── Unauthorized      401
    │   ├── Forbidden         403
    │   ├── NotFound          404
    │   ├── NotAllowed        405
    │   ├── OutOfRange        416
    │   └── RateLimited       429: too many requests; see `retry_after`
    └── ServerFailed          5xx and unexpected statuses; a write may have been executed

All can be pickled. None holds a token or an object of the HTTP library.
"""

from collections.abc import Sequence
from decimal import DecimalException
from typing import Final, Literal, Protocol

from keydesk_client.transaction_id import TransactionID

__all__ = [
    "AnswerTooLarge",
    "ClientClosed",
    "ConnectFailure",
    "ConnectionLost",
    "Forbidden",
    "HttpStatusError",
    "InvalidRequest",
    "InvalidSettings",
    "InvalidTime",
    "KeydeskClientError",
    "MissingMember",
    "NoTokenStore",
    "NotAllowed",
    "NotFound",
    "OutOfRange",
    "RateLimited",
    "Refused",
    "Rejection",
    "ServerFailed",
    "StoreDamaged",
    "StoreLocked",
    "StreamNotOpen",
    "TimedOut",
    "TokenStoreError",
    "Unauthorized",
    "Unreachable",
    "UnreadableAnswer",
    "UnsafeFile",
    "WrongEventLoop",
    "WrongPassphrase",
]

_REQUEST_TIMEOUT: Final = 408
_WITHOUT_CODE: Final = frozenset({400, 401, 403, 404, 405, 416, 429})
"""The statuses of the interface: with these the service also refuses without an error code."""


def __dir__() -> list[str]:
    return sorted(__all__)


def message_of(error: BaseException) -> str:
    """Return the text of an error; the name of its class in words where it has none: "read error".

    The text of `decimal` is a list of classes.
    """
    text = "" if isinstance(error, DecimalException) else str(error)
    name = type(error).__name__
    return text or "".join(f" {each}" if each.isupper() else each for each in name).strip().lower()


class Rejection(Protocol):
    """The members that every reject transaction has."""

    @property
    def id(self) -> TransactionID: ...
    @property
    def type(self) -> str: ...
    @property
    def reject_reason(self) -> str: ...


class KeydeskClientError(Exception):
    """The base class of the exceptions of this package."""

    sent: bool = False
    """Whether the request may have reached the service. Of a refusal this is true as well: see `settled`."""

    @property
    def settled(self) -> bool:
        """Whether the service certainly did not act on the request: nothing changed, and it may be sent again.

        | error | settled |
        |---|---|
        | `InvalidRequest`, `InvalidSettings`, `ClientClosed`, `WrongEventLoop`, `Unreachable`, ... | true: nothing was sent |
        | `TimedOut` | when it was not sent: the phases `connect` and `pool` |
        | `ConnectionLost`, `UnreadableAnswer`, `MissingMember`, `ServerFailed` | false |
        | `Refused`, `RateLimited` | true if it is the service's own, except 408 and half-executed requests |

        A refusal is the service's own if it has a reject transaction, or the service's id of the request (the header
        RequestID) together with an error code or, with a status of the interface, a message. A proxy may answer with
        any status and text after the service has executed the request.
        """
        return not self.sent


class InvalidRequest(KeydeskClientError, ValueError):
    """An argument is invalid, so that nothing was sent."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        """The Python name of the invalid argument, dotted for nested ones."""


class InvalidSettings(KeydeskClientError, ValueError):
    """A token or an address is invalid, or would send the token unencrypted."""


class ClientClosed(KeydeskClientError):
    """The client is closed; open a new one."""


class WrongEventLoop(KeydeskClientError, RuntimeError):
    """The client has connections in another event loop, as after a second `asyncio.run`."""


class StreamNotOpen(KeydeskClientError, RuntimeError):
    """A stream is read outside its `async with` block (`with`, of a sync client), or entered a second time."""


ConnectFailure = Literal[
    "refused", "name", "network", "certificate", "tls", "proxy", "proxy sign-in", ""
]


class Unreachable(KeydeskClientError):
    """No connection could be made, so nothing was sent.

    `cause` says why, where it is known: nothing listens there ("refused"), the host's name was not found ("name"), there
    is no way to it ("network"), its certificate is not trusted, the TLS handshake failed, the proxy made no connection, or
    it wants a user and a password ("proxy sign-in").
    """

    def __init__(self, message: str, *, cause: ConnectFailure = "") -> None:
        super().__init__(message)
        self.cause: ConnectFailure = cause


class ConnectionLost(KeydeskClientError):
    """The connection broke while the request was sent or the response received."""

    sent = True


class TimedOut(KeydeskClientError):
    """The timeout of a phase has passed; `phase` is one of those in `Timeouts`, or "call" or "silence".

    "call" is the `timeout` of a sync client, "silence" the stall time of a stream.
    """

    def __init__(self, message: str, *, phase: str = "whole", sent: bool = True) -> None:
        super().__init__(message)
        self.phase = phase
        self.sent = sent


class UnreadableAnswer(KeydeskClientError):
    """The response cannot be read; a write may have been executed."""

    sent = True

    def __init__(self, message: str, *, status: int = 0, request_id: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class AnswerTooLarge(UnreadableAnswer):
    """The response exceeds a limit that bounds memory and time; the message names the limit."""


class UnsafeFile(KeydeskClientError):
    """A file or folder that must be private belongs to, or is accessible to, others."""


class TokenStoreError(KeydeskClientError):
    """A token cannot be stored or loaded."""


class NoTokenStore(TokenStoreError):
    """No native store is unlocked, and no vault was requested."""


class StoreLocked(TokenStoreError):
    """The store is locked, and no passphrase was given."""


class WrongPassphrase(TokenStoreError):
    """The passphrase does not open the vault."""


class StoreDamaged(TokenStoreError):
    """The file of the vault was changed since it was written."""


class MissingMember(KeydeskClientError, AttributeError):
    """A member is read that the service did not send, or sent malformed."""

    sent = True

    def __init__(self, message: str, *, record: str = "", member: str = "") -> None:
        super().__init__(message)
        self.record = record
        self.member = member


class InvalidTime(KeydeskClientError, ValueError):
    """A time does not exist, or is outside the supported years."""


class HttpStatusError(KeydeskClientError):
    """The service responded with an error status."""

    sent = True

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        error_code: str | None = None,
        reject_transactions: Sequence[Rejection] = (),
        request_id: str = "",
        last_transaction_id: TransactionID | None = None,
        related_transaction_ids: Sequence[TransactionID] = (),
        retry_after: float | None = None,
        explained: bool = True,
        named_parameters: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error_code = error_code
        self.error_message = message
        self.reject_transactions: tuple[Rejection, ...] = tuple(reject_transactions)
        self.request_id = request_id
        self.last_transaction_id = last_transaction_id
        self.related_transaction_ids: tuple[TransactionID, ...] = tuple(related_transaction_ids)
        self.retry_after = retry_after
        self.explained = explained
        """Whether the service itself sent the response, not a proxy with an error page."""
        self.named_parameters = named_parameters
        """The query parameters that the message names, with their values."""

    @property
    def reject_transaction(self) -> Rejection | None:
        """The first reject transaction, if any."""
        return self.reject_transactions[0] if self.reject_transactions else None

    @property
    def reject_reason(self) -> str | None:
        """The reason in the reject transaction, or else the error code."""
        reason: str | None = getattr(self.reject_transaction, "reject_reason", None)
        return self.error_code if reason is None else reason

    def __str__(self) -> str:
        code = f" {self.error_code}" if self.error_code else ""
        parameters = f" ({self.named_parameters})" if self.named_parameters else ""
        return f"{self.status}{code}: {self.error_message}{parameters}"


class Refused(HttpStatusError):
    """4xx: the service refused the request, if `settled` is true; otherwise a proxy may have sent the response."""

    @property
    def settled(self) -> bool:
        """Whether the refusal is the service's own and it made no transactions other than rejects."""
        rejects = len(self.reject_transactions)
        made_more = bool(rejects) and len(self.related_transaction_ids) > rejects
        return self._is_by_service and self.status != _REQUEST_TIMEOUT and not made_more

    @property
    def _is_by_service(self) -> bool:
        has_reason = self.error_code or (self.explained and self.status in _WITHOUT_CODE)
        return bool(self.reject_transactions or (self.request_id and has_reason))


class Unauthorized(Refused):
    """401: the token is missing, wrong or revoked."""


class Forbidden(Refused):
    """403: the token is valid, but not for this operation."""


class NotFound(Refused):
    """404: no such account, order, trade, position, transaction, instrument or snapshot."""


class NotAllowed(Refused):
    """405: the path does not support this method."""


class OutOfRange(Refused):
    """416: the service does not know the transaction id yet."""


class RateLimited(Refused):
    """429: too many requests; this one was not executed, if `settled` is true."""


class ServerFailed(HttpStatusError):
    """5xx or an unexpected status; a write may have been executed."""
