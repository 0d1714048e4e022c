"""The accounts of a token as a trader chooses among them: name, number, currency and balance."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct

from keydesk.parse.profile_names import is_account_id
from keydesk.text.format import EMPTY, money
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk_client.account.values import MAX_VALUE, READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models._core.record import Record
from keydesk_client.resources.answers import text

MOST_READ: Final = 40
"""Accounts whose balance is read; those after them are listed by their number."""
ID_WIDTH: Final = 24
NAME_WIDTH: Final = 20


class TokenAccount(Struct, frozen=True):
    """An account that a token may use; members but its number are empty where they cannot be read."""

    id: str
    alias: str = ""
    currency: str = ""
    balance: Decimal | None = None
    linked: bool = False  # to a third-party platform

    @property
    def text(self) -> SafeText:
        """One line: number, name, currency and balance."""
        name = clean(self.alias, NAME_WIDTH) if self.alias else EMPTY
        balance = "balance not readable" if self.balance is None else money(self.balance)
        currency = clean_name(self.currency, 8)
        return safe(
            f"{clean_name(self.id, ID_WIDTH):<{ID_WIDTH}} {name:<{NAME_WIDTH}} {balance:>16} {currency}"
        )


async def token_accounts(client: Client) -> Sequence[TokenAccount]:
    """Return the accounts of the client's token, in the broker's order, without those whose number cannot be used.

    Raises:
        KeydeskClientError: the list cannot be read; an account that cannot be read is listed without its balance.
    """
    listed = (await client.accounts.list()).accounts
    named = {text(each, "id") or "": each.mt4_account_id is not None for each in listed}
    known = [(id_, linked) for id_, linked in named.items() if is_account_id(id_)]
    read = [_read(client, id_, linked=linked) for id_, linked in known[:MOST_READ]]
    return [
        *(await asyncio.gather(*read)),
        *(TokenAccount(id_, linked=linked) for id_, linked in known[MOST_READ:]),
    ]


async def _read(client: Client, id_: str, *, linked: bool) -> TokenAccount:
    try:
        account: Record = (await client.accounts.summary(id_)).account
        balance = getattr(account, "balance", None)
        if not isinstance(balance, Decimal) or not abs(balance) < MAX_VALUE:
            balance = None
    except (KeydeskClientError, *READ_ERRORS):
        return TokenAccount(id_, linked=linked)
    return TokenAccount(
        id_, text(account, "alias") or "", text(account, "currency") or "", balance, linked
    )
