"""A server that speaks TLS on a real socket, under a certificate of an authority of its own."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.fakes.connections import Connections, Talk

PEM = serialization.Encoding.PEM
DAY = timedelta(days=1)
SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """A certificate authority whose certificate is in `file`, and by its hash in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("own authority")
        certificate = (
            self._builder(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(SIGNS_CERTIFICATES, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(PEM))
        self.folder = folder / "authorities"
        self.folder.mkdir()
        canonical = self._name.public_bytes()[2:]  # OpenSSL leaves the head of the sequence out
        digest = sha1(canonical, usedforsecurity=False).digest()
        (self.folder / f"{int.from_bytes(digest[:4], 'little'):08x}.0").write_bytes(
            self.file.read_bytes()
        )

    def certificate(self, host: str, *, ended: timedelta = -DAY) -> Path:
        """Write a key and a certificate for a host to one file; it ended so long ago."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._builder(_name(host), key, ended)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        secret = key.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self.file.with_name("server.pem")
        file.write_bytes(secret + certificate.public_bytes(PEM))
        return file

    def _builder(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, ended: timedelta = -DAY
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder(self._name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - 10 * DAY)
            .not_valid_after(now - ended)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(  # Python 3.13 asks for it
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )


@asynccontextmanager
async def encrypted_server(talk: Talk, certificate: Path) -> AsyncIterator[str]:
    """Hold `talk` with each connection; yield the URL, whose host is localhost."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])

    talks = Connections(talk)
    server = await asyncio.start_server(talks.accept, "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://localhost:{server.sockets[0].getsockname()[1]}"
    finally:
        await talks.end(server)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
