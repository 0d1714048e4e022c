"""A typed asynchronous client of the whole v20 brokerage interface.

Names are handed on when they are first used, so that importing this package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keydesk_client.client import Client
    from keydesk_client.errors import KeydeskClientError
    from keydesk_client.limiter import Limiter
    from keydesk_client.models.times import DateTime
    from keydesk_client.retries import Retries
    from keydesk_client.secret import Secret
    from keydesk_client.transport import Timeouts
    from keydesk_client.unset import UNSET

__all__ = [
    "UNSET",
    "Client",
    "DateTime",
    "KeydeskClientError",
    "Limiter",
    "Retries",
    "Secret",
    "Timeouts",
]

HOMES = {
    "UNSET": "unset",
    "Client": "client",
    "DateTime": "models.times",
    "KeydeskClientError": "errors",
    "Limiter": "limiter",
    "Retries": "retries",
    "Secret": "secret",
    "Timeouts": "transport",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"keydesk_client has no {name}")
    return getattr(import_module(f"keydesk_client.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
