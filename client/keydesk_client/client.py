"""The asynchronous client: its resources, its environments and profiles, and the account that it follows."""

# ruff: noqa: PLC0415 - see `resource_client`

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from keydesk_client.auth.secret import Secret, as_secret
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.resources.resource_client import LIVE, PRACTICE, ResourceClient

if TYPE_CHECKING:
    from keydesk_client.auth.token_store import Passphrase
    from keydesk_client.following.reporter import FollowSettings
    from keydesk_client.following.state import AccountState
    from keydesk_client.models.instruments import Instrument
    from keydesk_client.orders.journal import Journal
    from keydesk_client.resources.resource_client import CallOptions, ConnectionOptions


class Client(ResourceClient):
    """Every operation of the v20 interface, typed.

    Use it as `async with Client(...) as client:`; leaving the block closes every connection. `account_id` is the default
    of calls that do not name an account.

    Requests and streams to other machines go through the proxy of the environment (HTTPS_PROXY or ALL_PROXY, unless
    NO_PROXY lists the host), or through `proxy`: "http://user:password@host:port", or "" for none. A `transport`, any
    `httpx.AsyncBaseTransport`, carries them all in place of the client's own connections, and is closed with the client.
    `ssl_context` says which certificates those connections trust and show, as of a company or with a client certificate.

    A `limiter` may be shared by the clients of one event loop, so that they stay below the service's limit together: 120
    requests a second of one address, of which it advises to send at most 100 a second on one connection.
    """

    def follow(
        self,
        journal: "Journal | None" = None,
        *,
        instruments: "Iterable[str | Instrument]" = (),
        account_id: str | None = None,
        settings: "FollowSettings | None" = None,
        timing: Timing | None = None,
        client_ids: bool = True,
    ) -> "AccountState":
        """Follow an account: `async with client.follow(journal=..., instruments=["EUR_USD"]) as account: ...`.

        Args:
            journal: where `account.sender` writes requests before they are sent; None to send none.
            instruments: whose prices are streamed, beside those that are held.
            account_id: the account, if it is not the default of the client; each needs a journal of its own.
            settings: times, see `FollowSettings`.
            timing: clock, sleep and chance; for tests.
            client_ids: False for an account that is linked to a third-party platform (`mt4_account_id`).
        """
        from keydesk_client.following.reporter import FollowSettings
        from keydesk_client.following.state import AccountState

        return AccountState(
            self if account_id is None else self.for_account(account_id),
            journal,
            instruments=instruments,
            settings=settings or FollowSettings(),
            timing=timing or REAL_TIMING,
            client_ids=client_ids,
        )

    @classmethod
    def practice(
        cls,
        token: str | Secret,
        account_id: str | None = None,
        **options: "Unpack[ConnectionOptions]",
    ) -> Self:
        """Return a client of the broker's practice environment; the options are those of the constructor."""
        token = as_secret(token)
        rest_url, stream_url = PRACTICE
        return cls(
            token=token,
            rest_url=rest_url,
            stream_url=stream_url,
            account_id=account_id,
            **options,
        )

    @classmethod
    def live(
        cls,
        token: str | Secret,
        account_id: str | None = None,
        **options: "Unpack[ConnectionOptions]",
    ) -> Self:
        """Return a client of the live environment: real money; the options are those of the constructor."""
        token = as_secret(token)
        rest_url, stream_url = LIVE
        return cls(
            token=token,
            rest_url=rest_url,
            stream_url=stream_url,
            account_id=account_id,
            **options,
        )

    @classmethod
    def from_profile(
        cls,
        name: str,
        *,
        passphrase: "Passphrase | None" = None,
        data: str | Path | None = None,
        **options: "Unpack[CallOptions]",
    ) -> Self:
        """Return a client of an account that `keydesk login NAME` has stored, with the token that it stored.

        Args:
            name: of the profile.
            passphrase: returns the passphrase of the vault, as `passphrase_from_file(path)` does; asked for at the
                terminal by default, and only if the token is in the vault.
            data: the folder of `--data`; by default the user's, or `KEYDESK_HOME`.
            options: `timeouts`, `retries` and `limiter` of the constructor.

        Raises:
            InvalidSettings: there is no such profile, or its file cannot be read.
            TokenStoreError: the store is locked, the passphrase is wrong, or there is no token.
        """
        from keydesk_client.auth.profiles import load_profile, load_token, profile_folders

        config, state = profile_folders(data, os.environ)
        profile = load_profile(name, config)
        rest_url, stream_url = {"practice": PRACTICE, "live": LIVE}.get(
            profile.environment, (profile.rest_url, profile.stream_url)
        )
        return cls(
            token=load_token(profile, state, passphrase),
            rest_url=rest_url,
            stream_url=stream_url,
            account_id=profile.account_id,
            proxy=profile.proxy,
            **options,
        )
