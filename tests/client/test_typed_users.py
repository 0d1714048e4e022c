"""What typed_users promises to type checkers is so when it runs; .ci/run has both checkers read the folder, strictly."""

import asyncio
import sys
from pathlib import Path

import pytest

from keydesk_client import sync
from keydesk_client._sync_bridge import SyncResource
from support.broker import PracticeServer

FOLDER = Path(__file__).parent / "typed_users"
WAITING = {
    name: kind
    for name, kind in vars(sync).items()
    if SyncResource in getattr(kind, "__bases__", ())
}
RIGHT_USES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "wrong_uses")


@pytest.mark.parametrize("name", WAITING)
def test_the_script_without_async_makes_every_call_there_is(name: str) -> None:
    script = (FOLDER / "synchronous.py").read_text()
    calls = [call for call in vars(WAITING[name]) if not call.startswith("_")]
    assert calls
    assert [call for call in calls if f"{name.lower()}.{call}(" not in script] == []


@pytest.mark.e2e
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
