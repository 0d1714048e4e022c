"""Requests and streams go through the proxy of the environment, or the one that is named; each failure names the proxy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from keydesk_client import Client, Retries, Timeouts
from keydesk_client.errors import InvalidSettings, KeydeskClientError, Unreachable
from keydesk_client.http.endpoint import address_of, proxy_to
from keydesk_client.models import ClientPrice, MarketOrderRequest
from support.broker import PracticeServer
from support.data.hostile_answers import silence
from support.fakes.encrypted_server import Authority, encrypted_server
from support.fakes.talking_server import talking_server
from support.proxies.connect_proxy import ConnectProxy, relay_to

PASSWORD = "pl@nted:word"
VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")
FAR = address_of("https://api.example.test:8443")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def encrypted_practice(
    practice: PracticeServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[str]:
    """The practice broker behind TLS."""
    authority = Authority(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    async with encrypted_server(
        relay_to(practice.rest_url), authority.certificate("localhost")
    ) as url:
        yield url


@asynccontextmanager
async def client_at(
    url: str,
    practice: PracticeServer,
    *,
    proxy: str | None = None,
    timeouts: Timeouts | None = None,
) -> AsyncIterator[Client]:
    async with Client(
        token=practice.token,
        rest_url=url,
        stream_url=url,
        account_id=practice.account_id,
        retries=Retries(max_retries=0),
        timeouts=timeouts or Timeouts(),
        proxy=proxy,
    ) as client:
        yield client


def with_login(url: str, user: str, password: str) -> str:
    return url.replace("http://", f"http://{user}:{password}@")


async def check_that_all_goes_through(client: Client, proxy: ConnectProxy, url: str) -> None:
    """Send a read, an order and a stream, and count their tunnels."""
    await client.accounts.summary()
    await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1))
    async with client.pricing.stream(["EUR_USD"]) as prices:
        assert isinstance(await anext(prices), ClientPrice)
    host = urlsplit(url).netloc
    assert proxy.tunnels == [host, host]  # one for the requests, one for the stream
    assert "Bearer" not in "".join(proxy.heads)


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_requests_and_streams_go_through_the_proxy_of_the_environment(
    desk_of_my_own: PracticeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    proxy = ConnectProxy("desk", PASSWORD)
    async with (
        encrypted_practice(desk_of_my_own, tmp_path, monkeypatch) as url,
        talking_server(proxy.talk) as proxy_url,
    ):
        monkeypatch.setenv(variable, with_login(proxy_url, "desk", "pl%40nted%3Aword"))
        async with client_at(url, desk_of_my_own) as client:
            await check_that_all_goes_through(client, proxy, url)


async def test_the_proxy_that_is_named_comes_before_that_of_the_environment(
    desk_of_my_own: PracticeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = ConnectProxy()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "*")
    async with (
        encrypted_practice(desk_of_my_own, tmp_path, monkeypatch) as url,
        talking_server(proxy.talk) as proxy_url,
        client_at(url, desk_of_my_own, proxy=proxy_url) as client,
    ):
        await check_that_all_goes_through(client, proxy, url)


@pytest.mark.parametrize("exempt", ["localhost", "*", "example.test, localhost"])
async def test_a_host_of_no_proxy_is_reached_directly(
    desk_of_my_own: PracticeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exempt: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", exempt)
    async with (
        encrypted_practice(desk_of_my_own, tmp_path, monkeypatch) as url,
        client_at(url, desk_of_my_own) as client,
    ):
        await client.accounts.summary()


async def test_an_empty_name_stands_for_no_proxy(
    desk_of_my_own: PracticeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    async with (
        encrypted_practice(desk_of_my_own, tmp_path, monkeypatch) as url,
        client_at(url, desk_of_my_own, proxy="") as client,
    ):
        await client.accounts.summary()


async def failure_of_an_order(practice: PracticeServer, proxy: str) -> KeydeskClientError:
    url = "https://api.example.test"
    hasty = Timeouts(connect=0.5, read=0.5)
    async with client_at(url, practice, proxy=proxy, timeouts=hasty) as client:
        with pytest.raises(KeydeskClientError) as raised:
            await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1))
    assert PASSWORD not in str(raised.value)
    assert raised.value.__context__ is None
    return raised.value


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        (
            ConnectProxy("desk", PASSWORD),
            "refused with 407 Proxy Authentication Required: the proxy wants a sign-in: check the user",
        ),
        (
            ConnectProxy(says=b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
            "refused with 403 Forbidden",
        ),
        (ConnectProxy(says=b"SSH-2.0\r\n\r\n"), "illegal status line"),
        (ConnectProxy(says=b"HTTP/1.1 200 OK\r\n\r\nno TLS at all"), "did not connect in time"),
    ],
)
async def test_a_proxy_that_opens_no_tunnel_is_named_and_nothing_was_sent(
    desk_of_my_own: PracticeServer, proxy: ConnectProxy, reason: str
) -> None:
    async with talking_server(proxy.talk) as url:
        error = await failure_of_an_order(desk_of_my_own, with_login(url, "desk", "wrong"))
    assert isinstance(error, Unreachable)
    assert not error.sent
    assert url in str(error)
    assert reason in str(error)


@pytest.mark.e2e
async def test_a_proxy_that_says_nothing_is_named_and_nothing_was_sent(
    desk_of_my_own: PracticeServer,
) -> None:
    async with talking_server(silence) as url:
        error = await failure_of_an_order(desk_of_my_own, url)
    assert isinstance(error, Unreachable)
    assert str(error) == f"cannot connect: the proxy {url} did not connect in time"


async def test_a_proxy_that_is_not_there_is_named(desk_of_my_own: PracticeServer) -> None:
    error = await failure_of_an_order(desk_of_my_own, "http://127.0.0.1:1")
    assert isinstance(error, Unreachable)
    assert str(error) == (
        "cannot connect: through the proxy http://127.0.0.1:1: Connection refused"
    )


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8020", "http://localhost:8020", "http+unix:///run/s"]
)
def test_this_machine_is_reached_directly(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES[:4]:
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert proxy_to(address_of(address)) is None
    assert proxy_to(address_of(address), "http://127.0.0.1:1") is None


@pytest.mark.parametrize(
    ("named", "url", "login"),
    [
        ("http://proxy.test:3128", "http://proxy.test:3128", None),
        ("proxy.test:3128", "http://proxy.test:3128", None),
        ("https://u:p%40ss@proxy.test", "https://proxy.test", (b"u", b"p@ss")),
        ("http://u@proxy.test:1", "http://proxy.test:1", (b"u", b"")),
    ],
)
def test_a_proxy_is_named_by_its_url(
    named: str, url: str, login: tuple[bytes, bytes] | None
) -> None:
    proxy = proxy_to(FAR, named)
    assert proxy is not None
    assert (proxy.url, proxy.login) == (url, login)
    assert "p@ss" not in repr(proxy)


@pytest.mark.parametrize("named", ["ftp://p.test", "http://", "http://u:hidden@h:port", "://x"])
def test_what_is_no_proxy_is_refused_without_its_password(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidSettings, match=r"^proxy: ") as raised:
        proxy_to(FAR, named)
    assert "hidden" not in str(raised.value)
    monkeypatch.setenv("HTTPS_PROXY", named)
    with pytest.raises(InvalidSettings, match=r"^HTTPS_PROXY: "):
        proxy_to(FAR)


def test_a_socks_proxy_names_the_package_that_it_needs() -> None:
    with pytest.raises(InvalidSettings, match=r"pip install 'httpx\[socks\]'"):
        proxy_to(FAR, "socks5://127.0.0.1:1080")
