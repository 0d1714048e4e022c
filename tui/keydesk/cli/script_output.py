"""What scripts read: JSON documents with a version, errors with a category, and an exit code for each category."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, to_builtins

from keydesk.settings.toml_text import BadSettings, ReadOnlySettings
from keydesk.terminal.output import json_text, print_json
from keydesk_client.errors import (
    ConnectionLost,
    Forbidden,
    HttpStatusError,
    InvalidRequest,
    InvalidSettings,
    InvalidTime,
    MissingMember,
    NotAllowed,
    NotFound,
    OutOfRange,
    RateLimited,
    Refused,
    ServerFailed,
    TimedOut,
    TokenStoreError,
    Unauthorized,
    Unreachable,
    UnreadableAnswer,
)

Amount = Annotated[str, Meta(pattern=r"^-?[0-9]+(\.[0-9]+)?$")]
Instant = Annotated[str, Meta(description="RFC 3339 in UTC, or seconds since 1970")]
SCHEMA_VERSION = 1
"""Of every JSON document of the commands: raised when a member changes its meaning or goes."""
Category = Literal[
    "auth", "network", "rate", "rejected", "invalid", "unknown-outcome", "refused", "local"
]
EXIT_CODES: Mapping[Category, int] = {
    "refused": 1,  # by this program: a limit, a lock, an outcome that nobody confirmed
    "local": 1,  # this machine: a file, the disk, the settings
    "invalid": 2,
    "auth": 3,
    "network": 4,
    "rate": 5,
    "rejected": 6,  # by the broker
    "unknown-outcome": 7,  # sent, and nothing proves what became of it
}
"""Of every command, with --json and without."""
EXIT_STATUS: Mapping[int, str] = {
    0: "done",
    1: "refused or failed here: a limit, a lock, a question answered no, a file, the disk",
    2: "what was typed cannot be meant: a wrong option, a number, a profile, a settings file, a trade, an order or an "
    "instrument that does not exist; nothing was sent",
    3: "no token, a wrong passphrase, a token that was revoked",
    4: "the broker is not reached, does not answer or fails; an order was not sent",
    5: "too many requests: wait, then try again; an order was not sent",
    6: "rejected by the broker",
    7: "an order was sent, and nothing proves what became of it: look at keydesk trades and keydesk orders before it is "
    "sent again",
    130: "interrupted by Ctrl-C",
}
"""The meaning of each exit status, for the man page and the guide for agents."""
RETRYABLE = frozenset({"network", "rate"})
FAILURE = 1
CATEGORIES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Category], ...] = (
    (RateLimited, "rate"),
    ((Unauthorized, Forbidden, TokenStoreError), "auth"),
    ((InvalidRequest, InvalidTime, InvalidSettings, NotFound, NotAllowed, OutOfRange), "invalid"),
    (Refused, "rejected"),
    (
        (Unreachable, ConnectionLost, TimedOut, ServerFailed, UnreadableAnswer, MissingMember),
        "network",
    ),
)
"""The first that an error of the client is one of."""


class Refusal(Exception):
    """Raised to end a command with one sentence: what is wrong, and the remedy."""

    def __init__(self, message: str, category: Category = "refused") -> None:
        super().__init__(message)
        self.category: Category = category


class UsageError(Exception):
    """Raised by a command for arguments that do not go together; ends it with 2."""


def category_of(error: Exception) -> Category:
    """Return the category of an error that ends a command."""
    if isinstance(error, Refusal):
        return error.category
    if isinstance(error, BadSettings):
        return "local" if isinstance(error, ReadOnlySettings) else "invalid"
    for kind, category in CATEGORIES:
        if isinstance(error, kind):
            return category
    return "local"


def _plain_text(value: object) -> str:
    """Return text of a class of its own, such as an id of a transaction, as plain text."""
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError(f"no document has a {type(value).__name__}")


class Document(Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """One JSON document on standard output.

    A command declares its own beside what prints it: its schema is made of the class, whose tag is the kind.
    """

    @property
    def members(self) -> Mapping[str, object]:
        """The document as it is printed, with its version."""
        found: Mapping[str, object] = to_builtins(self, enc_hook=_plain_text)
        return {"schema_version": SCHEMA_VERSION, **found}


class AccountDocument(Document, frozen=True):
    """A document about one account."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    account_id: str


class ErrorDocument(Document, frozen=True, tag="error"):
    """Why a command failed; also printed for wrong arguments."""

    category: Category
    retryable: Annotated[
        bool, Meta(description="whether the same command may succeed later, unchanged")
    ]
    exit_code: Annotated[int, Meta(ge=1)]
    message: str


def print_error_json(category: Category, message: str) -> int:
    """Print an error as the document of the schema `error`; return the exit code."""
    code = EXIT_CODES[category]
    print_document(ErrorDocument(category, category in RETRYABLE, code, message))
    return code


def kind_of(document: type[Document]) -> str:
    """Return the kind of a document, by which its schema is named."""
    return str(document.__struct_config__.tag)


def print_document(document: Document) -> None:
    """Print it as JSON on standard output, every character beyond ASCII escaped."""
    print_json(document.members)


def document_text(document: Document) -> str:
    """Return the same as text of several lines."""
    return json_text(document.members)


def refusal_of(error: HttpStatusError, what: str, category: Category | None = None) -> Refusal:
    """Return the refusal that a broker's answer leads to: what there is none of, and why."""
    from keydesk.text.sanitize import clean  # noqa: PLC0415 - for a refused request only

    return Refusal(f"{what}: {clean(error.error_message)}", category or category_of(error))
