"""Count the processor instructions that one market order takes in the practice broker, under valgrind's callgrind.

    python tests/bench/count_instructions.py [TREE ...]

The count is that of user code, without the kernel's; it does not depend on what else the machine does, and two runs differ by
less than 0.2 %. Another tree, such as one of an earlier commit, is given by its folder.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

WARM_UP: Final = 60
ORDERS: Final = 200
HERE: Final = Path(__file__).parents[2]
_CODE: Final = "import sys; from keydesk.__main__ import main; sys.exit(main())"


class UnixConnection(http.client.HTTPConnection):
    """A connection to a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def instructions(tree: Path, folder: Path) -> float:
    """Return the instructions of one order."""
    packages = os.pathsep.join(str(tree / name) for name in ("practice", "client", "tui"))
    words = ["practice", "serve", "--data", str(folder / "data"), "--uds", str(folder / "s")]
    words += ["--seed", "7", "--rate-limit", "1000000", "--price-rate", "0.01"]
    counting = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--quiet"]
    broker = subprocess.Popen(
        [*counting, sys.executable, "-c", _CODE, *words],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": packages, "PYTHONHASHSEED": "1"},
    )
    assert broker.stdout is not None
    listening = json.loads(broker.stdout.readline())
    connection = UnixConnection(folder / "s")
    send(connection, listening, WARM_UP)
    subprocess.run(
        ["callgrind_control", "--zero", str(broker.pid)], check=True, capture_output=True
    )
    send(connection, listening, ORDERS)
    subprocess.run(
        ["callgrind_control", "--dump", str(broker.pid)], check=True, capture_output=True
    )
    connection.close()
    broker.terminate()
    broker.wait()
    found = re.search(r"^(?:summary|totals): (\d+)", (folder / "out.1").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / ORDERS


def send(
    connection: UnixConnection, listening: dict[str, list[dict[str, str]]], count: int
) -> None:
    """Send market orders that open a trade and close it by turns, as the client does."""
    headers = {"Authorization": f"Bearer {listening['token']}", "Accept-Encoding": "gzip, deflate"}
    for number in range(count):
        order = {
            "type": "MARKET",
            "instrument": "EUR_USD",
            "units": "-100" if number % 2 else "100",
        }
        order |= {"timeInForce": "FOK", "positionFill": "DEFAULT"}
        path = f"/v3/accounts/{listening['accounts'][0]['id']}/orders"
        connection.request("POST", path, json.dumps({"order": order}), headers)
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()


if __name__ == "__main__":
    for one in [Path(word) for word in sys.argv[1:]] or [HERE]:
        with tempfile.TemporaryDirectory(dir="/tmp") as name:
            count = instructions(one.resolve(), Path(name))
        print(f"{one}: {count / 1e6:.3f} million instructions an order")  # noqa: T201 - the figure
