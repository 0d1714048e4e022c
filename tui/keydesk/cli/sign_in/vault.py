"""`keydesk vault passphrase`: change the passphrase of the token vault."""

import os
from argparse import Namespace

from keydesk.cli.script_output import Refusal
from keydesk.cli.token_access import (
    SHORTEST_PASSPHRASE,
    TOO_SHORT,
    VAULT,
    given_passphrase,
    has_terminal,
    hidden_answer,
    new_passphrase,
    with_retries,
)
from keydesk.config.folders import find_folders
from keydesk.terminal.output import print_lines
from keydesk_client.auth.token_store import Passphrase


def change_passphrase(options: Namespace) -> int:
    """Change the passphrase of the vault; return the exit code."""
    from keydesk_client.auth.vault import VaultKeyring  # noqa: PLC0415 - loads cryptography

    folders = find_folders(options.data, os.environ)
    path = folders.private("tokens") / VAULT
    if not path.exists():
        raise Refusal(
            "there is no token vault here: the tokens are in the desktop's store, or none is kept yet"
        )
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    new = given_passphrase(options.new_passphrase_fd, options.new_passphrase_file)
    if not has_terminal() and (given is None or new is None):
        raise Refusal(
            "there is no terminal to ask at; give the present passphrase with --passphrase-file PATH "
            "and the new one with --new-passphrase-file PATH"
        )
    vault = VaultKeyring(path, given or _present_passphrase)
    with_retries(lambda: vault.get_password("", ""), given)  # asks for the present one, three times
    vault.change_passphrase(_long(new) if new else _asked_new)
    print_lines(
        "The vault has the new passphrase. Its tokens are the same; open desks stay signed in."
    )
    return 0


def _present_passphrase() -> str:
    return hidden_answer("Present passphrase of the vault: ")


def _asked_new() -> str:
    return new_passphrase("New passphrase: ")


def _long(new: Passphrase) -> Passphrase:
    def passphrase() -> str:
        text = new() or ""
        if len(text) < SHORTEST_PASSPHRASE:
            raise Refusal(f"{TOO_SHORT}; the vault is as it was")
        return text

    return passphrase
