"""Clients of profiles: what `keydesk login` wrote is what a script opens."""

import asyncio
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from keydesk.config.folders import find_folders
from keydesk.config.settings import save_profile
from keydesk_client import Client, Limiter, Retries, Timeouts, passphrase_from_file, sync
from keydesk_client.auth.profiles import Profile, load_profile, profile_folders
from keydesk_client.auth.profiles import Profile as DeskProfile
from keydesk_client.auth.token_store import TokenStore
from keydesk_client.auth.vault import ALLOWED_WORK, VaultKeyring
from keydesk_client.errors import InvalidSettings, StoreLocked, TokenStoreError, WrongPassphrase
from support.broker import PracticeServer

PASSPHRASE = "correct horse"


@pytest.fixture
def home(desk_of_my_own: PracticeServer, tmp_path: Path) -> Path:
    """A folder of the desk with the profile `main`, whose token is in the vault."""
    desk = desk_of_my_own
    folders = find_folders(str(tmp_path / "home"), {})
    profile = DeskProfile(
        "main", "custom", desk.account_id, desk.rest_url, desk.stream_url, kept_in="vault"
    )
    save_profile(folders.config, profile)
    vault = VaultKeyring(
        folders.private("tokens") / "tokens.vault", lambda: PASSPHRASE, work=min(ALLOWED_WORK)
    )
    TokenStore(vault, "vault").store("main", "custom", desk.token)
    return tmp_path / "home"


async def test_a_profile_of_the_desk_opens_its_account(
    home: Path, desk_of_my_own: PracticeServer
) -> None:
    async with Client.from_profile("main", passphrase=lambda: PASSPHRASE, data=home) as client:
        assert client.account_id == desk_of_my_own.account_id
        assert (await client.accounts.summary()).account.balance > Decimal(0)


def test_a_script_takes_the_passphrase_from_a_private_file(
    home: Path, desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    secret = tmp_path / "passphrase"
    secret.touch(0o600)
    secret.write_text(PASSPHRASE)
    given = passphrase_from_file(secret)
    with sync.Client.from_profile("main", passphrase=given, data=home, timeout=30) as client:
        assert client.accounts.summary().account.id == desk_of_my_own.account_id


def test_the_folder_of_the_environment_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYDESK_HOME", str(home))
    assert Client.from_profile("main", passphrase=lambda: PASSPHRASE).account_id


def test_a_wrong_passphrase_is_an_error(home: Path) -> None:
    with pytest.raises(WrongPassphrase):
        Client.from_profile("main", passphrase=lambda: "wrong", data=home)


def test_without_a_terminal_the_passphrase_has_to_be_passed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody_types(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("getpass.getpass", nobody_types)
    with pytest.raises(StoreLocked, match="pass `passphrase`"):
        Client.from_profile("main", data=home)


def test_a_profile_that_is_not_there_names_those_that_are(home: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"no profile 'mian' in .*\(known: main\)"):
        Client.from_profile("mian", data=home)


def test_a_profile_without_a_token_says_how_to_sign_in(home: Path) -> None:
    save_profile(home, DeskProfile("other", "live", "1", kept_in="vault"))
    with pytest.raises(TokenStoreError, match="keydesk login other --environment live"):
        Client.from_profile("other", passphrase=lambda: PASSPHRASE, data=home)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profiles = 1", "no profile 'main'"),
        ("[profiles]\nmain = 1", "must be a table"),
        ("[profiles.main]\nenvironment = 'moon'", "profiles.main.environment must be one of"),
        ("[profiles.main]\nenvironment = 'live'\nrest_url = 'https://a.test'", "names an address"),
        (
            "[profiles.main]\nenvironment = 'live'\naccount = 5",
            "profiles.main.account must be text",
        ),
        ("[[", "is not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(InvalidSettings, match=words):
        load_profile("main", tmp_path)


def test_the_environments_of_the_broker_have_known_hosts(tmp_path: Path) -> None:
    save_profile(tmp_path, DeskProfile("main", "practice", "101-1"))
    assert load_profile("main", tmp_path) == Profile("main", "practice", "101-1")


def test_the_folders_are_those_of_the_desk(tmp_path: Path) -> None:
    for environment in (
        {"HOME": "/h"},
        {"HOME": "/h", "XDG_STATE_HOME": "/s"},
        {"KEYDESK_HOME": "/k"},
    ):
        folders = find_folders(None, environment)
        assert profile_folders(None, environment) == (folders.config, folders.state)
    assert profile_folders(tmp_path, {}) == (tmp_path, tmp_path)


def test_the_known_hosts_take_every_setting_of_the_constructor() -> None:
    limiter, retries, timeouts = Limiter(rate=50), Retries(max_retries=0), Timeouts(whole=2.0)
    for make in (Client.practice, Client.live):
        client = make("t" * 8, "1", timeouts=timeouts, retries=retries, limiter=limiter)
        assert client.session.timeouts is timeouts
        assert client.account_id == "1"
    for make_sync in (sync.Client.practice, sync.Client.live):
        with make_sync("t" * 8, "1", timeouts=timeouts, retries=retries, timeout=5) as waiting:
            assert waiting.asynchronous.session.timeouts is timeouts


async def test_clients_with_one_limiter_share_its_places() -> None:
    at_once, most = 0, 0

    async def answer(_: httpx.Request) -> httpx.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return httpx.Response(200, json={"accounts": []})

    url, limiter, transport = (
        "https://r.test",
        Limiter(calls_at_once=1),
        httpx.MockTransport(answer),
    )
    clients = [
        Client(token="planted", rest_url=url, stream_url=url, limiter=limiter, transport=transport)
        for _ in range(2)
    ]
    await asyncio.gather(*(client.accounts.list() for client in clients for _ in range(3)))
    assert most == 1
