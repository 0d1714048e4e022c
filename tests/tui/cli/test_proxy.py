"""Signing in and the doctor through a company's proxy: of the environment, and of the profile."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.fakes.encrypted_server import Authority, encrypted_server
from support.fakes.talking_server import talking_server
from support.proxies.connect_proxy import ConnectProxy, relay_to
from support.signing_in import Home

PASSWORD = "hidden-word"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def encrypted(desk_of_my_own: PracticeServer, tmp_path: Path) -> AsyncIterator[str]:
    """The practice broker behind TLS; its authority is in `authority.pem`."""
    certificate = Authority(tmp_path).certificate("localhost")
    async with encrypted_server(relay_to(desk_of_my_own.rest_url), certificate) as url:
        yield url


@pytest.mark.e2e
async def test_a_company_without_another_way_out(
    desk_of_my_own: PracticeServer, encrypted: str, home: Home, tmp_path: Path
) -> None:
    proxy = ConnectProxy("me", PASSWORD)
    trusted = {"SSL_CERT_FILE": str(tmp_path / "authority.pem"), "NO_PROXY": ""}
    urls = ("--environment", "custom", "--rest-url", encrypted, "--stream-url", encrypted)
    account = ("--account", desk_of_my_own.account_id)
    async with talking_server(proxy.talk) as url:
        named = url.replace("http://", f"http://me:{PASSWORD}@")

        async def run(*words: str, **environment: str) -> str:
            ran = await asyncio.to_thread(
                home.run,
                *words,
                *home.unlocked,
                stdin=f"{desk_of_my_own.token}\n",
                **trusted,
                **environment,
            )
            assert PASSWORD not in ran.stdout + ran.stderr
            return ran.stdout + ran.stderr

        refused = await run("login", "far", *urls, *account, HTTPS_PROXY=url)
        assert f"the proxy {url} refused with 407 Proxy Authentication Required" in refused
        assert "check the user and password of its URL; nothing was stored" in refused
        assert "Signed in" in await run("login", "far", *urls, *account, HTTPS_PROXY=named)
        assert f"through {url} (HTTPS_PROXY)" in await run("doctor", HTTPS_PROXY=named)
        with (home.folder / "config.toml").open("a") as settings:
            settings.write(f'proxy = "{named}"\n')
        await run("login", "far")  # keeps it
        assert f"through {url} (proxy)" in await run("doctor")
    assert len(proxy.tunnels) > 3
