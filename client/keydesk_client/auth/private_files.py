"""Files that only their owner may read: created, checked, locked and replaced atomically."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

from keydesk_client.errors import UnsafeFile

RETRY_LOCK_S = 0.002
LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW

OTHERS = stat.S_IRWXG | stat.S_IRWXO

Warn: TypeAlias = Callable[[str], None]
"""Takes a sentence about a file that others can access, for a caller that goes on with it."""


def make_folders(folder: Path) -> None:
    """Create a folder with mode 0700 unless it exists, and those above it likewise.

    `Path.mkdir` would give those above it the mode that the process's umask leaves: with 000 everybody could rename what
    is below.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


def private_folder(folder: Path) -> None:
    """Create a folder with mode 0700 unless it exists; raise UnsafeFile when others can access it."""
    make_folders(folder)
    refuse_unsafe(folder, folder.stat())


def owned_folder(folder: Path) -> bool:
    """Create a folder with mode 0700 unless it exists; return whether nobody else can write to it.

    Raises:
        UnsafeFile: it belongs to another user, or everybody can write to it.
    """
    make_folders(folder)
    status = folder.stat()
    _refuse_foreign(folder, status)
    if status.st_mode & stat.S_IWOTH:
        mode = stat.S_IMODE(status.st_mode)
        raise UnsafeFile(f"{folder} can be written to by everybody (mode {mode:04o}): chmod o-w it")
    return not status.st_mode & stat.S_IWGRP


def refuse_link(path: Path) -> None:
    """Raise UnsafeFile if a file is a symbolic link."""
    if path.is_symlink():
        raise UnsafeFile(f"{path} is a symbolic link: put the file itself there")


def refuse_unsafe(path: Path, status: os.stat_result, warn: Warn | None = None) -> None:
    """Raise UnsafeFile when a file or folder belongs to another user, or others have access to it.

    With `warn`, it is called instead of raising where others can read it, or a group can write to it.
    """
    _refuse_foreign(path, status)
    if status.st_mode & OTHERS:
        expected_mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        mode = stat.S_IMODE(status.st_mode)
        text = f"{path} is accessible to others (mode {mode:04o}): chmod {expected_mode} it"
        if warn is None or status.st_mode & stat.S_IWOTH:
            raise UnsafeFile(text)
        warn(text)


def _refuse_foreign(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise UnsafeFile(f"{path} belongs to another user (id {status.st_uid}): chown it")


def read_private(path: Path, max_bytes: int, warn: Warn | None = None) -> bytes:
    """Return the content of a private file of at most `max_bytes` bytes; `warn` as in `refuse_unsafe`.

    Raises:
        UnsafeFile: it is a link, not a regular file, too large, or not private.
    """
    refuse_link(path)
    refuse_unsafe(path.parent, path.parent.stat(), warn)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        refuse_unsafe(path, status, warn)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise UnsafeFile(f"{path} is not a regular file of at most {max_bytes} bytes")
        return file.read(max_bytes)


@contextlib.contextmanager
def locked(path: Path, *, patience_s: float | None = None) -> Generator[None]:
    """Hold the lock file of `path`; raise TimeoutError when another process holds it for longer than `patience_s`."""
    descriptor = os.open(f"{path}.lock", LOCK_FLAGS, 0o600)
    try:
        if patience_s is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            _lock_within(descriptor, path, patience_s)
        yield
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """Create and lock `path` itself; return its descriptor, or None while another process holds it."""
    descriptor = os.open(path, LOCK_FLAGS, 0o600)
    if _lock_now(descriptor) and _is_still_there(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def release_lock(path: Path, descriptor: int) -> None:
    """Remove and unlock a file that `try_lock` locked; another process that waits for it creates a new one."""
    with contextlib.suppress(OSError):
        path.unlink()
    os.close(descriptor)


def _is_still_there(path: Path, descriptor: int) -> bool:
    """Return whether `path` is still the open file, which its previous holder may have removed meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock_within(descriptor: int, path: Path, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while not _lock_now(descriptor):
        if time.monotonic() > until:
            raise TimeoutError(
                f"another process holds the lock of {path} for more than {patience_s:g} s"
            )
        time.sleep(RETRY_LOCK_S)


def _lock_now(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def replace_file(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Replace the content of a file atomically: a reader, or a crash, sees the old or the new one.

    The target of a link is replaced, not the link. A pipe or a device is written to, and keeps its mode.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            _write_into(path, content)
            return
    path = Path(os.path.realpath(path))
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)  # left by a killed process with this id
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)  # after an error, such as a full disk
    sync_folder(path.parent)


def _write_into(path: Path, content: bytes) -> None:
    """Write to a pipe or a device; a pipe blocks until it is read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
