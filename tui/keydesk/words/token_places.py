"""Where tokens are kept, in words."""

from collections.abc import Mapping

from keydesk_client.auth.profiles import TokenPlace

KEPT: Mapping[TokenPlace, str] = {
    "native": "this desktop's token store",
    "vault": "an encrypted file, the token vault, which has a passphrase",
}
