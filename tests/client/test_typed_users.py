"""What typed_users promises to type checkers is so when it runs; .ci/run has both checkers read the folder, strictly."""

import asyncio
import sys
from pathlib import Path

import pytest

from support.broker import PracticeServer

FOLDER = Path(__file__).parent / "typed_users"
RIGHT_USES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "wrong_uses")


@pytest.mark.parametrize("name", RIGHT_USES)
async def test_a_typed_script_does_what_its_types_say(
    name: str, desk_of_my_own: PracticeServer
) -> None:
    desk = desk_of_my_own
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(FOLDER / f"{name}.py")),
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    place = f"{desk.rest_url}\n{desk.stream_url}\n{desk.token}\n{desk.account_id}\n"
    _, complained = await process.communicate(place.encode())
    assert complained.decode() == ""
    assert process.returncode == 0
