"""Everything that can go wrong, as one tree.

KeydeskClientError
├── InvalidRequest            the caller asked for the impossible; nothing was sent
├── InvalidSettings           a token or an address that must not be used; nothing was sent
├── ClientClosed              the client was left; nothing was sent
├── StreamNotOpen             a stream is read outside its block, or entered twice
├── Unreachable               no connection could be made; nothing was sent
├── ConnectionLost            the connection broke; whether the request was acted on is not known
├── TimedOut                  a phase took too long; `sent` says whether the request may have been acted on
├── UnreadableAnswer          an answer came that is not v20 JSON: a web page, half a body, a body without end
│   └── AnswerTooLarge        it has more bytes, values or broken records than an answer of its kind may have
├── UnsafeFile                a file with secrets or orders in it can be used by others
├── TokenStoreError           tokens can not be kept or fetched
│   ├── NoTokenStore          this machine has no store of its own, and no vault was asked for
│   ├── StoreLocked           no passphrase was given
│   ├── WrongPassphrase       the passphrase does not open the vault
│   └── StoreDamaged          the vault is not what was written
├── NoSuchMoment              a time was sent, or asked for, that no calendar has: the 30th of February
├── MissingMember             a record is read for a member that the service did not send (or sent unreadable)
└── Answered                  the service answered with an error status
    ├── Refused               4xx: with errorCode, reject reason and reject transaction where the service gives them
    │   ├── Unauthorized      401
    │   ├── Forbidden         403
    │   ├── NotFound          404
    │   ├── NotAllowed        405
    │   ├── OutOfRange        416
    │   └── RateLimited       429: it was not acted on; `retry_after` says when to come back
    └── ServerFailed          5xx, and every other status that is no answer; a write may have been acted on

All of them pickle. None carries a token or an object of the HTTP library.
"""

from collections.abc import Sequence
from typing import Protocol


class Rejection(Protocol):
    """What every reject transaction tells, whatever was rejected."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def reject_reason(self) -> str: ...


class KeydeskClientError(Exception):
    """The root of everything that this package raises on purpose."""

    sent: bool = False
    """Whether the request may have reached the service: a write with `sent` must not be repeated blindly."""


class InvalidRequest(KeydeskClientError, ValueError):
    """The request can not be right, so it was not sent."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        """The member that is wrong, by its Python name, dotted for nested ones."""


class InvalidSettings(KeydeskClientError, ValueError):
    """A token or an address that must not be used."""


class ClientClosed(KeydeskClientError):
    """The client was left; open a new one."""


class StreamNotOpen(KeydeskClientError, RuntimeError):
    """A stream is read outside its `async with` block (`with`, of a sync client), or entered a second time."""


class Unreachable(KeydeskClientError):
    """No connection could be made, so nothing was sent."""


class ConnectionLost(KeydeskClientError):
    """The connection broke while the request was on its way or the answer on its way back."""

    sent = True


class TimedOut(KeydeskClientError):
    """A phase took longer than it may: `connect`, `write`, `read`, `pool`, `whole` or `silence` of a stream."""

    def __init__(self, message: str, *, phase: str = "whole", sent: bool = True) -> None:
        super().__init__(message)
        self.phase = phase
        self.sent = sent


class UnreadableAnswer(KeydeskClientError):
    """An answer came that can not be read; a write may well have been acted on."""

    sent = True

    def __init__(self, message: str, *, status: int = 0, request_id: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class AnswerTooLarge(UnreadableAnswer):
    """An answer exceeds a limit that keeps memory and time bounded; the message names the limit."""


class UnsafeFile(KeydeskClientError):
    """Others have rights to a file or folder that must be private, or own it."""


class TokenStoreError(KeydeskClientError):
    """Tokens can not be kept or fetched."""


class NoTokenStore(TokenStoreError):
    """No native store is unlocked, and no vault was asked for."""


class StoreLocked(TokenStoreError):
    """The store is locked, and no passphrase was given."""


class WrongPassphrase(TokenStoreError):
    """The passphrase does not open the vault."""


class StoreDamaged(TokenStoreError):
    """The vault's file is not what was written to it."""


class MissingMember(KeydeskClientError, AttributeError):
    """A record is read for a member that the service left out or sent in a form that can not be read."""

    sent = True

    def __init__(self, message: str, *, record: str = "", member: str = "") -> None:
        super().__init__(message)
        self.record = record
        self.member = member


class NoSuchMoment(KeydeskClientError, ValueError):
    """A time looks like one and is none, or lies beyond the years that a calendar has."""


class Answered(KeydeskClientError):
    """The service answered with an error status."""

    sent = True

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        error_code: str | None = None,
        reject_transactions: Sequence[Rejection] = (),
        request_id: str = "",
        last_transaction_id: str | None = None,
        related_transaction_ids: Sequence[str] = (),
        retry_after: float | None = None,
        explained: bool = True,
        asked: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error_code = error_code
        self.error_message = message
        self.reject_transactions: tuple[Rejection, ...] = tuple(reject_transactions)
        self.request_id = request_id
        self.last_transaction_id = last_transaction_id
        self.related_transaction_ids: tuple[str, ...] = tuple(related_transaction_ids)
        self.retry_after = retry_after
        self.explained = explained
        """Whether the service itself spoke: an error page of something in between explains nothing."""
        self.asked = asked
        """The parameter that the message names, with the value that was sent."""

    @property
    def reject_transaction(self) -> Rejection | None:
        """The first transaction that records the refusal, when the service made one."""
        return self.reject_transactions[0] if self.reject_transactions else None

    @property
    def reject_reason(self) -> str | None:
        """Why it was rejected: of the reject transaction, or else the error code."""
        said: str | None = getattr(self.reject_transaction, "reject_reason", None)
        return self.error_code if said is None else said

    def __str__(self) -> str:
        code = f" {self.error_code}" if self.error_code else ""
        asked = f" ({self.asked})" if self.asked else ""
        return f"{self.status}{code}: {self.error_message}{asked}"


class Refused(Answered):
    """4xx: the service said no."""


class Unauthorized(Refused):
    """401: the token is missing, wrong or revoked."""


class Forbidden(Refused):
    """403: the token is good, the operation is not its to ask for."""


class NotFound(Refused):
    """404: no such account, order, trade, position, transaction, instrument or snapshot."""


class NotAllowed(Refused):
    """405: the path does not take this method."""


class OutOfRange(Refused):
    """416: the transaction id lies beyond what the service knows."""


class RateLimited(Refused):
    """429: too many requests; it was not acted on."""

    sent = False


class ServerFailed(Answered):
    """5xx or a status that is no answer at all; a write may have been acted on."""
