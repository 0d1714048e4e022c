"""The client: one object, an area for each resource."""

from types import TracebackType
from typing import Final, Self

from keydesk_client.areas.accounts import Accounts
from keydesk_client.areas.area import Defaults
from keydesk_client.areas.books import Books
from keydesk_client.areas.candles import Candles
from keydesk_client.areas.orders import Orders
from keydesk_client.areas.positions import Positions
from keydesk_client.areas.pricing import Pricing
from keydesk_client.areas.trades import Trades
from keydesk_client.areas.transactions import Transactions
from keydesk_client.calls import Caller
from keydesk_client.limiter import Limiter
from keydesk_client.paths import TimeForm
from keydesk_client.retries import Retries
from keydesk_client.secret import Secret, hidden
from keydesk_client.transport import Carrier, Timeouts, Transport

PRACTICE: Final = ("https://api-fxpractice.oanda.com", "https://stream-fxpractice.oanda.com")
LIVE: Final = ("https://api-fxtrade.oanda.com", "https://stream-fxtrade.oanda.com")

STANDARD_TIMEOUTS: Final = Timeouts()
STANDARD_RETRIES: Final = Retries()


class Client:
    """Every operation of the v20 interface, typed.

    Use it as `async with Client(...) as client:`; leaving the block closes every connection. `account_id` is what
    every call uses that does not name an account.
    """

    def __init__(
        self,
        *,
        token: str | Secret,
        rest_url: str,
        stream_url: str,
        account_id: str | None = None,
        datetime_format: TimeForm = "RFC3339",
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        retries: Retries = STANDARD_RETRIES,
        limiter: Limiter | None = None,
        carrier: Carrier | None = None,
    ) -> None:
        secret, token = hidden(token), ""  # a traceback from here on must not show it as a local
        self._rest_url, self.account_id = rest_url, account_id
        self.transport = Transport(secret, rest_url, stream_url, timeouts=timeouts, carrier=carrier)
        caller = Caller(self.transport, limiter or Limiter(), retries)
        defaults = Defaults(account_id, datetime_format)
        self.accounts = Accounts(caller, defaults)
        self.candles = Candles(caller, defaults)
        self.pricing = Pricing(caller, defaults)
        self.orders = Orders(caller, defaults)
        self.trades = Trades(caller, defaults)
        self.positions = Positions(caller, defaults)
        self.transactions = Transactions(caller, defaults)
        self.books = Books(caller, defaults)

    @classmethod
    def practice(cls, token: str | Secret, account_id: str | None = None) -> Self:
        """A client of the broker's practice environment."""
        token = hidden(token)
        return cls._of(PRACTICE, token, account_id)

    @classmethod
    def live(cls, token: str | Secret, account_id: str | None = None) -> Self:
        """A client of the live environment: real money."""
        token = hidden(token)
        return cls._of(LIVE, token, account_id)

    @classmethod
    def _of(cls, urls: tuple[str, str], secret: Secret, account_id: str | None) -> Self:
        rest_url, stream_url = urls
        return cls(token=secret, rest_url=rest_url, stream_url=stream_url, account_id=account_id)

    async def close(self) -> None:
        """Close every connection."""
        await self.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Client({self._rest_url!r}, account_id={self.account_id!r})"
