"""Why the account cannot be read, in a few words for the health line, and in sentences with the remedy."""

from collections.abc import Mapping

from msgspec import Struct

from keydesk.text.sanitize import SafeText, clean, safe
from keydesk_client.errors import (
    ConnectFailure,
    ConnectionLost,
    Forbidden,
    HttpStatusError,
    NotFound,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unauthorized,
    Unreachable,
    message_of,
)

PROXY_SIGN_IN = 407
GOES_ON = "The desk keeps trying"
DOCTOR = f"keydesk doctor checks the way to it. {GOES_ON}"
MAX_REASON_LENGTH = 200
# By the cause of a failed connection: words for the line, of which 80 columns hold 26, and the remedy.
UNREACHABLE: Mapping[ConnectFailure, tuple[str, str]] = {
    "refused": (
        "connection refused",
        f"nothing listens there: start the broker, or check the address. {GOES_ON}",
    ),
    "name": (
        "host not found (DNS)",
        f"check the name, the network and the name server. {DOCTOR}",
    ),
    "network": ("network unreachable", f"check this machine's network. {DOCTOR}"),
    "certificate": ("certificate not trusted", GOES_ON),
    "tls": (
        "TLS handshake failed",
        f"the address may be of a service without TLS, or a proxy stands between. {DOCTOR}",
    ),
    "proxy": (
        "no way through the proxy",
        f"check HTTPS_PROXY, or proxy of the profile in config.toml. {DOCTOR}",
    ),
    "proxy sign-in": (
        "proxy sign-in needed",
        f"name user and password in HTTPS_PROXY, or in proxy of the profile. {DOCTOR}",
    ),
    "": ("cannot connect", DOCTOR),
}


class Outage(Struct, frozen=True):
    """Why the account cannot be read now."""

    short: SafeText  # for a line
    text: SafeText  # whole, with the remedy


class Broker(Struct, frozen=True):
    """How the texts name the broker, and the command that signs in to it again; "" where there is none."""

    url: str = ""
    login: str = ""

    @property
    def text(self) -> str:
        """Return the words for it."""
        return f"the broker at {self.url}" if self.url else "the broker"

    @property
    def sign_in(self) -> str:
        """Return how to use another token."""
        return (
            f"leave with :q, sign in again with {self.login}, and start" if self.login else DOCTOR
        )


def silence(broker: Broker, seconds: float) -> Outage:
    """Return the outage of a broker that takes requests and answers none."""
    text = f"No answer: {broker.text} has not answered for {seconds:.0f} s. {DOCTOR}"
    return Outage(safe("no answer"), clean(text))


def outage_of(error: Exception, broker: Broker) -> Outage:
    """Return why a request of the account failed, with the remedy."""
    reason = message_of(error)[:MAX_REASON_LENGTH]
    who = broker.text
    match error:
        case Unreachable(cause=cause):
            short, remedy = UNREACHABLE[cause]
            text = f"Cannot reach {who} ({reason}): {remedy}"
        case TimedOut():
            short, text = "no answer", f"No answer from {who} ({reason}). {DOCTOR}"
        case ConnectionLost():
            short, text = "connection broken", f"Connection to {who} lost ({reason}). {DOCTOR}"
        case HttpStatusError():
            return _of_status(error, reason, broker)
        case _:
            short = "answer unreadable"
            text = (
                f"Something else answers for {who}, a proxy or a sign-in page ({reason}). {DOCTOR}"
            )
    return Outage(safe(short), clean(text))


def _of_status(error: HttpStatusError, reason: str, broker: Broker) -> Outage:
    status, who = error.status, broker.text
    match error:
        case Unauthorized():
            words = "token refused"
            text = f"The token is refused by {who} ({reason}): revoked or expired. Make one there, {broker.sign_in}"
        case Forbidden():
            words = "account refused"
            text = f"The account is refused by {who} ({reason}). Check the token's rights there, or {broker.sign_in}"
        case NotFound():
            words = "account not found"
            text = f"The account is not known to {who} ({reason}): closed, or of another environment; {broker.sign_in}"
        case RateLimited():
            words = "too many requests"
            text = f"Too many requests for {who} ({reason}). Close other programs that use the token. {GOES_ON}"
        case ServerFailed():
            words = "broker unavailable"
            text = f"Unavailable: {who} answers with an error ({reason}): its fault, not yours. {GOES_ON}"
        case _ if status == PROXY_SIGN_IN:
            words = "proxy sign-in needed"
            text = f"A proxy before {who} wants a sign-in ({reason}). {DOCTOR}"
        case _:
            words = "request refused"
            text = f"The request is refused by {who} ({reason}). {DOCTOR}"
    return Outage(safe(f"{words} ({status})"), clean(text))
