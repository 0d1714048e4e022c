"""Who may come in: tokens, the accounts they open, and how often each may ask."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from keydesk_practice.http.refusals import forbidden, too_many_requests, unauthorized


@dataclass(slots=True)
class Allowance:
    """A bucket that refills with `rate` requests a second and never holds more than one second's worth."""

    rate: int
    left: float
    filled_at: float = 0.0

    def take(self, now: float) -> None:
        """Count one request; refuses it when the bucket is empty."""
        self.left = min(float(self.rate), self.left + (now - self.filled_at) * self.rate)
        self.filled_at = now
        if self.left < 1.0:
            raise too_many_requests(seconds=1)
        self.left -= 1.0


class Doorkeeper:
    """Knows the tokens by their digests only, and the owner behind each."""

    def __init__(self, tokens: Iterable[str], rate_limit: int) -> None:
        self._owners = {_digest(token): owner for owner, token in enumerate(tokens)}
        self._rate = rate_limit
        self._allowances: dict[int, Allowance] = {}

    def owner(self, authorization: str, now: float) -> int:
        """Return whose token an `Authorization` header carries, and count the request.

        Raises:
            Refused: 401 for a missing or unknown token, 429 above the rate limit.
        """
        scheme, _, token = authorization.partition(" ")
        owner = self._owners.get(_digest(token.strip()))
        if scheme.lower() != "bearer" or owner is None:
            raise unauthorized()
        allowance = self._allowances.setdefault(
            owner, Allowance(self._rate, float(self._rate), now)
        )
        allowance.take(now)
        return owner


def check_owner(of_token: int, of_account: int) -> None:
    """Refuse a token on somebody else's account."""
    if of_token != of_account:
        raise forbidden()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
