"""Words for a file that cannot be read or written: the cause, the file, and the remedy where there is one."""

import errno
from pathlib import Path

from keydesk.text.sanitize import SafeText, clean

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
DENIED = frozenset((errno.EACCES, errno.EPERM))


def file_trouble(error: Exception, path: Path) -> SafeText:
    """Return the cause and the remedy: an error of the system, or one whose words have both already."""
    if not isinstance(error, OSError) or error.errno is None:
        return clean(str(error))
    named = error.filename or path
    text = f"{error.strerror or error}: {named}"
    if error.errno in FULL:
        return clean(f"{text}; make room there")
    if error.errno == errno.EROFS:
        return clean(f"{text}; choose another folder with --data")
    if error.errno in DENIED:
        return clean(f"{text}; make it writable, or choose another folder with --data")
    if error.errno == errno.ENOENT and not path.parent.exists():
        return clean(f"{text}; its folder is missing")
    return clean(text)
