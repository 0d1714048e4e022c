"""The logger `keydesk_client`: INFO for a connection, DEBUG for a request, WARNING for an interrupted stream; never a token.

    logging.basicConfig(); logging.getLogger("keydesk_client").setLevel(logging.DEBUG)

    INFO:keydesk_client:connected to https://api-fxpractice.oanda.com in 84 ms
    DEBUG:keydesk_client:GET /v3/accounts/101-001-1-001/summary 200 in 41 ms, request 42359
    DEBUG:keydesk_client:POST /v3/accounts/101-001-1-001/orders failed in 3000 ms: TimedOut
    WARNING:keydesk_client:the stream of prices is interrupted (ConnectionLost): it is opened again until that succeeds or it is left
    INFO:keydesk_client:the stream of prices is back after 7.2 s

Times begin with the call, so that they include waiting for a turn. Queries and bodies are not logged. A path holds what a caller passed for a name, so that tokens are removed from it, too.
"""

import logging
from typing import Final
from urllib.parse import unquote

from keydesk_client.errors import KeydeskClientError
from keydesk_client.http.messages import Request

LOG: Final = logging.getLogger("keydesk_client")
LOG.addHandler(logging.NullHandler())
MAX_PATH_LENGTH: Final = 200
MAX_REQUEST_ID_LENGTH: Final = 60


def log_response(request: Request, status: int, request_id: str, seconds: float) -> None:
    """Log a request that was answered; callers ask `LOG.isEnabledFor(DEBUG)` before."""
    path, id_ = _printable(unquote(request.path), MAX_PATH_LENGTH), ""
    if request_id:
        id_ = f", request {_printable(request_id, MAX_REQUEST_ID_LENGTH)}"
    LOG.debug("%s %s %d in %.0f ms%s", request.method, path, status, 1000 * seconds, id_)


def log_failure(request: Request, error: KeydeskClientError, seconds: float) -> None:
    """Log a request without an answer, by the kind of its error: the text may quote what was received."""
    if LOG.isEnabledFor(logging.DEBUG):
        path = _printable(unquote(request.path), MAX_PATH_LENGTH)
        LOG.debug(
            "%s %s failed in %.0f ms: %s",
            request.method,
            path,
            1000 * seconds,
            type(error).__name__,
        )


def log_connection(place: str, seconds: float) -> None:
    """Log a connection that was opened."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("connected to %s in %.0f ms", _printable(place, MAX_PATH_LENGTH), 1000 * seconds)


def log_interruption(stream: str, error: KeydeskClientError) -> None:
    """Log that a stream lost its connection, or got none; once until it is back."""
    LOG.warning(
        "the stream of %s is interrupted (%s): it is opened again until that succeeds or it is left",
        stream,
        type(error).__name__,
    )


def log_return(stream: str, seconds: float) -> None:
    """Log that a stream is back."""
    LOG.info("the stream of %s is back after %.1f s", stream, seconds)


def _printable(text: str, longest: int) -> str:
    """Return text on one line: what a service or a caller chose must not forge lines or move a terminal's cursor."""
    shown = "".join(each if each.isprintable() else "?" for each in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"
