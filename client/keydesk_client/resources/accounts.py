"""Accounts: which there are, what they hold, what they may trade, what has changed."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import Iterable

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.caller import json_body
from keydesk_client.http.endpoint import listed, number, numeric_id, path, plain_text
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import INSTRUMENTS as INSTRUMENTS_BODY
from keydesk_client.models._core.json import LIST
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.scalars import Number
from keydesk_client.models.responses import (
    AccountChangesResponse,
    AccountResponse,
    AccountsResponse,
    AccountSummaryResponse,
    ConfigureAccountResponse,
    InstrumentsResponse,
)
from keydesk_client.resources._base import Area

ACCOUNTS = Reader(AccountsResponse)
ACCOUNT = Reader(AccountResponse, LIST)
SUMMARY = Reader(AccountSummaryResponse)
INSTRUMENTS = Reader(InstrumentsResponse, INSTRUMENTS_BODY)
CONFIGURED = Reader(ConfigureAccountResponse)
CHANGES = Reader(AccountChangesResponse, LIST)


class Accounts(Area):
    """The accounts that the token may use."""

    async def list(self) -> AccountsResponse:
        """Every account that the token may use."""
        return await self._caller.ask(Request("GET", path("accounts")), ACCOUNTS)

    async def get(self, *, account_id: str | None = None) -> AccountResponse:
        """The account in full: pending orders, open trades and positions included."""
        request = Request("GET", self._account(account_id), headers=self._headers())
        return await self._caller.ask(request, ACCOUNT)

    async def summary(self, *, account_id: str | None = None) -> AccountSummaryResponse:
        """The account's numbers in home currency: balance, NAV, margin, P/L; without orders, trades and positions."""
        request = Request("GET", self._account(account_id, "summary"), headers=self._headers())
        return await self._caller.ask(request, SUMMARY)

    async def instruments(
        self, names: Iterable[str] | None = None, *, account_id: str | None = None
    ) -> InstrumentsResponse:
        """What the account may trade, and on which terms; or only the named ones of it."""
        query = {} if names is None else {"instruments": listed("names", names)}
        request = Request("GET", self._account(account_id, "instruments"), query)
        return await self._caller.ask(request, INSTRUMENTS)

    async def configure(
        self,
        *,
        alias: str | None = None,
        margin_rate: Number | None = None,
        account_id: str | None = None,
    ) -> ConfigureAccountResponse:
        """Change the alias, the margin rate (0.05 is 5 percent), or both; what is left out stays.

        Moves no money, and twice is as once: after a lost answer ask again; it needs no Sender.
        """
        members: Wire = {}
        if alias is not None:
            members["alias"] = plain_text("alias", alias)
        if margin_rate is not None:
            members["marginRate"] = number("margin_rate", margin_rate, above_zero=True)
        if not members:
            raise InvalidRequest("alias: nothing to change was given", field="alias")
        request = Request(
            "PATCH",
            self._account(account_id, "configuration"),
            headers=self._headers(),
            body=json_body(members),
        )
        return await self._caller.ask(request, CONFIGURED)

    async def changes(
        self, since: str | int, *, account_id: str | None = None
    ) -> AccountChangesResponse:
        """What happened after the transaction `since`, and everything that moves with the prices.

        OutOfRange when the service does not know that transaction: read the account anew.
        """
        query = {"sinceTransactionID": numeric_id("since", since)}
        request = Request("GET", self._account(account_id, "changes"), query, self._headers())
        return await self._caller.ask(request, CHANGES)
