"""The broker's own token: random, kept 0600 in the data folder so that it outlives a restart."""

import os
import secrets
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable

FILE_NAME = "token"
RANDOM_BYTES = 32


def own_token(folder: Path) -> str:
    """Return the token of the data folder, made on first use."""
    path = folder / FILE_NAME
    try:
        kept = path.read_text("ascii").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept
    token = secrets.token_hex(RANDOM_BYTES)
    try:
        _write(path, token)
    except OSError as error:
        raise LedgerUnavailable(f"cannot write {path}: {error.strerror}") from error
    return token


def _write(path: Path, token: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
