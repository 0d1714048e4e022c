"""Do the eight tasks with one client: python -m bench.tasks NAME URL TOKEN ACCOUNT, from the folder `tests`.

It prints what each task returned (a count of a list), its CPU milliseconds, and the peak memory in MB.
"""

import json
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from inspect import iscoroutine
from pathlib import Path
from typing import Any

from bench.tasks import TASKS


def main(name: str, url: str, token: str, account: str) -> None:
    """Do every task once."""
    tasks: Any = import_module(f"bench.tasks.{name}_tasks")
    client = tasks.connect(url, token, account)
    runner: Any = getattr(client, "runner", None)
    target = client if runner is None else client.client
    results: dict[str, object] = {}
    costs: dict[str, float] = {}
    newest = "0"
    for task in TASKS:
        arguments = {"bracket": ("0.5", "5.0"), "no_transaction_lost": (newest,)}.get(task, ())
        began = time.process_time()
        done = getattr(tasks, task)(target, *arguments)
        if iscoroutine(done):
            done = runner.run(done)
        costs[task] = (time.process_time() - began) * 1e3
        if task == "bracket":
            newest = str(max(0, int(done) - 2))
        results[task] = len(done) if isinstance(done, list | tuple) else str(done)
    # Not ru_maxrss: that of a child begins with what its parent had when it forked.
    status = Path("/proc/self/status").read_text()
    memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    sys.stdout.write(json.dumps({"results": results, "ms": costs, "MB": memory}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if (
        find_spec(
            sys.argv[1].replace("keydesk", "keydesk_client").replace("oandapyv20", "oandapyV20")
        )
        is None
    ):
        sys.exit(77)
    main(*sys.argv[1:])
