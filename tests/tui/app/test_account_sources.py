"""Which account is opened, under which band, and where its token may go."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from keydesk.app.account_sources import (
    CannotOpen,
    ProfileAccount,
    accounts_of,
    accounts_to_choose,
    urls_of,
)
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.http.retry import Retries
from keydesk_client.resources.resource_client import LIVE, PRACTICE
from support.broker import PracticeServer
from support.data.hostile_answers import whole_request
from support.fakes.talking_server import talking_server

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


HOSTILE = (
    "../../../etc/passwd",
    "a/b",
    "a\\b",
    "\x1b]0;x\x07101",
    "a\nb",
    ".",
    "x" * 101,
    "ü" * 60,
    "\u202e1",
)


@asynccontextmanager
async def broker_with(ids: Sequence[str]) -> AsyncIterator[str]:
    """A broker that lists these accounts, and knows nothing more of them."""
    body = json.dumps({"accounts": [{"id": each, "tags": []} for each in ids]}).encode()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await whole_request(reader):
                is_list = head.split(b" ", 2)[1].endswith(b"/accounts")
                answer, state = (body, b"200 OK") if is_list else (b"{}", b"404 Not Found")
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                    % (state, len(answer), answer)
                )

    async with talking_server(talk) as url:
        yield url


async def test_accounts_whose_number_cannot_name_a_file_are_not_offered_and_none_twice() -> None:
    async with broker_with((*HOSTILE, "101-1", "101 ü", "101-1")) as url:
        profile = Profile("lab", "custom", "", url, url)
        chosen = await accounts_to_choose(profile, Secret(TOKEN))
        assert [each.id for each in chosen] == ["101-1", "101 ü"]
        found = await accounts_of(url, url, Secret(TOKEN), Retries(max_retries=0))
        assert list(found) == ["101-1", "101 ü"]
    async with broker_with(HOSTILE) as url:
        profile = Profile("lab", "custom", "", url, url)
        with pytest.raises(CannotOpen, match="no account for this token whose number can be used"):
            await accounts_to_choose(profile, Secret(TOKEN))


@pytest.mark.parametrize(
    ("ids", "login", "words"),
    [
        ([], ":login lab", "with one of: none: :login lab"),
        (["1", "2"], "keydesk login lab", "with one of: 1, 2: keydesk login lab --account ID"),
        ([f"{n}" for n in range(9000)], ":login lab", "4, 5, 6, 7 and 8992 more: :login lab"),
    ],
)
async def test_an_account_that_is_missing_is_said_with_a_few_others(
    ids: list[str], login: str, words: str
) -> None:
    async with broker_with(ids) as url:
        account = ProfileAccount(Profile("lab", "custom", "9999", url, url), Secret(TOKEN), login)
        with pytest.raises(CannotOpen) as refused:
            await account.target()
    assert str(refused.value).endswith(words)
