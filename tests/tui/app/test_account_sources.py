"""Which account is opened, under which band, and where its token may go."""

import pytest

from keydesk.app.account_sources import CannotOpen, ProfileAccount, urls_of
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.client import LIVE, PRACTICE
from support.broker import PracticeServer

TOKEN = "planted-0123456789abcdef"


def signed_in(practice: PracticeServer, account_id: str, token: str) -> ProfileAccount:
    url = practice.rest_url
    return ProfileAccount(
        Profile("main", "custom", account_id, url, url), Secret(token), "keydesk login main"
    )


def test_a_custom_host_counts_as_live() -> None:
    bands = {
        environment: ProfileAccount(
            Profile("main", environment, "1"), Secret(TOKEN), "keydesk login main"
        ).environment
        for environment in ("practice", "live", "custom")
    }
    assert bands == {"practice": "PRACTICE", "live": "LIVE", "custom": "LIVE"}


def test_a_token_goes_to_the_host_of_its_environment_only() -> None:
    assert urls_of(Profile("main", "practice", "1")) == PRACTICE
    assert urls_of(Profile("main", "live", "1")) == LIVE
    assert urls_of(Profile("main", "custom", "1", "https://r", "https://s")) == (
        "https://r",
        "https://s",
    )


def test_two_profiles_with_the_same_account_id_have_journals_of_their_own() -> None:
    records = {
        ProfileAccount(Profile(name, "live", "1"), Secret(TOKEN), "keydesk login main")
        .address_offline()
        .records
        for name in "ab"
    }
    assert records == {"a.1", "b.1"}


def test_nothing_shows_the_token() -> None:
    account = ProfileAccount(Profile("main", "live", "1"), Secret(TOKEN), "keydesk login main")
    assert TOKEN not in repr(account) + repr(account.address_offline())


async def test_the_account_must_be_the_token_s(desk_of_my_own: PracticeServer) -> None:
    token, account_id = desk_of_my_own.token, desk_of_my_own.account_id
    assert (await signed_in(desk_of_my_own, account_id, token).target()).account_id == account_id
    with pytest.raises(CannotOpen, match="may not use account 9"):
        await signed_in(desk_of_my_own, "9", token).target()
    with pytest.raises(CannotOpen, match="refuses the token"):
        await signed_in(desk_of_my_own, account_id, TOKEN).target()
