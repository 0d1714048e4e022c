"""Where the practice broker of an open desk listens, for a second command on the same market.

The ledger lets one broker in. So a desk notes its broker's socket beside the ledger, and a command at another
prompt joins that broker instead of starting one. The folder is its owner's alone, and so must the socket be.
"""

import contextlib
import fcntl
import json
import os
import socket
from pathlib import Path

from keydesk.app.embedded import PracticeAddress
from keydesk_client.auth.private_files import refuse_unsafe
from keydesk_client.errors import KeydeskClientError

NOTE = "open-broker.json"
TOKEN = "token"  # noqa: S105 - the name of the file in which the broker keeps it
LEDGER = "ledger.sqlite3"
FIRST_READER, READERS = 0x40000002, 510
SCHEME = "http+unix://"


def note(data: Path, address: PracticeAddress) -> None:
    """Say in the ledger's folder where its broker listens."""
    said = {"url": address.rest_url, "accounts": address.account_ids}
    with contextlib.suppress(OSError):  # the desk opens without it as well
        handle = os.open(data / NOTE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(said, file)


def unnote(data: Path) -> None:
    """Take the note away."""
    with contextlib.suppress(OSError):
        (data / NOTE).unlink(missing_ok=True)


def find(data: Path) -> PracticeAddress | None:
    """Return the open broker of this ledger; None when no desk has one open, or a killed desk left its note."""
    try:
        said = json.loads((data / NOTE).read_text(encoding="utf-8"))
        url, accounts = str(said["url"]), tuple(map(str, said["accounts"]))
        token = (data / TOKEN).read_text(encoding="ascii").strip()
        path = Path(url.removeprefix(SCHEME))
        refuse_unsafe(path, path.stat())
        _knock(path)
    except (OSError, ValueError, KeyError, TypeError, KeydeskClientError):
        return None
    return PracticeAddress(url, url, token, accounts) if accounts else None


def is_held(data: Path) -> bool:
    """Say whether a running broker has the ledger: asked of the file's lock, before a broker of our own is started.

    These are the bytes that SQLite locks for readers (sqlite.org/lockingv3.html); the broker holds them alone.
    """
    try:
        with (data / LEDGER).open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, READERS, FIRST_READER)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _knock(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knocking:
        knocking.settimeout(1)
        knocking.connect(str(path))
