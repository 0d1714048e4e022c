"""The certificates that SSL_CERT_FILE and SSL_CERT_DIR name, and the reason why a host's certificate is not trusted.

The two variables replace the usual authorities, as they do for OpenSSL and curl, so that a company's own
authority can be trusted.
"""

import os
import ssl
from typing import Final

from keydesk_client.errors import InvalidSettings
from keydesk_client.http.errors import causes_of

FILE: Final = "SSL_CERT_FILE"
FOLDER: Final = "SSL_CERT_DIR"
UNKNOWN_ISSUER: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's X509_V_ERR codes of a certificate that no trusted authority has signed."""


def named_certificates() -> ssl.SSLContext | None:
    """Return an SSL context that trusts the named certificates only, or None if none are named.

    Raises InvalidSettings if they cannot be read.
    """
    file, folder = os.environ.get(FILE) or None, os.environ.get(FOLDER) or None
    return None if file is None and folder is None else _context_of(file, folder)


def certificate_error_reason(error: BaseException) -> str:
    """Return why the host's certificate is not trusted, and what to do; "" if something else failed."""
    causes = causes_of(error)
    refusal = next(
        (each for each in causes if isinstance(each, ssl.SSLCertVerificationError)), None
    )
    if refusal is None:
        return ""
    reason = f"the certificate is not trusted: {refusal.verify_message}"
    if refusal.verify_code not in UNKNOWN_ISSUER:
        return reason
    named = [f"{name}={os.environ[name]}" for name in (FILE, FOLDER) if os.environ.get(name)]
    if named:
        return f"{reason}; only authorities of {' and '.join(named)} are: add this one there, or unset the variable"
    return f"{reason}; if its authority is your company's own, set {FILE} to a PEM file with it"


def _context_of(file: str | None, folder: str | None) -> ssl.SSLContext:
    if folder is not None and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise InvalidSettings(
            f"{FOLDER}: {folder!r} is not a folder: name one with certificates, or unset the variable"
        )
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except ssl.SSLError as error:
        is_empty = error.reason == "NO_CERTIFICATE_OR_CRL_FOUND"
        reason = "none is in it" if is_empty else "one in it is damaged"
    except OSError as error:
        reason = error.strerror or str(error)
    raise InvalidSettings(
        f"{FILE}: {file!r} has no certificates that can be read ({reason}):"
        " name a PEM file, or unset the variable"
    )
