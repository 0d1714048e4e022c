"""A process that reads everything it can, one large answer after the other, until it is told to stop.

reader = GreedyReader(server.rest_url, server.token, paths)
... others are measured ...
answers, megabytes = reader.stop()
"""

import itertools
import json
import subprocess
import sys

from support.latency_probe import ask, connect


class GreedyReader:
    """The running process."""

    def __init__(self, url: str, token: str, paths: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.greedy_reader", url, token, json.dumps(paths)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def stop(self) -> tuple[int, float]:
        """Return how many answers it read, and their size in megabytes."""
        said, _ = self._process.communicate("stop\n")
        answers, size = said.split()
        return int(answers), float(size)


def _read(url: str, token: str, paths: list[str]) -> None:
    import select  # noqa: PLC0415 - of this process only

    connection, answers, size = connect(url), 0, 0.0
    print("ready", flush=True)  # noqa: T201 - to the test
    for path in itertools.cycle(paths):
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        size += len(ask(connection, token, path)) / 1e6
        answers += 1
    print(answers, size, flush=True)  # noqa: T201 - to the test


if __name__ == "__main__":
    _read(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
