"""Read every account of every profile for the page that shows them, again and again while it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keydesk.app.account_sources import AccountSource, CannotOpen, ProfileAccount, refused_token
from keydesk.app.desk_accounts import VaultIsLocked
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.text.sanitize import clean
from keydesk_client.errors import KeydeskClientError

if TYPE_CHECKING:
    from textual.screen import Screen

    from keydesk.app.desk_accounts import DeskAccounts
    from keydesk.forms.account.all_accounts import AllAccountsPage
    from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview

READ_EVERY = 10.0  # seconds
ANSWER_WITHIN = 20.0  # seconds
MAX_REASON_LENGTH = 300


async def follow_accounts(
    accounts: DeskAccounts, page: AllAccountsPage, screens: Sequence[Screen[object]]
) -> None:
    """Give the page each profile as soon as it was read, until the page is closed."""
    while page in screens:
        await asyncio.to_thread(accounts.read_again)  # another program may have changed them
        names = [each.name for each in accounts.profiles]
        if accounts.has_practice_market:
            names = [PRACTICE_MARKET, *names]
        page.expect(names)
        reading = {asyncio.ensure_future(read_profile(accounts, each)): each for each in names}
        try:
            for done in asyncio.as_completed(reading):
                page.show(await done)
        finally:
            for each in reading:
                each.cancel()
        await asyncio.sleep(READ_EVERY)


async def read_profile(accounts: DeskAccounts, name: str) -> ProfileOverview:
    """Return the accounts of a profile's token, or why they cannot be read."""
    from keydesk.trading.accounts.account_overview import ProfileOverview  # noqa: PLC0415 - loads the client

    profile = accounts.settings.profiles.get(name)
    band = "PRACTICE" if profile is None or profile.is_practice else "LIVE"
    try:
        source = await accounts.source(name)
        async with asyncio.timeout(ANSWER_WITHIN):
            return ProfileOverview(name, band, await _read(source))
    except VaultIsLocked:
        why = f"the token vault is locked; :profile {name} asks for its passphrase"
    except CannotOpen as error:
        why = str(error)
    except TimeoutError:
        why = f"its broker does not answer within {ANSWER_WITHIN:.0f} s"
    except (KeydeskClientError, OSError) as error:
        why = str(error)
    return ProfileOverview(name, band, why=clean(why, MAX_REASON_LENGTH))


async def _read(source: AccountSource) -> Sequence[AccountOverview]:
    from keydesk.trading.accounts.account_overview import read_accounts  # noqa: PLC0415 - loads the client
    from keydesk_client.client import Client  # noqa: PLC0415 - as above
    from keydesk_client.http.retry import Retries  # noqa: PLC0415 - as above

    target = (
        source.address_offline() if isinstance(source, ProfileAccount) else await source.target()
    )
    async with Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        proxy=target.proxy,
        retries=Retries(max_retries=1),
    ) as client:
        with refused_token():
            return await read_accounts(client)
