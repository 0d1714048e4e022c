"""Workers killed under load, many times; the counts are set by the environment.

KEYDESK_WORKER_KILLS=30 pytest -m soak -n0 -p no:randomly -s tests/chaos/test_worker_kills.py
"""

import os
from pathlib import Path

import pytest

from keydesk_practice.ledger.ledger_file import check_ledger_file
from keydesk_practice.ledger.placement import ledger_folders
from support.broker import practice_server
from support.worker_kills import KilledWorkers

KILLS = int(os.environ.get("KEYDESK_WORKER_KILLS", "30"))
TOKENS = 10


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_workers_killed_under_load_lose_and_double_nothing(practice_folder: Path) -> None:
    words = [word for number in range(TOKENS) for word in ("--token", f"soak-token-{number:03}")]
    limits = ("--workers", "3", "--port", "0", "--rate-limit", "1000000")
    async with practice_server(practice_folder, *limits, *words) as practice:
        report = await KilledWorkers(practice).run(KILLS)
        print(report.text())  # noqa: T201 - the figures of the run
        assert report.problems == []
        assert report.acknowledged > KILLS
        assert await practice.stop() == 0
        for folder in ledger_folders(practice.data):
            assert check_ledger_file(folder).problems == ()
