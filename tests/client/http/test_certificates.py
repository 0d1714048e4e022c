"""Hosts are trusted by the usual authorities, or by those that the two usual variables name; each refusal says why."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.errors import InvalidSettings, Unreachable
from keydesk_client.http.messages import HttpResponse, Request
from keydesk_client.http.session import Session
from support.data.hostile_answers import GOOD_BODY, answer, whole_request
from support.fakes.encrypted_server import Authority, encrypted_server

VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
REMEDY = "set SSL_CERT_FILE to a PEM file"


@pytest.fixture(autouse=True)
def no_named_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def ask_once(certificate: Path, heads: list[bytes]) -> HttpResponse:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        encryption = writer.get_extra_info("ssl_object")
        assert encryption.selected_alpn_protocol() == "http/1.1"
        heads.append(await whole_request(reader))
        writer.write(answer(GOOD_BODY))

    async with encrypted_server(talk, certificate) as url:
        session = Session(Secret("t"), url, url)
        try:
            return await session.request(Request("POST", "/v3", body=b"{}"))
        finally:
            await session.close()


async def distrust_of(certificate: Path) -> str:
    heads: list[bytes] = []
    with pytest.raises(Unreachable) as raised:
        await ask_once(certificate, heads)
    assert heads == []
    assert not raised.value.sent
    assert raised.value.__context__ is None
    return str(raised.value)


async def test_an_authority_in_the_named_file_is_trusted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert (await ask_once(authority.certificate("localhost"), [])).body == GOOD_BODY


async def test_an_authority_in_the_named_folder_is_trusted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("SSL_CERT_DIR", f"/no/such/folder:{authority.folder}")
    assert (await ask_once(authority.certificate("localhost"), [])).body == GOOD_BODY


async def test_no_other_variable_is_heeded(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(authority.file))
    assert REMEDY in await distrust_of(authority.certificate("localhost"))


async def test_an_unknown_authority_is_told_with_the_remedy(authority: Authority) -> None:
    told = await distrust_of(authority.certificate("localhost"))
    assert told.startswith("cannot connect: the certificate is not trusted: ")
    assert REMEDY in told


async def test_the_certificate_of_another_host_is_told(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    told = await distrust_of(authority.certificate("elsewhere.test"))
    assert "not valid for 'localhost'" in told
    assert REMEDY not in told


async def test_a_certificate_that_has_expired_is_told(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    told = await distrust_of(authority.certificate("localhost", ended=timedelta(hours=1)))
    assert "certificate has expired" in told
    assert REMEDY not in told


@pytest.mark.parametrize("content", [None, "no certificate"])
@pytest.mark.parametrize("name", VARIABLES)
def test_named_certificates_that_cannot_be_read_are_refused_with_the_remedy(
    name: str, content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "certificates"
    if content is not None:
        place.write_text(content)
    monkeypatch.setenv(name, str(place))
    with pytest.raises(InvalidSettings, match=f"{name}: .*{place.name}.*or unset") as raised:
        Session(Secret("t"), "https://r.test", "https://s.test")
    assert raised.value.__context__ is None


def test_without_encryption_no_certificates_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    Session(Secret("t"), "http://127.0.0.1:1", "http+unix:///tmp/no-such-socket")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "(none is in it)"),
        ("no certificate", "(none is in it)"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "(one in it is damaged)",
        ),
    ],
)
def test_a_file_without_a_usable_certificate_is_told_in_words(
    content: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "certificates.pem"
    place.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(place))
    with pytest.raises(InvalidSettings) as raised:
        Session(Secret("t"), "https://r.test", "https://s.test")
    assert reason in str(raised.value)
    assert "_ssl.c" not in str(raised.value)


async def test_an_authority_that_is_not_in_the_named_folder_is_told_with_the_variable(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(empty))
    told = await distrust_of(authority.certificate("localhost"))
    assert f"only authorities of SSL_CERT_DIR={empty} are" in told
    assert REMEDY not in told
