"""How to open the desk, as the command line says it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DeskOptions:
    """How to open the desk; None means: as the settings say."""

    profile: str | None = None
    practice: bool = False
    fps: int | None = None
    theme: str | None = None
    read_only: bool = False
    ascii: bool = False
    mouse: bool = False
    data: str | None = None
    price_rate: int | None = None
    passphrase_fd: int | None = None
    passphrase_file: Path | None = None
