"""Accounts: list, contents, tradable instruments, configuration and changes."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import Iterable

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.caller import Caller
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import INSTRUMENTS as INSTRUMENTS_BODY
from keydesk_client.models._core.json import LIST
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.scalars import AnyTransactionID, Number
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.responses import (
    AccountChangesResponse,
    AccountResponse,
    AccountsResponse,
    AccountSummaryResponse,
    ConfigureAccountResponse,
    InstrumentsResponse,
)
from keydesk_client.resources._base import (
    Resource,
    join_names,
    name_of,
    number,
    numeric_id,
    path,
    plain_text,
    unknown_instrument,
)
from keydesk_client.resources._defaults import Defaults
from keydesk_client.resources.answers import is_configuration

ACCOUNTS = Reader(AccountsResponse)
ACCOUNT = Reader(AccountResponse, LIST)
SUMMARY = Reader(AccountSummaryResponse)
INSTRUMENTS = Reader(InstrumentsResponse, INSTRUMENTS_BODY)
CONFIGURED = Reader(ConfigureAccountResponse)
CHANGES = Reader(AccountChangesResponse, LIST)


async def instrument_of(
    caller: Caller, defaults: Defaults, name: str | Instrument, field: str
) -> Instrument:
    """Return an instrument of the account; the first call reads all of them, and the defaults keep them.

    Raises:
        InvalidRequest: the account has no such instrument; `field` is the argument that names it.
    """
    known, name = defaults.instruments, name_of(name)
    if not known:
        answer = await Accounts(caller, defaults).instruments()
        known.update({each.name: each for each in answer.instruments})
    if name not in known:
        raise unknown_instrument(field, name, known)
    return known[name]


class Accounts(Resource):
    """The accounts that the token may use."""

    async def list(self) -> AccountsResponse:
        """Return every account that the token may use."""
        return await self._caller.call(Request("GET", path("accounts")), ACCOUNTS)

    async def get(self, account_id: str | None = None) -> AccountResponse:
        """Return the account with its pending orders, open trades and positions."""
        request = Request("GET", self._account(account_id), headers=self._headers())
        return await self._caller.call(request, ACCOUNT)

    async def summary(self, account_id: str | None = None) -> AccountSummaryResponse:
        """Return the amounts of the account in its home currency, without orders, trades and positions."""
        request = Request("GET", self._account(account_id, "summary"), headers=self._headers())
        return await self._caller.call(request, SUMMARY)

    async def instruments(
        self, names: Iterable[str | Instrument] | None = None, *, account_id: str | None = None
    ) -> InstrumentsResponse:
        """Return the instruments that the account may trade, with their terms; all, or those in `names`."""
        query = {} if names is None else {"instruments": join_names("names", names)}
        request = Request("GET", self._account(account_id, "instruments"), query)
        return await self._caller.call(request, INSTRUMENTS)

    async def configure(
        self,
        *,
        alias: str | None = None,
        margin_rate: Number | None = None,
        account_id: str | None = None,
    ) -> ConfigureAccountResponse:
        """Change the alias, the margin rate (0.05 is 5 percent), or both.

        Idempotent and without effect on positions: after a lost response call it again; it needs no Sender.
        """
        members: Wire = {}
        if alias is not None:
            members["alias"] = plain_text("alias", alias)
        if margin_rate is not None:
            members["marginRate"] = number("margin_rate", margin_rate, above_zero=True)
        if not members:
            raise InvalidRequest(
                "alias: nothing to change: pass alias, margin_rate or both", field="alias"
            )
        return await self._write(
            "PATCH",
            ("configuration",),
            CONFIGURED,
            members,
            is_configuration,
            account_id=account_id,
        ).send()

    async def changes(
        self, since: AnyTransactionID, *, account_id: str | None = None
    ) -> AccountChangesResponse:
        """Return the changes after the transaction `since`, and the state that depends on prices.

        Raises:
            OutOfRange: the service does not know that transaction: read the account again.
        """
        query = {"sinceTransactionID": numeric_id("since", since)}
        request = Request("GET", self._account(account_id, "changes"), query, self._headers())
        return await self._caller.call(request, CHANGES)
