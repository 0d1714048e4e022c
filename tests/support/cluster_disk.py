"""A PostgreSQL server whose tables or whose log lie on a small disk, which a test fills up. Only root may mount one."""

import os
import shutil
import subprocess
from types import TracebackType
from typing import Self

from support.cluster import Cluster
from support.cluster_bots import Bots
from support.cluster_faults import compare, trade_a_while
from support.cluster_report import Report
from support.postgres import PostgresServer

MEBIBYTES = 36  # two segments of the log, and some more
REFUSALS = 10  # that show that the disk is full


def may_mount() -> bool:
    """Return whether this process may mount a disk in memory."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


class SmallDisk:
    """A small disk with the tables of a database, or with the server's log."""

    def __init__(self, server: PostgresServer, address: str, of: str) -> None:
        self._server = server
        self._address = address
        self._of = of
        self._folder = server.folder / "small"
        self._ballast = self._folder / "ballast"

    def __enter__(self) -> Self:
        self._folder.mkdir()
        size = f"size={MEBIBYTES}M"
        _run("mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self._folder))
        self._server.own(self._folder)
        if self._of == "tables":
            self._server.move_tables(self._address, self._folder)
        else:
            self._server.move_log(self._folder / "pg_wal")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.halt()
        _run("umount", str(self._folder))

    def fill(self) -> None:
        """Leave no space."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(8_192))
            except OSError:
                return

    def free(self) -> None:
        """Give the space back; a server that has stopped for want of it is started."""
        self._ballast.unlink()
        if not self._server.is_running:
            self._server.start()


async def disk_fills_up(cluster: Cluster, disk: SmallDisk, bots: int) -> tuple[Report, list[str]]:
    """Let bots trade while the disk is full and after, and return what they were told meanwhile."""
    report = Report()
    await cluster.balanced()
    trading = Bots(cluster, bots, 0.05)
    await trade_a_while(trading, 10 * bots)
    disk.fill()
    while len(trading.refusals) < REFUSALS:
        await trade_a_while(trading, 1)
    disk.free()
    words = [one for _, _, one in trading.refusals]
    acknowledged = _acknowledged(trading)
    while _acknowledged(trading) < acknowledged + 10 * bots:
        await trade_a_while(trading, 1)
    await trading.stop()
    compare(cluster, trading, report)
    return report, words


def _acknowledged(trading: Bots) -> int:
    return sum(one.outcome == "acknowledged" for one in trading.orders)


def _run(*words: str) -> None:
    subprocess.run(words, check=True)
