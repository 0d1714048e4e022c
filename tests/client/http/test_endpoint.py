import pytest

from keydesk_client import Client
from keydesk_client.errors import InvalidSettings
from keydesk_client.http.endpoint import address_of
from keydesk_client.http.transport import checked_url


@pytest.mark.parametrize(
    ("url", "base", "socket_path"),
    [
        ("https://api.example.test/", "https://api.example.test", None),
        ("https://api.example.test:8443/base/", "https://api.example.test:8443/base", None),
        ("http://localhost:8020", "http://localhost:8020", None),
        ("http://127.0.0.53:8020", "http://127.0.0.53:8020", None),
        ("http://[::1]:8020", "http://[::1]:8020", None),
        ("http+unix:///run/user/0/practice.sock", "http://localhost", "/run/user/0/practice.sock"),
    ],
)
def test_a_token_may_travel_encrypted_or_within_this_machine(
    url: str, base: str, socket_path: str | None
) -> None:
    address = address_of(url)
    assert (address.base, address.socket_path) == (base, socket_path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.test",
        "http://api.example.test",
        "http://localhost.example.test",
        "http://127.0.0.1.example.test",
        "http://10.0.0.1",
        "ftp://localhost",
        "https://",
        "https://a b.test",
        "https://user:password@api.example.test",
        "https://api.example.test/?token=x",
        "https://api.example.test:port",
        "http+unix://host/path",
        "http+unix:relative",
    ],
)
def test_a_token_may_not_travel_in_the_open(url: str) -> None:
    with pytest.raises(InvalidSettings, match=r"^stream_url: ") as refused:
        address_of(url, "stream_url")
    assert "password" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "api.example.test", "api.example.test:443", "http://10.0.0.1"])
def test_an_address_without_https_is_told_how_to_begin(url: str) -> None:
    with pytest.raises(InvalidSettings, match="https://"):
        address_of(url)


def test_a_client_names_the_address_that_is_wrong() -> None:
    good, bad = "https://api.example.test", "example.com"
    for name, urls in (("rest_url", (bad, good)), ("stream_url", (good, bad))):
        with pytest.raises(
            InvalidSettings, match=f"^{name}: not the address of a host: use https://"
        ):
            Client(token="t" * 8, rest_url=urls[0], stream_url=urls[1])


@pytest.mark.parametrize(
    ("url", "ascii_url"),
    [
        ("https://API.example.test", "https://api.example.test"),
        ("https://h.test:8443/base", "https://h.test:8443/base"),
        ("http://[::1]:8020", "http://[::1]:8020"),
        ("https://bücher.test/ü", "https://xn--bcher-kva.test/%C3%BC"),
        ("http+unix:///run/s", "http://localhost"),
    ],
)
def test_where_an_address_leads_is_written_in_ascii(url: str, ascii_url: str) -> None:
    assert checked_url(address_of(url)) == ascii_url


@pytest.mark.parametrize("url", ["https://a..é.test", "https://h.test/\x07"])
def test_what_cannot_be_a_host_is_refused(url: str) -> None:
    with pytest.raises(InvalidSettings, match="is not a valid URL"):
        checked_url(address_of(url))
