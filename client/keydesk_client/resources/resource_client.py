"""The resources of the interface on one set of connections: one attribute per resource.

A resource and its records are imported when it is first used, which saves 60 ms at the start of a script that only needs
prices.
"""

# ruff: noqa: PLC0415 - see above

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypedDict

from keydesk_client.auth.secret import Secret, as_secret
from keydesk_client.http.limits import Limiter
from keydesk_client.http.retry import STANDARD_RETRIES, Retries
from keydesk_client.http.timing import STANDARD_TIMEOUTS, Timeouts
from keydesk_client.resources._defaults import Defaults, TimeFormat

if TYPE_CHECKING:
    import ssl

    from keydesk_client.http.caller import Caller
    from keydesk_client.http.transport import PassedTransport
    from keydesk_client.models.instruments import Instrument
    from keydesk_client.resources.accounts import Accounts
    from keydesk_client.resources.candles import Candles
    from keydesk_client.resources.orders import Orders
    from keydesk_client.resources.pricing import Books, Pricing
    from keydesk_client.resources.trades import Positions, Trades
    from keydesk_client.resources.transactions import Transactions

PRACTICE: Final = ("https://api-fxpractice.oanda.com", "https://stream-fxpractice.oanda.com")
LIVE: Final = ("https://api-fxtrade.oanda.com", "https://stream-fxtrade.oanda.com")


class CallOptions(TypedDict, total=False):
    """How a client makes its calls; see its constructor."""

    timeouts: Timeouts
    """Seconds that each phase of a request may take."""
    retries: Retries
    """How often and how long a read is tried."""
    limiter: Limiter | None
    """Admits requests; may be shared by the clients of one event loop."""


class ConnectionOptions(CallOptions, total=False):
    """How a client connects; see its constructor."""

    proxy: str | None
    """The URL of a proxy, "" for none, None for that of the environment."""
    ssl_context: "ssl.SSLContext | None"
    """Which certificates the connections trust and show."""


class ResourceClient:
    """Every operation of the v20 interface, typed: `Client` without its named environments, profiles and `follow`.

    Use it as `async with ... as client:`; leaving the block closes every connection.
    """

    def __init__(
        self,
        *,
        token: str | Secret,
        rest_url: str,
        stream_url: str,
        account_id: str | None = None,
        datetime_format: TimeFormat = "RFC3339",
        timeouts: Timeouts = STANDARD_TIMEOUTS,
        retries: Retries = STANDARD_RETRIES,
        limiter: Limiter | None = None,
        transport: "PassedTransport | None" = None,
        proxy: str | None = None,
        ssl_context: "ssl.SSLContext | None" = None,
    ) -> None:
        from keydesk_client.http.caller import Caller
        from keydesk_client.http.session import Session

        secret, token = as_secret(token), ""  # a traceback from here on must not show it as a local
        self._rest_url = rest_url
        self._defaults = Defaults(
            account_id, datetime_format
        )  # before Session fails: repr needs it
        self.session: Session = Session(
            secret,
            rest_url,
            stream_url,
            timeouts=timeouts,
            limiter=limiter,
            transport=transport,
            proxy=proxy,
            encryption=ssl_context,
        )
        self._caller = Caller(self.session, retries)
        self._look_up_caller = self._caller.for_look_ups()

    def for_look_ups(self) -> Self:
        """Return a view of this client whose reads are look-ups: admitted first, on connections of their own.

        It is for reads that tell what became of a request whose response was lost, and is closed with this client.
        """
        return self._view(self._look_up_caller)

    def with_retries(self, retries: Retries) -> Self:
        """Return a view of this client whose reads are retried by another policy; closed with this client."""
        return self._view(self._caller.with_retries(retries))

    def _view(self, caller: "Caller") -> Self:
        view = object.__new__(type(self))
        view._rest_url, view._defaults = self._rest_url, self._defaults
        view.session, view._caller = self.session, caller
        view._look_up_caller = self._look_up_caller
        return view

    def for_account(self, account_id: str) -> Self:
        """Return a view of this client with another default account, on the same connections; closed with this client."""
        view = object.__new__(type(self))
        view._rest_url = self._rest_url
        view._defaults = Defaults(account_id, self._defaults.datetime_format)
        view.session, view._caller = self.session, self._caller
        view._look_up_caller = self._look_up_caller
        return view

    @cached_property
    def accounts(self) -> "Accounts":
        """The accounts that the token may use."""
        from keydesk_client.resources.accounts import Accounts

        return Accounts(self._caller, self._defaults)

    @cached_property
    def books(self) -> "Books":
        """Order and position books of the service's clients."""
        from keydesk_client.resources.pricing import Books

        return Books(self._caller, self._defaults)

    @cached_property
    def candles(self) -> "Candles":
        """The price history of instruments."""
        from keydesk_client.resources.candles import Candles

        return Candles(self._caller, self._defaults)

    @cached_property
    def orders(self) -> "Orders":
        """The orders of an account."""
        from keydesk_client.resources.orders import Orders

        return Orders(self._caller, self._defaults)

    @cached_property
    def positions(self) -> "Positions":
        """The positions of an account."""
        from keydesk_client.resources.trades import Positions

        return Positions(self._caller, self._defaults)

    @cached_property
    def pricing(self) -> "Pricing":
        """Prices, current and streamed."""
        from keydesk_client.resources.pricing import Pricing

        return Pricing(self._caller, self._defaults)

    @cached_property
    def trades(self) -> "Trades":
        """The trades of an account."""
        from keydesk_client.resources.trades import Trades

        return Trades(self._caller, self._defaults)

    @cached_property
    def transactions(self) -> "Transactions":
        """The history of an account."""
        from keydesk_client.resources.transactions import Transactions

        return Transactions(self._caller, self._defaults)

    async def instrument(self, name: "str | Instrument") -> "Instrument":
        """Return an instrument of the account: its terms, and its arithmetic (`units_for_risk`, `pips`, `margin`).

        The first call reads all instruments of the account; later ones need no request. An Instrument is accepted
        wherever the name of one is.

        Raises:
            InvalidRequest: the account has no such instrument.
        """
        from keydesk_client.resources.accounts import instrument_of

        return await instrument_of(self._caller, self._defaults, name, "name")

    @property
    def account_id(self) -> str | None:
        """The default account; `for_account` returns a view with another."""
        return self._defaults.account_id

    @property
    def throttled(self) -> int:
        """How many responses had the status 429, including those whose request succeeded when retried."""
        return self._caller.throttled

    async def close(self) -> None:
        """Close every connection."""
        await self.session.close()

    @property
    def is_of_the_service(self) -> bool:
        """Whether requests go to the service itself: the accounts of a practice broker may begin anew with the same ids."""
        return self._rest_url in (PRACTICE[0], LIVE[0])

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
