"""Files that only their owner may read: made so, and refused when they are not so any more."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Generator
from pathlib import Path

from keydesk_client.errors import UnsafeFile

LOOK_EVERY_S = 0.002
LOCK_MODE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(folder: Path) -> None:
    """Make the folder 0700 when it is not there; UnsafeFile when others can enter it."""
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    refuse_unsafe(folder, folder.stat())


def refuse_unsafe(path: Path, status: os.stat_result) -> None:
    """UnsafeFile when the file or folder belongs to somebody else, or others have rights to it."""
    if status.st_uid != os.geteuid():
        raise UnsafeFile(f"{path} belongs to another user")
    if status.st_mode & OTHERS:
        wanted = "700" if stat.S_ISDIR(status.st_mode) else "600"
        mode = stat.S_IMODE(status.st_mode)
        raise UnsafeFile(f"{path} can be used by others (mode {mode:04o}): chmod {wanted} it")


def read_private(path: Path, most: int) -> bytes:
    """What a private file holds; UnsafeFile when it is a link, no plain file, too large, or not private."""
    if path.is_symlink():
        raise UnsafeFile(f"{path} is a link: put the file itself there")
    refuse_unsafe(path.parent, path.parent.stat())
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        refuse_unsafe(path, status)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise UnsafeFile(f"{path} is no file of up to {most} bytes")
        return file.read(most)


@contextlib.contextmanager
def locked(path: Path, *, patience_s: float | None = None) -> Generator[None]:
    """Hold the lock beside a file; other processes wait their turn, and TimeoutError ends a wait that is bounded."""
    descriptor = os.open(path.with_name(path.name + ".lock"), LOCK_MODE, 0o600)
    try:
        if patience_s is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            _lock_within(descriptor, path, patience_s)
        yield
    finally:
        os.close(descriptor)


def take_lock(path: Path) -> int | None:
    """Lock the file itself, made when it is not there; its descriptor, or None while another process has it."""
    descriptor = os.open(path, LOCK_MODE, 0o600)
    if _lock_now(descriptor) and _is_still_there(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def release_lock(path: Path, descriptor: int) -> None:
    """Remove a file that `take_lock` locked, and unlock it; whoever waits for it makes another."""
    with contextlib.suppress(OSError):
        path.unlink()
    os.close(descriptor)


def _is_still_there(path: Path, descriptor: int) -> bool:
    """Whether the path is still the file that was opened: the one before may have removed it meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock_within(descriptor: int, path: Path, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while not _lock_now(descriptor):
        if time.monotonic() > until:
            raise TimeoutError(f"another process holds {path} for more than {patience_s:g} s")
        time.sleep(LOOK_EVERY_S)


def _lock_now(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Put new content in place of the old at once: a reader, or a crash, sees the one or the other.

    A link stays a link: its target is written. What is not a regular file (a pipe, a device) is written to.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            _write_into(path, content)
            return
    path = Path(os.path.realpath(path))
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)  # of a process that was killed, with whatever rights it has
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)  # a full disk must not keep half of it
    sync_folder(path.parent)


def _write_into(path: Path, content: bytes) -> None:
    """Write to what stands there; a pipe waits for its reader."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
