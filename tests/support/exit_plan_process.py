"""A desk without a screen in a process of its own, which carries out exit plans until it is killed.

`python exit_plan_process.py` with its settings as a line of JSON; it prints a line when the account is open.
"""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from support.exit_plan_desk import plan_desk


async def main(said: dict[str, str]) -> None:
    server = SimpleNamespace(**said)
    async with plan_desk(server, Path(said["folder"]), rest_url=said["relay_url"]):  # type: ignore[arg-type]
        sys.stdout.write("open\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.stdin.readline())))
